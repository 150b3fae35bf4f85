"""The letor convention against a slow version written here, the shared oracle and published numbers."""

import importlib.util
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import random_dataset
from juryrank.data import Consensus
from juryrank.data.build import from_dicts
from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate

COLUMNS = [*(f"nDCG@{k}" for k in range(1, 6)), *(f"P@{k}" for k in range(1, 6)), "AP"]


def slow(labels, metric):
    """The definitions, one query at a time, on labels in ranked order (all items judged)."""
    name, _, cutoff = metric.partition("@")
    k = int(cutoff) if cutoff else len(labels)
    if name == "nDCG":
        if len(labels) < k:
            return 0.0
        best = dcg(sorted(labels, reverse=True)[:k])
        return dcg(labels[:k]) / best if best > 0 else 0.0
    if name == "P":
        return sum(label >= 1 for label in labels[:k]) / k
    relevant = [place for place, label in enumerate(labels, 1) if label >= 1]
    return sum(n / place for n, place in enumerate(relevant, 1)) / len(relevant) if relevant else 0.0


def dcg(labels):
    return sum((2**label - 1) / (1 if place == 1 else math.log2(place)) for place, label in enumerate(labels, 1))


@settings(deadline=None)
@given(st.data())
def test_values_are_those_of_the_slow_version(data):
    sizes = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=5))
    draw = [data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=n, max_size=n)) for n in sizes]
    scores = {f"q{q}": {f"i{i}": float(s) for i, (s, _) in enumerate(items)} for q, items in enumerate(draw)}
    labels = {f"q{q}": {f"i{i}": label for i, (_, label) in enumerate(items)} for q, items in enumerate(draw)}
    rankings = from_dicts({"run": scores}).rankings
    consensus = Consensus(rankings, np.array([s for items in draw for s, _ in items], float))
    found = evaluate(consensus, labels, COLUMNS, convention="letor")
    for q, items in enumerate(draw):
        ranked = [
            label for _, label in sorted(items, key=lambda item: -item[0])
        ]  # stable: ties keep the order of slots
        for metric in COLUMNS:
            assert found.per_query[metric][q] == pytest.approx(slow(ranked, metric), abs=1e-12)


def test_ties_keep_the_order_of_the_data():
    data = random_dataset(1)
    flat = Consensus(data.rankings, np.zeros(data.rankings.n_slots))
    with_names = evaluate(flat, data, "RR").per_query["RR"]
    with_slots = evaluate(flat, data, "RR", convention="letor").per_query["RR"]
    first = data.rankings.slot_ptr[:-1]
    assert (with_slots == 1)[data.slot_labels[first] >= 1].all()
    assert not np.array_equal(with_names, with_slots)


def test_a_query_with_fewer_than_k_items_scores_zero():
    run, labels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 0}}
    assert evaluate(run, labels, ["nDCG@2", "nDCG@3"], convention="letor").means() == {"nDCG@2": 1.0, "nDCG@3": 0.0}
    assert evaluate(run, labels, "nDCG@3")["nDCG@3"] == 1.0


@pytest.fixture(scope="module")
def mq2008(shared_data):
    from juryrank.io import read

    return read(shared_data / "MQ2008-agg")


def rrf_scores(documents):
    return {
        q: {i: sum(1 / (60 + r) for r in given.values()) for i, _, given in items} for q, items in documents.items()
    }


def test_every_query_of_mq2008_scores_as_in_the_oracle(shared_data, mq2008):
    path = shared_data.parent / "oracles" / "letor.py"
    if not path.is_file():
        pytest.skip("the slow reference is not present (../shared/oracles/letor.py)")
    spec = importlib.util.spec_from_file_location("letor_oracle", path)
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    for fold in mq2008.folds:
        documents = oracle.parse(shared_data / "MQ2008-agg" / fold.name / "test.txt")
        wanted = dict(zip(documents, oracle.columns(documents, rrf_scores(documents)), strict=True))
        data = mq2008[list(fold.test)]
        # The sums of the oracle, so that rounding does not order ties differently.
        score = rrf_scores(documents)
        names = data.rankings.items[data.rankings.slot_item]
        query = np.repeat(data.queries, np.diff(data.rankings.slot_ptr))
        consensus = Consensus(data.rankings, np.array([score[q][i] for q, i in zip(query, names, strict=True)]))
        found = evaluate(consensus, data, COLUMNS, convention="letor")
        ours = np.array([found.per_query[metric] for metric in COLUMNS]).T
        assert ours == pytest.approx(np.array([wanted[q] for q in found.queries]), abs=1e-9)


def test_rrf_reaches_the_published_row_of_mq2008(mq2008):
    published = [38.77, 40.73, 43.48, 45.70, 47.17, 44.89, 41.32, 38.82, 36.51, 34.13, 47.71]
    found = compare(["rrf"], mq2008, COLUMNS, convention="letor")
    assert found.folds == ("Fold1", "Fold2", "Fold3", "Fold4", "Fold5")
    assert 100 * found.means[0] == pytest.approx(published, abs=0.02)
