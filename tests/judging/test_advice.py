"""When to stop judging: the held-out gain so far, and what more judgements add."""

from typing import Any

import numpy as np
import pytest

import juryrank
from juryrank.data import Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import ParameterError
from juryrank.judging.advice import (
    DOUBLING_DEVIATION,
    DOUBLING_MEAN,
    QUERY_VARIANCE,
    SPLITS,
    UNJUDGED_DEVIATION,
    VARIANCE_QUERIES,
    expected_addition,
)
from juryrank.methods.learned.jury import solver_of
from juryrank.training.label_survey import LabelSurvey
from juryrank.training.labelled_queries import AUTO, LabelledQueries


def simulated(n_queries: int, seed: int = 0, n_judged: int = 6) -> Dataset:
    """One expert that knows what is relevant, three that do not; some items of each query are judged."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, list[str]]] = {f"e{k}": {} for k in range(4)}
    labels: dict[str, dict[str, int]] = {}
    for q in range(n_queries):
        relevant = rng.random(15) < 0.3
        for k, lists in enumerate(runs.values()):
            order = np.argsort(-(relevant * (k == 0) + rng.normal(size=15)))
            lists[f"q{q}"] = [f"d{i}" for i in order]
        labels[f"q{q}"] = {f"d{i}": int(relevant[i]) for i in rng.permutation(15)[:n_judged]}
    return from_dicts(runs, labels=labels)


def condensed(model: juryrank.methods.Aggregator, one: Dataset) -> float:
    """nDCG@10 of the judged items."""
    return float(juryrank.evaluate(model.predict(one), one, "nDCG@10", unjudged="ignore")["nDCG@10"])


def fitted_to(queries: LabelledQueries, train: list[int]) -> juryrank.methods.Aggregator:
    return juryrank.fit(queries.data.take(np.array(train)), "jury")


def test_the_gain_is_that_of_jury_on_judged_items_of_held_out_queries() -> None:
    queries = LabelledQueries.of(simulated(20), AUTO)
    n = len(queries)
    gains, judged = [], []
    for test in range(n):
        one = queries.data.take(np.array([test]))
        model = fitted_to(queries, [q for q in range(n) if q != test])
        gains.append(condensed(model, one) - condensed(juryrank.method("rrf").fit(one), one))
        judged.append(juryrank.evaluate(model.predict(one), one, "Judged@10")["Judged@10"])
    advice = juryrank.judging_advice(simulated(20))
    stats = pytest.importorskip("scipy.stats")
    error = np.hypot(stats.sem(gains), UNJUDGED_DEVIATION * (1 - np.mean(judged)))
    low, high = stats.t.interval(0.95, n - 1, loc=np.mean(gains), scale=error)
    assert advice.gain is not None
    np.testing.assert_allclose([advice.gain.mean, advice.gain.low, advice.gain.high], [np.mean(gains), low, high])
    assert (advice.n_queries, advice.n_judged) == (n, 120)
    assert advice.to_dict()["evidence"] == ("shown" if low > 0 else "expected")
    assert f"after 120 judgements, on {n} held-out queries" in advice.text


def test_what_is_added_is_extrapolated_from_fits_to_half_of_the_queries() -> None:
    """Against whole fits of halves, combined with the prior by their precisions."""
    queries = LabelledQueries.of(simulated(21, seed=1), AUTO)
    n = len(queries)

    def value(train: list[int], test: int) -> float:
        return condensed(fitted_to(queries, train), queries.data.take(np.array([test])))

    judged = []
    for test in range(n):
        one = queries.data.take(np.array([test]))
        ranked = fitted_to(queries, [q for q in range(n) if q != test]).predict(one)
        judged.append(juryrank.evaluate(ranked, one, "Judged@10")["Judged@10"])
    lost = np.array([value([q for q in range(n) if q != test], test) for test in range(n)])
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(n)
        halves = order[: n // 2].tolist(), order[n // 2 :].tolist()
        for part, others in (halves, halves[::-1]):
            for test in part:
                lost[test] -= value(others, test) / SPLITS
    variance = (VARIANCE_QUERIES * QUERY_VARIANCE + ((lost - lost.mean()) ** 2).sum()) / (VARIANCE_QUERIES + n) / n
    variance += (UNJUDGED_DEVIATION * (1 - np.mean(judged))) ** 2
    found = expected_addition(queries, solver_of(LabelSurvey.of(queries.data)), 100, 50)
    precision = 1 / variance + DOUBLING_DEVIATION**-2
    mean = (lost.mean() / variance + DOUBLING_MEAN * DOUBLING_DEVIATION**-2) / precision / 3
    half = 1.96 * (precision * 3) ** -0.5
    np.testing.assert_allclose([found.mean, found.low, found.high], [mean, mean - half, mean + half], rtol=1e-6)


def test_more_judgements_add_more_but_less_each() -> None:
    data = simulated(30)
    queries = LabelledQueries.of(data, AUTO)
    solver = solver_of(LabelSurvey.of(data))
    added = [expected_addition(queries, solver, 100, more).mean for more in (50, 100, 1000)]
    assert abs(added[0]) < abs(added[1]) < abs(added[2])
    assert abs(added[1] / 100) < abs(added[0] / 50)


def test_with_many_judgements_there_are_enough() -> None:
    advice = juryrank.judging_advice(simulated(120, n_judged=15))
    assert advice.enough
    assert advice.text.startswith("Enough: after 1800 judgements")
    assert "50 more judgements can be expected to add" in advice.text


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
    data = simulated(120, n_judged=15)
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
    data = simulated(25, seed=4)
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
        juryrank.judging_advice(simulated(3), more=more)
