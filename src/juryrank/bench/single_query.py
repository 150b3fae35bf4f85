"""One query of 2 × 100 items: in a running process, against plain loops and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import juryrank
from juryrank.bench.clock import Timing, alternating, timed
from juryrank.bench.inputs import Inputs
from juryrank.bench.peers import load, silent
from juryrank.bench.table import Found, Row, Target, skipped, times

ROUNDS = 3000
ORDERED, SCORED = "one query, 2×100 items in order", "one query, 2×100 items with scores"
Lists = dict[str, list[str]]
Scored = dict[str, dict[str, float]]


def two_lists(seed: int = 0, n: int = 100, known: int = 150) -> Lists:
    """Two lists of n items out of ``known``."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(known)]
    return {expert: [names[i] for i in rng.permutation(known)[:n]] for expert in ("bm25", "dense")}


def plain_loop(lists: Lists, k: float = 60.0) -> dict[str, float]:
    """The loop that gives what we give: equal scores stand in the order of the names."""
    return dict(sorted(_summed(lists, k).items(), key=lambda pair: (-pair[1], pair[0])))


def careless_loop(lists: Lists, k: float = 60.0) -> dict[str, float]:
    """The loop that leaves equal scores as they come."""
    return dict(sorted(_summed(lists, k).items(), key=lambda pair: pair[1], reverse=True))


def _summed(lists: Lists, k: float) -> dict[str, float]:
    scores: dict[str, float] = {}
    for listed in lists.values():
        for rank, item in enumerate(listed, 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return scores


def plain_loop_of_scores(scored: Scored) -> dict[str, float]:
    """The same loop for lists that come with scores: each is sorted first."""
    return plain_loop({name: sorted(listed, key=listed.__getitem__, reverse=True) for name, listed in scored.items()})


def measure(inputs: Inputs, slow: bool) -> Found:
    """Lists in order and lists with scores."""
    lists = two_lists()
    scored = {expert: {item: 1.0 / n for n, item in enumerate(items, 1)} for expert, items in lists.items()}
    rows = against_loops(ORDERED, lists, {"plain loop": plain_loop, "loop, ties left": careless_loop})
    rows += against_loops(SCORED, scored, {"plain loop": plain_loop_of_scores})
    targets = [
        Target(f"no slower than the plain loop: {row.task}", times(row.ratio), (row.ratio or 0.0) >= 1.0)
        for row in rows
        if row.peer == "plain loop"
    ]
    rows.append(_against_ranx(rows[-1].ours, scored))
    return rows, targets


def against_loops(task: str, lists: Any, loops: dict[str, Callable[[Any], dict[str, float]]]) -> list[Row]:
    """A row for every loop, all timed in turns."""
    calls = [lambda: juryrank.fuse(lists), *(lambda loop=loop: loop(lists) for loop in loops.values())]
    ours, *theirs = alternating(calls, rounds=ROUNDS)
    fused = juryrank.fuse(lists)
    rows = []
    for (name, loop), timing in zip(loops.items(), theirs, strict=True):
        looped = loop(lists)
        ordered = "order included" if list(looped) == list(fused) else "but for the order of ties"
        text = f"equal, {ordered}" if looped == fused else "other scores"
        rows.append(Row(task, name, ours, timing, text, looped == fused))
    return rows


def _against_ranx(ours: Timing, scored: Scored) -> Row:
    ranx = load("ranx")
    if ranx is None:
        return skipped(SCORED, "ranx", ours)
    with silent():
        runs = [ranx.Run({"q": listed}) for listed in scored.values()]
        timing, run = timed(lambda: ranx.fuse(runs, norm=None, method="rrf"), most=200)
    same = dict(run.run["q"]) == juryrank.fuse(scored)
    return Row(SCORED, "ranx", ours, timing, f"{'equal' if same else 'other'} scores; its runs were built before", same)
