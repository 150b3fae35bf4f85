"""When to stop judging: the held-out gain so far, and what more judgements add."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import juryrank
from conftest import partly_judged
from juryrank.data import Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import ParameterError
from juryrank.learning.labelled import AUTO, LabelledQueries
from juryrank.learning.verdict_rule import UNJUDGED_DEVIATION
from juryrank.tasks.judge.advice import DOUBLING_DEVIATION, DOUBLING_MEAN, SMALL, SPLITS, Doubling


def condensed(model: juryrank.methods.Aggregator, one: Dataset) -> float:
    """nDCG@10 of the judged items."""
    return float(juryrank.evaluate(model.predict(one), one, "nDCG@10", unjudged="ignore")["nDCG@10"])


def fitted_to(queries: LabelledQueries, train: list[int]) -> juryrank.methods.Aggregator:
    return juryrank.fit(queries.data.take(np.array(train)), "jury")


def test_the_gain_is_that_of_jury_on_judged_items_of_held_out_queries() -> None:
    queries = LabelledQueries.of(partly_judged(20), AUTO)
    n = len(queries)
    gains, judged = [], []
    for test in range(n):
        one = queries.data.take(np.array([test]))
        model = fitted_to(queries, [q for q in range(n) if q != test])
        gains.append(condensed(model, one) - condensed(juryrank.method("rrf").fit(one), one))
        judged.append(juryrank.evaluate(model.predict(one), one, "Judged@10")["Judged@10"])
    advice = juryrank.judging_advice(partly_judged(20))
    assert advice.verdict is not None
    np.testing.assert_allclose(advice.verdict.judged["learned"], np.mean(judged))
    stats = pytest.importorskip("scipy.stats")
    error = np.hypot(stats.sem(gains), UNJUDGED_DEVIATION * (1 - min(advice.verdict.judged.values())))
    low, high = stats.t.interval(0.95, n - 1, loc=np.mean(gains), scale=error)
    assert advice.gain is not None
    np.testing.assert_allclose([advice.gain.mean, advice.gain.low, advice.gain.high], [np.mean(gains), low, high])
    assert (advice.n_queries, advice.n_judged) == (n, 120)
    assert advice.to_dict()["evidence"] == ("shown" if low > 0 else "expected")
    assert f"after 120 judgements, on {n} held-out queries" in advice.text


def first_ten(model: juryrank.methods.Aggregator, data: Dataset) -> dict[str, dict[str, float]]:
    """The discounts of the first ten items of each query."""
    top = model.predict(data).top(10)
    return {q: {item: 1 / np.log2(2 + n) for n, item in enumerate(items)} for q, items in top.items()}


def test_the_interval_of_what_is_added_follows_from_how_far_fits_to_halves_change_the_first_items() -> None:
    data = partly_judged(21, seed=1)
    whole = first_ten(juryrank.fit(data, "jury"), data)
    changes = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(data))
        for half in (order[: len(order) // 2], order[len(order) // 2 :]):
            part = first_ten(juryrank.fit(data.take(np.sort(half)), "jury"), data)
            apart = [
                abs(whole[q].get(item, 0.0) - part[q].get(item, 0.0)) for q in whole for item in {**whole[q], **part[q]}
            ]
            changes.append(sum(apart) / 2 / sum(sum(ten.values()) for ten in whole.values()))
    advice = juryrank.judging_advice(data, more=126)
    assert advice.n_judged == 126
    half = 1.96 * DOUBLING_DEVIATION * np.mean(changes)
    found = advice.added
    assert found is not None
    np.testing.assert_allclose([found.mean, found.low, found.high], DOUBLING_MEAN + half * np.array([0, -1, 1]))


def test_more_judgements_add_more_but_less_each() -> None:
    data = partly_judged(30)
    added = [found.mean for more in (50, 100, 1000) if (found := juryrank.judging_advice(data, more=more).added)]
    assert added[0] < added[1] < added[2]
    assert added[1] / 100 < added[0] / 50


def test_with_a_shown_gain_and_many_judgements_there_are_enough() -> None:
    advice = juryrank.judging_advice(partly_judged(120, n_judged=15, knowing=2))
    assert advice.enough
    assert advice.evidence == "shown"
    assert advice.text.startswith("Enough: after 1800 judgements")
    assert "50 more judgements can be expected to add" in advice.text
    assert advice.to_dict()["status"] == "enough"


def grades_at_random(n_queries: int, n_judged: int) -> Dataset:
    """Grades that have nothing to do with the lists."""
    data = partly_judged(n_queries, n_judged=n_judged)
    rng = np.random.default_rng(5)
    labels = {q: {f"d{i}": int(rng.random() < 0.3) for i in rng.permutation(15)[:n_judged]} for q in data.queries}
    return juryrank.Dataset(rankings=data.rankings, labels=juryrank.from_dicts({}, labels=labels).labels)


@pytest.mark.parametrize(("n_queries", "n_judged"), [(33, 1), (25, 3), (120, 15)])
@pytest.mark.parametrize("more", [1, 50])
def test_grades_that_mean_nothing_are_never_enough(n_queries: int, n_judged: int, more: int) -> None:
    advice = juryrank.judging_advice(grades_at_random(n_queries, n_judged), more=more)
    assert not advice.enough
    assert advice.evidence != "shown"
    assert advice.status in {"not shown yet", "go on"}


def test_queries_that_nobody_ranks_change_nothing() -> None:
    queries = [f"q{n}" for n in range(20)]
    lists = {
        "a": {key: ["d0", "d1", "d2", "d3"] for key in queries},
        "b": {key: ["d3", "d2", "d1", "d0"] for key in queries},
    }
    labels = {query: {"d0": 1, "d1": 0, "d2": 0, "d3": n % 3} for n, query in enumerate(queries)}
    unranked = {f"unranked {n}": {"d0": 1, "d9": 0} for n in range(500)}
    some, more = (juryrank.judging_advice(from_dicts(lists, labels=each)) for each in (labels, {**labels, **unranked}))
    assert more.text == some.text
    assert more.added is not None
    assert np.isfinite(more.added.high)


def test_with_one_more_judgement_it_is_decided_for_fifty() -> None:
    shown = juryrank.judging_advice(partly_judged(120, n_judged=15, knowing=2))
    some = replace(shown, n_judged=100, doubling=Doubling(DOUBLING_MEAN, 0.009), more=1)
    assert some.added is not None
    assert some.added.high < SMALL
    assert (some.evidence, some.status, some.enough) == ("shown", "go on", False)
    assert "1 more judgement can be expected to add" in some.text
    assert replace(some, n_judged=1000, more=50).enough
    assert not replace(some, n_judged=1000, more=1000).enough


def test_it_says_how_many_queries_would_show_the_gain() -> None:
    """With so many queries of the same kind, all judged, the interval of the same mean would just exclude 0."""
    advice = juryrank.judging_advice(partly_judged(14, seed=2, n_judged=15, knowing=2))
    verdict = advice.verdict
    assert verdict is not None
    assert (advice.status, verdict.choice, verdict.n_condensed) == ("not shown yet", "learned", 0)
    stats = pytest.importorskip("scipy.stats")
    needed = 0
    for apart in verdict.others.values():
        if apart.low <= 0:
            deviation = (apart.high - apart.mean) / stats.t.ppf(0.975, verdict.n_queries - 1) * verdict.n_queries**0.5
            shown = (n for n in range(2, 10**6) if stats.t.ppf(0.975, n - 1) * deviation / n**0.5 < apart.mean)
            needed = max(needed, next(shown))
    assert advice.needed is not None
    assert advice.needed.queries == needed > advice.n_queries
    assert f"takes about {advice.needed.queries} queries" in advice.text
    assert advice.text.endswith(str(advice.added) + ".")


@pytest.mark.parametrize(
    ("labels", "judged", "queries"),
    [
        (None, 0, 0),
        ({}, 0, 0),
        ({"q": {"a": 1}}, 1, 1),
        ({"q": {"a": 0, "b": 0}}, 2, 0),
        ({"q": {"a": 1}, "r": {"a": 1}}, 2, 2),
    ],
)
def test_with_few_labels_the_advice_is_to_go_on(labels: Any, judged: int, queries: int) -> None:
    runs = {"x": {"q": ["a", "b", "c"], "r": ["a", "b"]}, "y": {"q": ["b", "a"], "r": ["b", "a"]}}
    advice = juryrank.judging_advice(runs, labels)
    assert not advice.enough
    assert (advice.n_judged, advice.n_queries, advice.added) == (judged, queries, None)
    assert advice.text.startswith("Go on: ")
    assert "cannot be said before there are 10 queries" in advice.text
    assert advice.to_dict()["enough"] is False
    assert advice.evidence == ("none" if advice.gain is None or advice.gain.mean == 0 else "expected")
    assert "Judging advice" in str(advice)


def test_labels_of_relevant_items_only_are_never_enough() -> None:
    data = partly_judged(120, n_judged=15)
    assert data.labels is not None
    found = {query: relevant for query in data.queries if (relevant := relevant_items(data, query))}
    advice = juryrank.judging_advice(data, labels=found)
    assert (advice.enough, advice.gain, advice.added) == (False, None, None)
    assert advice.to_dict()["labels"] == "positives only"
    assert advice.text.startswith(f"Go on: {sum(map(len, found.values()))} judgements so far")
    assert "What jury gains cannot be said: fewer than 5 % of the labels are 0" in advice.text


def relevant_items(data: Dataset, query: str) -> dict[str, float]:
    """The labels above 0 of the ranked items."""
    one = data[query]
    items = one.rankings.items[one.rankings.slot_item].tolist()
    return {item: label for item, label in zip(items, one.slot_labels.tolist(), strict=True) if label > 0}


def test_the_order_of_experts_is_irrelevant() -> None:
    data = partly_judged(25, seed=4)
    names = list(data.experts)
    frame = {name: {} for name in reversed(names)}  # type: dict[str, dict[str, list[str]]]
    for query in data.queries:
        one = data[query].rankings
        for k, name in enumerate(names):
            at = one.entry_slot[one.entry_ptr[k] : one.entry_ptr[k + 1]]
            frame[name][query] = one.items[one.slot_item[at]].tolist()
    other = juryrank.judging_advice(from_dicts(frame), data.labels)
    assert other.text == juryrank.judging_advice(data).text


@pytest.mark.parametrize("more", [0, -1, 2.5, True, "9"])
def test_more_must_be_a_whole_number(more: Any) -> None:
    with pytest.raises(ParameterError, match="more must be a whole number of at least 1, got"):
        juryrank.judging_advice(partly_judged(3), more=more)
