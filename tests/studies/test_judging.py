"""The study of judging plans: the simulated judge, the simple plans, and what is measured."""

import numpy as np
import pytest

import juryrank
from studies import judging
from studies.learning_curves import Collection


def simulated(n_queries: int = 12) -> juryrank.Dataset:
    """One good expert and two bad ones; the labels of most items are known."""
    rng = np.random.default_rng(0)
    runs: dict[str, dict[str, list[str]]] = {"good": {}, "bad": {}, "worse": {}}
    labels = {}
    for query in (f"q{n}" for n in range(n_queries)):
        relevant = rng.random(20) < 0.3
        for name, lists in runs.items():
            order = np.argsort(-(2 * relevant * (name == "good") + rng.normal(size=20)))
            lists[query] = [f"d{i}" for i in order]
        labels[query] = {f"d{i}": int(relevant[i]) for i in range(15)}
    return juryrank.from_dicts(runs, labels=labels)


def test_the_judge_knows_the_labels_and_says_0_of_other_items():
    data = simulated(2)
    judged = judging.Judge(data).judge(np.array([33, 1, 20]))
    found = np.flatnonzero(~np.isnan(judged.slot_labels))
    assert found.tolist() == [1, 20, 33]
    known = data.slot_labels[found]
    assert judged.slot_labels[found].tolist() == np.where(np.isnan(known), 0.0, known).tolist()
    assert np.isnan(data.slot_labels).any()
    assert (judging.Judge(data).grades[np.isnan(data.slot_labels)] == 0.0).all()


def test_simple_plans_take_the_first_items_of_rrf_in_rounds():
    data = simulated(5)
    first = juryrank.method("rrf").fit_predict(data).top(20)
    r = data.rankings
    names = [(r.queries[q], r.items[r.slot_item[s]]) for q in range(5) for s in range(r.slot_ptr[q], r.slot_ptr[q + 1])]
    chosen = [names[slot] for slot in judging.first_of_rrf(judging.Judge(data), 3, 3)]
    queries = list(dict.fromkeys(query for query, _ in chosen))
    expected = [(q, item) for a in range(0, 20, 3) for q in queries for item in first[q][a : a + 3]]
    assert chosen == expected
    assert sorted(judging.random_items(judging.Judge(data), 3)) == list(range(100))


def test_our_plan_is_judged_in_batches_and_no_item_twice():
    judge = judging.Judge(simulated(9))
    slots = judging.judging_plan(judge, 0)
    assert sorted(slots) == list(range(180))


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_a_share_of_the_full_gain_is_reported_and_drawn():
    result = judging.measure(simulated(), Collection("nDCG@10", "trec"), draws=2)
    assert result.plans[judging.OURS].shape == (len(judging.SIZES), 2)
    np.testing.assert_allclose(result.plans[judging.OURS][-1], result.plans[judging.RANDOM][-1])  # all items are judged
    gain = (result.plans[judging.SIMPLE][0] - result.rrf).mean() / (result.full - result.rrf).mean()
    study = judging.JudgingStudy({"robust03": result})
    assert f"{100 * gain:.0f} %" in study.render("markdown")
    pytest.importorskip("matplotlib")
    from studies.pictures import draw

    assert b"judging plan" in draw(study.figure(), "svg")


def test_the_interval_of_a_mean_over_draws_is_that_of_student():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(1).normal(size=10)
    low, high = stats.t.interval(0.95, 9, loc=values.mean(), scale=stats.sem(values))
    assert judging.half_width(values) == pytest.approx((high - low) / 2, rel=1e-3)
