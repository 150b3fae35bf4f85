"""The trec convention against pytrec_eval and ir_measures."""

import gzip
import re

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.errors import DataError
from juryrank.evaluation.evaluate import evaluate

TREC_NAMES = {
    "nDCG": "ndcg",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@10": "ndcg_cut_10",
    "AP": "map",
    "AP@10": "map_cut_10",
    "P@1": "P_1",
    "P@5": "P_5",
    "R@5": "recall_5",
    "R@100": "recall_100",
    "RR": "recip_rank",
    "Success@1": "success_1",
    "Success@5": "success_5",
}
# 1 + 1e-9 and 1 are one number in the single precision of trec_eval, 1 + 1e-6 is another.
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 1.0 + 1e-6, 1e-50, -2.5, 7e40, 2.0]) | st.floats(
    -1e6, 1e6
)
ITEMS = st.sampled_from(["a", "B", "b", "10", "9", "é", "zz", "z", "a-1", "a_1", "\uffff", "\U00010000"])
QUERIES = st.sampled_from(["1", "2", "10", "x"])


def by_query(values):
    return st.dictionaries(QUERIES, st.dictionaries(ITEMS, values, min_size=1), min_size=1)


def labels_from(lowest):
    # pytrec_eval crashes on a query that has only negative labels.
    return by_query(st.integers(lowest, 4)).map(lambda labels: {q: {**judged, "-": 0} for q, judged in labels.items()})


def expected(run, labels, metric, rel=1):
    """Values of the labelled queries; those that the run lacks count 0."""
    name = TREC_NAMES[metric]
    asked = re.sub(r"_(?=\d)", ".", name)
    found = pytrec_eval.RelevanceEvaluator(labels, {asked}, relevance_level=rel).evaluate(run)
    return {query: found.get(query, {}).get(name, 0.0) for query in labels}


@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
@settings(deadline=None, max_examples=150)
@given(run=by_query(SCORES), labels=labels_from(-2), metric=st.sampled_from(sorted(TREC_NAMES)))
def test_values_of_any_run_are_those_of_pytrec_eval(run, labels, metric):
    if not set(run) & set(labels):
        return
    found = evaluate(run, labels, metric)
    wanted = expected(run, labels, metric)
    values = found.per_query[metric]
    assert dict(zip(found.queries, values, strict=True)) == pytest.approx(wanted, abs=1e-9)
    assert found[metric] == pytest.approx(np.mean(list(wanted.values())), abs=1e-9)


@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
@settings(deadline=None)
@given(
    run=by_query(SCORES),
    labels=labels_from(-1),
    name=st.sampled_from(["P@5", "AP", "R@5", "RR", "Success@5"]),
    rel=st.integers(1, 4),
)
def test_the_lowest_relevant_label_means_the_same_as_in_pytrec_eval(run, labels, name, rel):
    if not set(run) & set(labels):
        return
    base, at, cutoff = name.partition("@")
    found = evaluate(run, labels, f"{base}(rel={rel}){at}{cutoff}")
    (values,) = found.per_query.values()
    assert dict(zip(found.queries, values, strict=True)) == pytest.approx(expected(run, labels, name, rel), abs=1e-9)


def random_case(seed, n_queries=20, n_items=30):
    rng = np.random.default_rng(seed)
    run, labels = {}, {}
    for q in range(n_queries):
        run[str(q)] = {f"i{i}": float(s) for i, s in enumerate(rng.integers(0, 12, n_items)) if rng.random() < 0.8}
        labels[str(q)] = {f"i{i}": int(g) for i, g in enumerate(rng.integers(-1, 5, n_items)) if rng.random() < 0.6}
    return run, labels


@pytest.mark.parametrize("text", ["ERR@5", "ERR@20", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@20"])
def test_exponential_gain_and_err_are_those_of_gdeval(text):
    run, labels = random_case(3)
    measure = ir_measures.parse_measure(text)
    try:
        wanted = {v.query_id: v.value for v in ir_measures.iter_calc([measure], labels, run)}
    except (RuntimeError, ValueError) as error:
        pytest.skip(f"ir_measures cannot compute {text} here: {error}")
    found = evaluate(run, labels, text)
    values = dict(zip(found.queries, found.per_query[text], strict=True))
    assert values == pytest.approx(wanted, abs=5.1e-6), "gdeval prints five decimals"


def test_reciprocal_rank_with_a_cutoff_is_that_of_ir_measures():
    run, labels = random_case(4)
    run = {
        q: {i: s + n * 1e-3 for n, (i, s) in enumerate(scores.items())} for q, scores in run.items()
    }  # it breaks ties the other way
    wanted = {v.query_id: v.value for v in ir_measures.iter_calc([ir_measures.RR @ 3], labels, run)}
    found = evaluate(run, labels, "RR@3")
    assert dict(zip(found.queries, found.per_query["RR@3"], strict=True)) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_rank_biased_precision_is_the_sum_of_its_definition(p):
    run, labels = random_case(5)
    found = evaluate(run, labels, [f"RBP(p={p})", f"RBP(p={p},rel=2)@4"])
    for n, query in enumerate(found.queries):
        order = sorted(run[query], key=lambda item: (run[query][item], item), reverse=True)
        wanted = sum((1 - p) * p**place for place, item in enumerate(order) if labels[query].get(item, 0) >= 1)
        short = sum((1 - p) * p**place for place, item in enumerate(order[:4]) if labels[query].get(item, 0) >= 2)
        whole, cut = found.per_query.values()
        assert (whole[n], cut[n]) == pytest.approx((wanted, short), abs=1e-12)


def read_trec(folder):
    """Official runs and labels, in a few lines that share nothing with the readers."""
    labels, runs = {}, {}
    for line in (folder / "qrels.txt").read_text().splitlines():
        query, _, item, label = line.split()
        labels.setdefault(query, {})[item] = int(label)
    for path in sorted((folder / "runs").iterdir()):
        run = runs.setdefault(path.name.removesuffix(".gz"), {})
        with gzip.open(path, "rt") as lines:
            for query, _, item, _, score, *_ in map(str.split, lines):
                run.setdefault(query, {})[item] = float(score)
    return runs, labels


@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
def test_official_runs_score_as_in_pytrec_eval(shared_data):
    runs, labels = read_trec(shared_data / "trec-covid-round1")
    assert len(runs) == 12
    found = evaluate(runs, labels, list(TREC_NAMES))
    assert found.names == tuple(runs)
    for name, run in runs.items():
        for metric in TREC_NAMES:
            values = dict(zip(found.queries, found.per_query[name][metric], strict=True))
            assert values == pytest.approx(expected(run, labels, metric), abs=1e-9), (name, metric)


def test_err_takes_the_highest_label_and_refuses_a_higher_one():
    run = {"q": {"a": 2.0, "b": 1.0}}
    # Stops at 15/16, then at 1/16.
    assert evaluate(run, {"q": {"a": 4, "b": 1}}, "ERR").per_query["ERR"][0] == pytest.approx(
        15 / 16 + 1 / 16 * 1 / 16 / 2
    )
    with pytest.raises(DataError, match=r"labels of ERR must be at most 4, got 5; use ERR\(max_rel=5\)"):
        evaluate(run, {"q": {"a": 5, "b": 1}}, "ERR")
