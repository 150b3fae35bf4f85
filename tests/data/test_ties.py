"""Ties of a consensus: told, shared ranks, and rules that break them."""

import io
import random
import re
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import juryrank
from juryrank import from_dicts, from_orders
from juryrank.data import Consensus
from juryrank.data.consensus import single_precision
from juryrank.data.ties import tie_order
from juryrank.errors import ParameterError
from juryrank.methods import method
from juryrank.tasks.files.rank_files import rank_files


def consensus_of(scores: dict[str, dict[str, float]]) -> Consensus:
    """A consensus with these scores."""
    rankings = from_dicts({"x": {query: dict(items) for query, items in scores.items()}}).rankings
    names = [(rankings.queries[q], rankings.items[i]) for q in range(len(rankings)) for i in slots(rankings, q)]
    return Consensus(rankings, np.array([scores[query][item] for query, item in names]))


def slots(rankings: juryrank.Rankings, q: int) -> list[int]:
    return list(map(int, rankings.slot_item[rankings.slot_ptr[q] : rankings.slot_ptr[q + 1]]))


def random_scores(seed: int) -> dict[str, dict[str, float]]:
    """Few values, so that many are equal; also negative ones and zero."""
    rng = random.Random(seed)
    return {f"q{q}": {f"d{i}": float(rng.randint(-3, 3)) for i in range(rng.randint(1, 9))} for q in range(6)}


@pytest.mark.parametrize("seed", range(20))
def test_ranks_ties_and_winners_follow_from_the_scores(seed: int) -> None:
    scores = random_scores(seed)
    consensus = consensus_of(scores)
    for query, items in scores.items():
        best = sorted(items, key=lambda item: (-items[item], item))
        groups = [list(group) for _, group in groupby(best, key=items.__getitem__)]
        assert consensus.ties()[query] == [group for group in groups if len(group) > 1]
        assert consensus.winners()[query] == groups[0]
        rows = consensus[query].to_frame().rows()
        assert rows == [(query, i, 1 + sum(s > items[i] for s in items.values()), items[i]) for i in best]
        text = [line.split()[2:4] for line in consensus[query].to_trec().splitlines()]
        assert text == [[item, str(rank)] for _, item, rank, _ in rows]


@pytest.mark.parametrize("rule", ["name", "random", [f"d{i}" for i in reversed(range(9))]])
@pytest.mark.parametrize("seed", range(5))
def test_a_consensus_without_ties_keeps_the_order_of_what_was_not_tied(rule: str | list[str], seed: int) -> None:
    tied = consensus_of(random_scores(seed))
    broken = tied.break_ties(rule, seed=seed)
    assert all(groups == [] for groups in broken.ties().values())
    for query, items in tied.to_dict().items():
        found = broken.to_dict()[query]
        assert broken[query].to_frame()["rank"].to_list() == list(range(1, len(items) + 1))
        assert all(found[a] > found[b] for a in items for b in items if items[a] > items[b])
        assert max(abs(found[i] - items[i]) for i in items) <= 1e-5 * max(1.0, *map(abs, items.values()))
        for group in tied.ties()[query]:
            expected = sorted(group, reverse=isinstance(rule, list))
            assert rule == "random" or [item for item in found if item in group] == expected


def test_broken_ties_are_none_in_single_precision_where_scores_are_far_apart() -> None:
    broken = consensus_of({"q": {"a": 7.0, "b": 7.0, "c": 0.0, "d": 0.0, "e": -7.0}}).break_ties("name")
    assert (np.diff(single_precision(broken.scores[broken.order])) < 0).all()


def test_ties_beside_neighbouring_numbers_are_broken() -> None:
    near = float(np.nextafter(1.0, 0.0))
    broken = consensus_of({"q": {"a": 1.0, "b": 1.0, "c": near, "d": near, "e": 0.0}}).break_ties("name")
    assert list(broken.to_dict()["q"]) == ["a", "b", "c", "d", "e"]
    assert broken.ties() == {"q": []}


def test_a_random_order_depends_on_seed_query_and_names_alone() -> None:
    names = [f"d{i}" for i in range(30)]
    drawn = tie_order(names, "random", 3, query="q1")
    assert drawn == tie_order(names[::-1], "random", 3, query="q1")
    assert sorted(drawn) == sorted(names)
    assert len({tuple(tie_order(names, "random", seed, query=q)) for seed in range(5) for q in ("q1", "q2")}) == 10


def test_each_item_of_a_tie_comes_first_equally_often() -> None:
    firsts = [tie_order(["a", "b", "c"], "random", seed)[0] for seed in range(3000)]
    assert all(900 < firsts.count(name) < 1100 for name in "abc")  # four standard deviations


def test_wrong_rules_are_refused() -> None:
    tied = method("borda").fit_predict(from_orders([["a", "b"], ["b", "a"]]))
    with pytest.raises(ParameterError, match=r"none, name, random or a sequence of item names, got 'lot'"):
        tied.break_ties("lot")
    with pytest.raises(ParameterError, match=r"must name every tied item; query 'all' ties 'b', which it leaves out"):
        tied.break_ties(["a"])
    with pytest.raises(ParameterError, match=r"names each item once"):
        tied.break_ties(["a", "a", "b"])
    with pytest.raises(ParameterError, match=r"has names of items, got \[1\]"):
        tied.break_ties([1])  # type: ignore[list-item]


def test_the_notebook_shows_tied_ranks_and_top_counts_items() -> None:
    tied = method("borda").fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"]]))
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", tied._repr_html_())
    assert [cells[cells.index(item) - 1] for item in "abc"] == ["1", "1", "3"]
    assert tied.to_frame(top=1).select("item", "rank").rows() == [("a", 1)]


@pytest.mark.parametrize("rule", ["none", "name", "random", ["d3", "d2", "d1", "d0"]])
def test_ranking_query_by_query_breaks_ties_as_ranking_all(rule: str | list[str], tmp_path: Path) -> None:
    rng = random.Random(0)
    for expert in ("x", "y"):
        lines = [(q, i) for q in range(60) for i in rng.sample(range(4), 4)]
        text = "".join(f"q{q} Q0 d{i} 0 {4 - n % 4} {expert}\n" for n, (q, i) in enumerate(lines))
        (tmp_path / f"{expert}.run").write_text(text)
    paths = [tmp_path / "x.run", tmp_path / "y.run"]
    parts = io.BytesIO()
    rank_files(paths, method("borda"), parts, memory=10**6, tie_break=rule, seed=5)
    whole = method("borda").fit_predict(juryrank.read(paths)).break_ties(rule, seed=5)
    assert parts.getvalue().decode() == whole.to_trec()
    assert any(whole.ties().values()) == (rule == "none")
