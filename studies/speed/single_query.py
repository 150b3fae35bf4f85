"""One query from Python lists, in a running process: against plain loops, LangChain's function and ranx's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import juryrank as jr
from studies.speed import fuser
from studies.speed.clock import Effort, Timing, time_call, time_in_turns
from studies.speed.inputs import Inputs
from studies.speed.peers import load, silent
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import at_least

SIZES = {(2, 20): 5000, (2, 100): 3000, (5, 1000): 300, (10, 100): 1500}  # lists, their length -> rounds
KNOWN = 1.5  # number of items per rank of a list

PLAIN = "plain loop"

Lists = dict[str, list[str]]
Scored = dict[str, dict[str, float]]
Loop = Callable[[Any], dict[str, float]]


def random_lists(n_lists: int = 2, n: int = 100, seed: int = 0) -> Lists:
    """Lists of n items."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(int(KNOWN * n))]
    return {f"e{m}": [names[i] for i in rng.permutation(len(names))[:n]] for m in range(n_lists)}


def plain_loop(lists: Lists, k: float = 60.0) -> dict[str, float]:
    """The loop with our result: equal scores in the order of the names."""
    return dict(sorted(_summed(lists, k).items(), key=lambda pair: (-pair[1], pair[0])))


def loop_without_tie_order(lists: Lists, k: float = 60.0) -> dict[str, float]:
    """The loop that does not order equal scores."""
    return dict(sorted(_summed(lists, k).items(), key=lambda pair: pair[1], reverse=True))


def _summed(lists: Lists, k: float) -> dict[str, float]:
    scores: dict[str, float] = {}
    for listed in lists.values():
        for rank, item in enumerate(listed, 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return scores


def plain_loop_of_scores(scored: Scored) -> dict[str, float]:
    """The same loop for lists with scores: each is sorted first."""
    return plain_loop({name: sorted(listed, key=listed.__getitem__, reverse=True) for name, listed in scored.items()})


def loop_of_points(lists: Lists, points: dict[str, list[float]]) -> dict[str, float]:
    """The loop for a learned model, with the points of each expert by rank in a list."""
    scores: dict[str, float] = {}
    for expert, listed in lists.items():
        worth = points[expert]
        for place, item in enumerate(listed):
            scores[item] = scores.get(item, 0.0) + worth[place]
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def learned_model(experts: list[str]) -> Any:
    """A jury trained on random labels, which do not matter for the time."""
    rng = np.random.default_rng(0)
    runs = {e: {f"q{q}": [f"d{i}" for i in rng.permutation(20)] for q in range(30)} for e in experts}
    labels = {f"q{q}": {f"d{i}": float(rng.random() < 0.3) for i in range(20)} for q in range(30)}
    return jr.method("jury").fit(jr.from_dicts(runs, labels=labels))


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Lists in order, lists with scores, and a learned model."""
    rows: list[Row] = []
    for (n_lists, n), usual in SIZES.items():
        rounds = effort.repetitions(usual)
        lists, size = random_lists(n_lists, n), size_text(n_lists, n)
        scored = {expert: {item: 1.0 / p for p, item in enumerate(items, 1)} for expert, items in lists.items()}
        rows += against_loops(
            f"{size}in order", lists, {PLAIN: plain_loop, "loop, ties left": loop_without_tie_order}, rounds
        )
        rows.append(_against_langchain(f"{size}in order", rows[-1].ours, lists))
        rows += against_loops(f"{size}with scores", scored, {PLAIN: plain_loop_of_scores}, rounds)
        rows.append(_against_ranx(f"{size}with scores", rows[-1].ours, scored))
        rows += _against_points(f"{size}in order, learned model", lists, rounds)
    # For the shortest lists the target is the loop with the same guarantees (``fuser``); this one checks nothing.
    tasks = [row.task for row in rows if row.peer == PLAIN and not row.task.startswith(size_text(*fuser.SMALL))]
    targets = at_least("no slower than the plain loop", rows, tasks, PLAIN, 1.0)
    more, further = fuser.results(random_lists, effort)
    return [*rows, *more], [*targets, *further]


def size_text(n_lists: int, n: int) -> str:
    """The beginning of the names of rows."""
    return f"one query, {n_lists}×{n} "


def against_loops(task: str, lists: Any, loops: dict[str, Loop], rounds: int, **ours: Any) -> list[Row]:
    """A row for every loop, all timed in turns."""
    calls = [partial(jr.fuse, lists, **ours), *(partial(loop, lists) for loop in loops.values())]
    mine, *theirs = time_in_turns(calls, rounds=rounds)
    fused = jr.fuse(lists, **ours)
    rows = []
    for (name, loop), timing in zip(loops.items(), theirs, strict=True):
        looped = loop(lists)
        ordered = "order included" if list(looped) == list(fused) else "but for the order of ties"
        text = f"equal, {ordered}" if looped == fused else "other scores"
        rows.append(Row(task, name, mine, timing, text, looped == fused))
    return rows


def points_by_place(model: Any, expert: str, n: int) -> list[float]:
    """The points that a list of one expert gives to its items, by place."""
    names = [f"d{place}" for place in range(n)]
    scores = jr.fuse({expert: names}, model=model)
    return [scores[name] for name in names]


def _against_points(task: str, lists: Lists, rounds: int) -> list[Row]:
    model = learned_model(list(lists))
    points = {expert: points_by_place(model, expert, len(listed)) for expert, listed in lists.items()}
    return against_loops(task, lists, {PLAIN: partial(loop_of_points, points=points)}, rounds, model=model)


def _against_langchain(task: str, ours: Timing, lists: Lists) -> Row:
    if load("langchain_classic") is None:
        return skipped_row(task, "langchain_classic", ours)
    with silent():
        retriever = import_module("langchain_classic.retrievers.ensemble").EnsembleRetriever
        document = import_module("langchain_core.documents").Document
        ensemble = retriever.model_construct(retrievers=[], weights=[1.0] * len(lists), c=60, id_key=None)
        documents = [[document(page_content=item) for item in listed] for listed in lists.values()]
        timing, ranked = time_call(lambda: ensemble.weighted_reciprocal_rank(documents), most=100)
    same = [d.page_content for d in ranked] == list(loop_without_tie_order(lists))
    return Row(
        task, "LangChain", ours, timing, "equal order, but for ties; without scores" if same else "other order", same
    )


def _against_ranx(task: str, ours: Timing, scored: Scored) -> Row:
    ranx = load("ranx")
    if ranx is None:
        return skipped_row(task, "ranx", ours)
    with silent():
        runs = [ranx.Run({"q": listed}) for listed in scored.values()]
        timing, run = time_call(lambda: ranx.fuse(runs, norm=None, method="rrf"), most=200)
    theirs, fused = dict(run.run["q"]), jr.fuse(scored)
    same = theirs.keys() == fused.keys() and max(abs(theirs[item] - fused[item]) for item in fused) < 1e-12
    return Row(task, "ranx", ours, timing, f"{'equal' if same else 'other'} scores; its runs were built before", same)
