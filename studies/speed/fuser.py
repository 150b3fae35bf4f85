"""One query through a ``Fuser``: every ordinary shape of input, against loops that give the same guarantees."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import juryrank as jr
from studies.speed.careful_loops import careful_loop, careful_loop_of_scores
from studies.speed.clock import Effort, Timing, process, time_in_turns
from studies.speed.table import Results, Row
from studies.speed.targets import Target, at_least, at_most

Lists = dict[str, list[str]]
Call = Callable[[], dict[Any, float]]
SMALL, LARGE = (2, 20), (3, 100)  # lists, their length
LIMIT, LIMIT_OF_REPEATED = 40e-6, 80e-6  # seconds for LARGE
ORDER, SCORES, PAIRS, REPEATED = "in order", "with scores", "pairs", "with a repeated item"
BY_FUSE = ("in order, by fuse", "with scores, by fuse", "pairs, by fuse")
OTHERS = ("scores not in order", "generators", "with NaN", "combsum z-score", "combmnz min-max")
WITHIN_LIMIT = (ORDER, SCORES, PAIRS, *BY_FUSE)
CAREFUL = "careful loop"
FIRST = """
import time, warnings
warnings.simplefilter("ignore")
from studies.speed.fuser import calls_of
from studies.speed.single_query import random_lists
start, busy = time.perf_counter(), time.process_time()
for call, _ in calls_of(random_lists({}, {})).values():
    call()
print("RESULT", time.perf_counter() - start, time.process_time() - busy)
"""


def calls_of(lists: Lists) -> dict[str, tuple[Call, Call | None]]:
    """By shape of the input: our call, and the loop with the same result, if there is one."""
    rrf, combsum, combmnz = jr.Fuser("rrf"), jr.Fuser("combsum", norm="z-score"), jr.Fuser("combmnz", norm="min-max")
    scored = {expert: {item: 1.0 / n for n, item in enumerate(items, 1)} for expert, items in lists.items()}
    missing = {expert: {**scores, next(iter(scores)): math.nan} for expert, scores in scored.items()}
    repeated = {expert: [*items[:-1], items[0]] for expert, items in lists.items()}
    pairs = {expert: list(scores.items()) for expert, scores in scored.items()}
    shuffled = {expert: dict(sorted(scores.items())) for expert, scores in scored.items()}
    shuffled_call, generators_call, nan_call, sum_call, mnz_call = OTHERS
    of_fuse: list[Any] = [partial(jr.fuse, given) for given in (lists, scored, pairs)]
    return {
        ORDER: (partial(rrf, lists), partial(careful_loop, lists)),
        SCORES: (partial(rrf, scored), partial(careful_loop_of_scores, scored)),
        REPEATED: (partial(rrf, repeated), partial(careful_loop, repeated)),
        PAIRS: (partial(rrf, pairs), None),
        **{shape: (call, None) for shape, call in zip(BY_FUSE, of_fuse, strict=True)},
        shuffled_call: (partial(rrf, shuffled), partial(careful_loop_of_scores, shuffled)),
        generators_call: (lambda: rrf({expert: iter(items) for expert, items in lists.items()}), None),
        nan_call: (partial(rrf, missing), partial(careful_loop_of_scores, missing)),
        sum_call: (partial(combsum, scored), None),
        mnz_call: (partial(combmnz, scored), None),
    }


def results(random_lists: Callable[[int, int], Lists], effort: Effort) -> Results:
    """Rows and targets for both sizes, and the first calls of a process."""
    rows: list[Row] = []
    for size in (SMALL, LARGE):
        rows += [_row(task_of(size, shape), *calls, effort) for shape, calls in calls_of(random_lists(*size)).items()]
    rows.append(Row("Fuser, first call of each shape", "–", first_calls(), None, ""))
    return rows, fuser_targets(rows)


def task_of(size: tuple[int, int], shape: str) -> str:
    """The name of a row."""
    return f"Fuser, {size[0]}×{size[1]} {shape}"


def _row(task: str, ours: Call, loop: Call | None, effort: Effort) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, *theirs = time_in_turns([ours] if loop is None else [ours, loop], rounds=effort.repetitions(3000))
        if loop is None:
            return Row(task, "–", mine, None, "")
        same = list(ours().items()) == list(loop().items())
    return Row(task, CAREFUL, mine, theirs[0], "equal, order included" if same else "other scores or order", same)


def fuser_targets(rows: list[Row]) -> list[Target]:
    """Against the loop for small lists, in microseconds for larger ones."""
    spent = {row.task: row.ours for row in rows}
    small = [task_of(SMALL, shape) for shape in (ORDER, SCORES)]
    return [
        *at_least("no slower than a loop with the same guarantees", rows, small, CAREFUL, 1.0),
        *(at_most(task, spent[task], LIMIT) for task in [task_of(LARGE, shape) for shape in (*WITHIN_LIMIT, *OTHERS)]),
        at_most(task_of(LARGE, REPEATED), spent[task_of(LARGE, REPEATED)], LIMIT_OF_REPEATED),
    ]


def first_calls() -> Timing:
    """Seconds of the first call of each shape in a process."""
    seconds, cpu = map(float, process(FIRST.format(*LARGE)).rpartition("RESULT")[2].split())
    return Timing(None, seconds, 1, cpu)
