"""The judging plan: which items to judge next."""

from math import inf
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.random import Generator

import juryrank
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, ParameterError

RUNS = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "c", "a"]}}


def random_runs(
    rng: Generator, n_queries: int = 12, n_experts: int = 4, longest: int = 8
) -> dict[str, dict[str, list[str]]]:
    """Runs of different depth, in which an expert may have no list, and ties between items are frequent."""
    return {
        f"e{k}": {
            f"q{q}": [f"d{i}" for i in rng.permutation(int(rng.integers(1, longest + 1)))]
            for q in range(n_queries)
            if rng.random() < 0.8
        }
        for k in range(n_experts)
    }


def rows(runs: Any, labels: Any = None, budget: int = 100) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in juryrank.judging_plan(runs, labels, budget).to_frame().rows()]


def slow_places(runs: dict[str, dict[str, list[str]]]) -> dict[tuple[str, str], int]:
    """The place of each item in RRF's order of its query, by plain loops."""
    scores: dict[str, dict[str, float]] = {}
    for lists in runs.values():
        for query, items in lists.items():
            for rank, item in enumerate(items, 1):
                by_item = scores.setdefault(query, {})
                by_item[item] = by_item.get(item, 0.0) + 1 / (60 + rank)
    return {
        (query, item): place
        for query, by_item in scores.items()
        for place, item in enumerate(sorted(by_item, key=lambda item: (-round(by_item[item], 12), item)), 1)
    }


def test_without_labels_the_first_three_items_of_rrf_of_every_query_come_first() -> None:
    for seed in range(20):
        runs = random_runs(np.random.default_rng(seed))
        place = slow_places(runs)
        plan = rows(runs, budget=10**6)
        first = sum(p <= 3 for p in place.values())
        assert set(plan[:first]) == {pair for pair, p in place.items() if p <= 3}
        for query in {query for query, _ in plan}:
            assert [place[pair] for pair in plan if pair[0] == query] == sorted(
                p for pair, p in place.items() if pair[0] == query
            )


def test_queries_and_depth_grow_by_turns() -> None:
    runs = {"e": {f"q{q}": [f"d{i}" for i in range(9)] for q in range(120)}}
    place = slow_places(runs)
    plan = rows(runs, budget=10**6)
    for n_queries, depth in ((33, 3), (66, 3), (66, 6), (99, 6), (99, 9)):
        first = plan[: n_queries * depth]
        assert len({query for query, _ in first}) == n_queries
        assert max(place[pair] for pair in first) == depth
        assert [query for query, _ in plan[:3]] == [plan[0][0]] * 3


def test_every_second_query_is_one_whose_first_items_are_ranked_far_apart() -> None:
    runs = {f"e{k}": {f"q{q}": [f"d{i}" for i in range(30)] for q in range(20)} for k in range(3)}
    apart = {"q3", "q11", "q17"}
    for query in apart:
        runs["e1"][query] = [f"d{i}" for i in range(30) if i % 2] + [f"d{i}" for i in range(30) if not i % 2]
    turns = list(dict.fromkeys(query for query, _ in rows(runs, budget=60)))
    assert apart <= set(turns[:6])
    for seed in range(3):
        many = random_runs(np.random.default_rng(seed), n_queries=15, longest=20)
        place = slow_places(many)
        items = {q: [i for (query, i), p in place.items() if query == q and p <= 10] for q, _ in place}
        spread = {
            q: sum(np.var([60 / (61 + lists[q].index(i)) if i in lists[q] else 0.0 for i in items[q]])
                   for lists in many.values() if q in lists)
            for q in items if sum(query == q for query, _ in place) > 1
        }  # fmt: skip
        turns = [q for q in dict.fromkeys(query for query, _ in rows(many, budget=10**6)) if q in spread]
        by_spread = sorted(spread, key=lambda q: -round(spread[q], 9))
        assert all(set(by_spread[:n]) <= set(turns[: 2 * n]) for n in range(1, len(turns)))


def test_queries_with_one_item_come_last() -> None:
    runs = {"e": {f"q{q}": ["a", "b"] if q % 2 else ["a"] for q in range(20)}}
    plan = rows(runs)
    assert all(int(query[1:]) % 2 for query, _ in plan[:20])
    assert len(plan) == 30


def test_a_smaller_budget_gives_the_first_items_of_a_larger_one() -> None:
    runs = random_runs(np.random.default_rng(1))
    whole = rows(runs, budget=10**6)
    assert all(rows(runs, budget=n) == whole[:n] for n in (1, 2, 7, 30))


def test_no_item_is_proposed_that_is_judged_or_twice() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        runs = random_runs(rng)
        pairs = sorted(slow_places(runs))
        judged = [pair for pair in pairs if rng.random() < 0.3]
        labels: dict[str, dict[str, int]] = {}
        for query, item in judged:
            labels.setdefault(query, {})[item] = int(rng.integers(0, 3))
        plan = rows(runs, labels, budget=10**6)
        assert sorted(plan) == sorted(set(pairs) - set(judged))


def test_the_order_of_experts_and_queries_is_irrelevant() -> None:
    runs = random_runs(np.random.default_rng(3), n_experts=7)
    turned = {expert: dict(reversed(list(lists.items()))) for expert, lists in reversed(list(runs.items()))}
    assert rows(runs, budget=50) == rows(turned, budget=50)


def judged_by(runs: dict[str, dict[str, list[str]]], n: int) -> dict[str, dict[str, int]]:
    """Labels of the first ``n`` items of the plan: items with low numbers are relevant."""
    labels: dict[str, dict[str, int]] = {}
    for query, item in rows(runs, budget=n):
        labels.setdefault(query, {})[item] = int(int(item[1:]) < 4)
    return labels


def test_from_100_judgements_every_fifth_item_is_one_that_decides() -> None:
    runs = random_runs(np.random.default_rng(5), n_queries=60, longest=30)
    before = juryrank.judging_plan(runs, judged_by(runs, 99), budget=30)
    plan = juryrank.judging_plan(runs, judged_by(runs, 100), budget=30)
    assert not any(why.startswith("uncertain") for why in before.why)
    assert [why.startswith("uncertain") for why in plan.why] == [n % 5 == 4 for n in range(30)]
    place = slow_places(runs)
    chosen = [(query, item) for query, item, why in plan.to_frame().rows() if why.startswith("uncertain")]
    assert all(place[pair] > 5 for pair in chosen)
    assert {query for query, _ in chosen} <= set(judged_by(runs, 100))


def test_with_labels_too_experts_may_be_in_any_order_and_a_smaller_budget_gives_a_part() -> None:
    runs = random_runs(np.random.default_rng(5), n_queries=60, longest=30)
    labels = judged_by(runs, 120)
    turned = {expert: runs[expert] for expert in reversed(runs)}
    plan = juryrank.judging_plan(runs, labels, budget=40).to_frame()
    assert plan.rows() == juryrank.judging_plan(turned, labels, budget=40).to_frame().rows()
    assert plan.rows()[:12] == juryrank.judging_plan(runs, labels, budget=12).to_frame().rows()
    assert len(set(zip(plan["query"], plan["item"], strict=True))) == 40


def test_the_columns_are_query_item_and_why() -> None:
    frame = juryrank.judging_plan(RUNS, budget=2).to_frame()
    assert frame.columns == ["query", "item", "why"]
    assert frame.rows()[0] == ("q", "b", "place 1 of RRF")


def test_a_budget_larger_than_everything_is_reported() -> None:
    plan = juryrank.judging_plan(RUNS, budget=100)
    assert len(plan) == 3
    assert "fewer than the budget of 100" in str(plan)
    assert "fewer" not in str(juryrank.judging_plan(RUNS, budget=3))


@pytest.mark.parametrize("budget", [0, -5, 1.5, inf, "10", True, None])
def test_a_budget_must_be_a_whole_number_of_at_least_one(budget: Any) -> None:
    with pytest.raises(ParameterError, match="budget must be a whole number of at least 1, got"):
        juryrank.judging_plan(RUNS, budget=budget)


def test_if_everything_is_judged_the_plan_is_empty() -> None:
    plan = juryrank.judging_plan(RUNS, {"q": {"a": 1, "b": 0, "c": 0}})
    assert len(plan) == 0
    assert plan.to_frame().shape == (0, 3)
    assert "3 judged so far" in str(plan)


def test_labels_of_other_queries_are_not_used() -> None:
    assert rows(RUNS, {"q": {"b": 1}, "other": {"a": 1}}) == [("q", "a"), ("q", "c")]


def test_labels_that_match_nothing_are_an_error() -> None:
    with pytest.raises(DataError, match="none of the 1 queries with labels is in the data"):
        juryrank.judging_plan(RUNS, {"other": {"a": 1}})


def test_no_labels_may_be_an_empty_dict() -> None:
    assert rows(RUNS, {}) == rows(RUNS)


def test_labels_in_the_data_count_as_judged() -> None:
    assert rows(from_dicts(RUNS, labels={"q": {"b": 1}})) == [("q", "a"), ("q", "c")]


def test_items_that_no_expert_ranked_are_not_proposed() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "expert": ["bm25"], "rank": [1]})
    assert rows(juryrank.read(frame, candidates={"q": ["a", "b"]})) == [("q", "a")]


def test_queries_with_empty_lists_have_nothing_to_judge() -> None:
    assert rows({"bm25": {"q": ["a"], "empty": []}}) == [("q", "a")]
