"""What is found on the way rests on what it says."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

import juryrank
from conftest import random_dataset
from studies.learners import learner
from studies.papers.evidence import RATES, chosen, chosen_by_fold, upside_down, validation
from studies.papers.experiment import Context
from studies.papers.folds import rotation
from studies.papers.published import LETOR_METRICS, TABLES
from studies.papers.singular_vectors import columns, first_vectors, non_negative, random_signs, ranking
from studies.papers.trials import METRICS, Trial, Trials


def test_a_list_upside_down_has_its_last_item_first():
    r = random_dataset(1).rankings
    turned = upside_down(r)
    for m in range(r.n_lists):
        here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        before = dict(zip(r.entry_slot[here], r.entry_rank[here], strict=True))
        after = dict(zip(turned.entry_slot[here], turned.entry_rank[here], strict=True))
        assert {s: max(before.values()) + 1 - rank for s, rank in before.items()} == after
        assert (np.diff(turned.entry_rank[here]) >= 0).all()


def test_only_signs_change():
    r = random_dataset(2, ties=False).rankings
    plain = first_vectors(r)
    for vectors in (non_negative(plain, r), random_signs(plain, r)):
        assert_allclose(np.abs(vectors), np.abs(plain))
    assert (non_negative(plain, r).sum(axis=1) >= -1e-9).all()
    assert (random_signs(plain, r) != plain).any()


def test_the_linear_ranker_finds_the_order_of_labels_that_one_expert_knows():
    rng = np.random.default_rng(0)
    labels = {f"q{q}": {f"i{i}": float(i) for i in range(6)} for q in range(12)}
    good = {query: [f"i{i}" for i in reversed(range(6))] for query in labels}
    bad = {query: [f"i{i}" for i in rng.permutation(6)] for query in labels}
    data = juryrank.from_dicts({"good": good, "bad": bad}, labels=labels)
    split = rotation(data, 3)[0]
    r = data.rankings
    consensus = ranking(columns(non_negative(first_vectors(r), r), r), data, split)
    assert consensus.queries == tuple(data.queries[q] for q in split.test)
    assert juryrank.evaluate(consensus, data.take(split.test), "KendallTau")["KendallTau"] > 0.8


def test_rates_are_chosen_on_validation_queries_of_their_own_fold(tmp_path):
    (tmp_path / "some").write_text("something")
    data = random_dataset(3, n_queries=30)
    splits = rotation(data, 3)
    trials = Trials(Context(tmp_path, tmp_path / "out"), "some", data, splits)
    rates = [Trial(f"rate {r}", "crf", {"rate": r, "epochs": 3, "seed": 0}) for r in (1e-6, 1e3, 1e5)]
    expected = []
    for split in splits:
        train, halves = data.take(split.train), [data.take(split.valid[h::2]) for h in (0, 1)]
        found = []
        for trial in rates:
            ap = [
                juryrank.evaluate(
                    learner("crf", **trial.params).fit(train, valid=one).predict(other), other, "AP", convention="letor"
                )["AP"]
                for one, other in (halves, halves[::-1])
            ]
            found.append(np.mean(ap))
        expected.append(rates[int(np.argmax(found))])
    assert chosen_by_fold(validation(trials), rates) == expected
    assert all(max(r) / min(r) >= 1000 for r in RATES.values())
    assert 200.0 in RATES["sum"]
    assert 10_000.0 in RATES["mean"]


def test_values_with_rates_by_fold_are_those_of_the_chosen_model_of_each_fold(tmp_path):
    (tmp_path / "some").write_text("something")
    data = random_dataset(3, n_queries=30)
    trials = Trials(Context(tmp_path, tmp_path / "out", quick=True), "some", data, rotation(data, 3))
    found = chosen(trials, "sum")
    assert found is chosen(trials, "sum")
    assert [t.params["rate"] for t in found.rows] == [2.0, 200.0, 20_000.0]
    expected = []
    for split, trial in zip(trials.splits, found.by_fold, strict=True):
        train, valid, test = (data.take(part) for part in (split.train, split.valid, split.test))
        model = learner("crf", **trial.params, epochs=60, seed=0).fit(train, valid=valid)
        expected.append(juryrank.evaluate(model.predict(test), test, "AP", convention="letor").values[0, 0])
    assert_allclose(found.values[METRICS.index("AP")], np.concatenate(expected))
    assert found.result(trials).measured[-1] == 100 * np.mean([fold.mean() for fold in expected])


def test_the_published_borda_row_reads_ranks_upside_down(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    turned = replace(data, rankings=upside_down(data.rankings))
    borda = juryrank.method("borda", missing="mean")
    found = juryrank.compare([borda], turned, list(LETOR_METRICS), convention="letor").means[0]
    theirs = np.array(TABLES["MQ2008-agg"]["borda"].values, float)
    given = ~np.isnan(theirs)
    assert given.sum() == 3
    assert_allclose(100 * found[given], theirs[given], atol=0.006)


def test_rrf_has_its_published_row(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    found = juryrank.compare(["rrf"], data, list(LETOR_METRICS), convention="letor").means[0]
    assert_allclose(100 * found, TABLES["MQ2008-agg"]["rrf"].values, atol=0.02)
