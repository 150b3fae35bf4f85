"""Exact Kemeny orders of 15 lists, against a plain integer program and against trying every order."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import juryrank as jr
from studies.speed.clock import Effort, Timing, time_call, time_once
from studies.speed.inputs import Inputs, orders_of
from studies.speed.peers import load, silent
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import at_most

SEEDS = range(5)
KINDS = {"mallows": "Mallows 0.9", "uniform": "uniform"}
EVERY_ORDER = 8  # items for which pref_voting takes seconds; 10 take a minute or two
GOAL = 2.0  # seconds for 50 items

Orders = list[list[int]]


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Medians over five problems of each kind and size, from lists of items; the first call is a small problem."""
    first, _ = time_once(lambda: ours(orders_of("uniform", 6, 0)))
    rows: list[Row] = []
    slowest = (0.0, 0.0)
    for kind, description in KINDS.items():
        for n in (10, 30, 50, 100) if kind == "mallows" else (10, 30, 50):
            problems = [orders_of(kind, n, seed) for seed in SEEDS[: 1 if n > 50 else 5]]
            timing, found, worst = _over(problems, ours, first)
            theirs, plain, _ = _over(problems, plain_milp, None)
            slowest = slowest if n > 50 else max(slowest, worst)
            rows.append(Row(f"Kemeny, {n} items, {description}", "scipy.milp", timing, theirs, *_verdict(found, plain)))
    rows.append(_against_every_order(10 if effort is Effort.SLOW else EVERY_ORDER, first))
    rows.append(_heuristic())
    return rows, [at_most("exact Kemeny, 50 items, slowest of all", Timing(None, slowest[0], 1, slowest[1]), GOAL)]


def _heuristic(n: int = 1000) -> Row:
    """The heuristic, at a size that no peer can solve; its quality is compared with the centre of the lists."""
    orders = orders_of("mallows", n, 0)
    timing, found = time_call(lambda: ours(orders, "heuristic"), most=3)
    place = np.argsort(np.array(orders), axis=1)
    centre = float(sum(np.triu(p[:, None] > p[None, :], 1).sum() for p in place))
    text = f"{found:,.0f} disagreements; the centre of the lists has {centre:,.0f}"
    return Row(f"Kemeny, heuristic, {n:,} items, Mallows 0.9", "–", timing, None, text)


def ours(orders: Orders, solver: str = "exact") -> float:
    """The disagreements of our order."""
    consensus = jr.method("kemeny", solver=solver).fit_predict(jr.from_orders(orders))
    return float(consensus.details["objective"][0])


def plain_milp(orders: Orders) -> float:
    """The disagreements of the best order, by one integer program with all triangle constraints."""
    n = len(orders[0])
    place = np.argsort(np.array(orders), axis=1)
    before = (place[:, :, None] < place[:, None, :]).sum(0)
    number = {pair: k for k, pair in enumerate(combinations(range(n), 2))}
    i, j = np.array(list(number)).T
    triangles = np.array([(number[a, b], number[b, c], number[a, c]) for a, b, c in combinations(range(n), 3)])
    rows, signs = np.repeat(np.arange(len(triangles)), 3), np.tile([1.0, 1.0, -1.0], len(triangles))
    matrix = csr_array((signs, (rows, triangles.ravel())), shape=(len(triangles), len(number)))
    found = milp(
        (before[j, i] - before[i, j]).astype(float),
        integrality=np.ones(len(number)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, 0.0, 1.0),
    )
    return float(found.fun + before[i, j].sum())


def every_order(orders: Orders) -> float:
    """The disagreements of the best order, by pref_voting, which tries them all."""
    best = import_module("pref_voting.other_methods").kemeny_young_rankings
    profile = import_module("pref_voting.profiles").Profile(orders)
    return float(best(profile)[1])


def _over(
    problems: list[Orders], solve: Callable[[Orders], float], first: float | None
) -> tuple[Timing, list[float], tuple[float, float]]:
    """The median time over problems, their results, and the longest time with its CPU time."""
    spent, values = [], []
    for orders in problems:
        start = time.process_time()
        seconds, value = time_once(partial(solve, orders))
        spent.append((seconds, time.process_time() - start))
        values.append(value)
    seconds, cpu = (statistics.median(column) for column in zip(*spent, strict=True))
    return Timing(first, seconds, len(spent), cpu), values, max(spent)


def _verdict(ours: list[float], theirs: list[float]) -> tuple[str, bool]:
    same = bool(np.allclose(ours, theirs, rtol=0, atol=1e-6))
    return ("equal disagreements" if same else f"disagreements {ours} and {theirs}"), same


def _against_every_order(n: int, first: float) -> Row:
    task, orders = f"Kemeny, {n} items, uniform", orders_of("uniform", n, 0)
    timing, found, _ = _over([orders] * 5, ours, first)
    if load("pref_voting") is None:
        return skipped_row(task, "pref_voting", timing)
    with silent():
        theirs, every, _ = _over([orders], every_order, None)
    return Row(task, "pref_voting", timing, theirs, *_verdict(found[:1], every))
