"""The linear ordering problem, solved to proven optimality: groups by majority, then integer programming.

Variables x[i, j] in {0, 1} for i < j say that i comes before j. Orders are the 0/1 points without three-cycles; the
constraints that forbid them, 0 <= x[i, j] + x[j, k] - x[i, k] <= 1, are added only where a solution breaks one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from juryrank.data.rankings import Floats, Ints
from juryrank.errors import JuryrankError

WHOLE = 1e-6  # how near to 0 or 1 HiGHS brings a whole number
CUTS_PER_ROUND = 20  # per item; more cuts slow each round down, fewer need more rounds


def majority_groups(margin: Floats) -> list[Ints]:
    """Items in groups, best first, so that every item of a group beats or ties every item of the later groups.

    Some optimal order respects the groups: they are the strongly connected components of "beats".
    """
    beats = margin > 0
    n_groups, group = connected_components(csr_array(beats), directed=True, connection="strong")
    if n_groups == len(margin):
        members: list[Ints] = [np.array([i]) for i in _topological(beats, np.arange(n_groups))]
        return members
    above = np.zeros((n_groups, n_groups), bool)
    i, j = np.nonzero(beats)
    above[group[i], group[j]] = True
    np.fill_diagonal(above, False)
    strength = np.bincount(group, margin.sum(1), minlength=n_groups) / np.bincount(group, minlength=n_groups)
    order = _topological(above, np.argsort(-strength, kind="stable"))
    return [np.flatnonzero(group == g) for g in order]


def _topological(above: NDArray[np.bool_], preferred: Ints) -> list[int]:
    """An order with every node after those above it; among the free ones the first of ``preferred`` goes next."""
    waiting = above.sum(0)
    order: list[int] = []
    free = [int(g) for g in preferred if waiting[g] == 0]
    place = np.empty(len(preferred), np.int64)
    place[preferred] = np.arange(len(preferred))
    while free:
        free.sort(key=lambda g: place[g])
        node = free.pop(0)
        order.append(node)
        below = np.flatnonzero(above[node])
        waiting[below] -= 1
        free.extend(int(g) for g in below if waiting[g] == 0)
    return order


def best_order(margin: Floats, start: Ints) -> Ints:
    """An order of the items that minimises the disagreement, proven optimal; ``start`` is returned if it already is."""
    n = len(margin)
    upper = np.triu_indices(n, 1)
    number = np.zeros((n, n), np.int64)
    number[upper] = np.arange(len(upper[0]))
    gain = margin[upper]
    place = np.empty(n, np.int64)
    place[start] = np.arange(n)
    known = float(gain @ (place[upper[0]] < place[upper[1]]))
    cuts: list[tuple[int, int, int]] = []
    whole = False
    while True:
        x = _solve(gain, cuts, number, whole)
        if _value(gain, x) <= known + WHOLE:
            return start
        before = np.zeros((n, n))
        before[upper] = x
        before[upper[1], upper[0]] = 1.0 - x
        broken = _broken_triangles(before, CUTS_PER_ROUND * n)
        if broken:
            cuts.extend(broken)
        elif whole or np.abs(x - np.round(x)).max() <= WHOLE:
            return np.argsort(-np.round(before).sum(1), kind="stable")
        else:
            whole = True


def _value(gain: Floats, x: Floats) -> float:
    return float(gain @ x)


def _solve(gain: Floats, cuts: list[tuple[int, int, int]], number: Ints, whole: bool) -> Floats:
    """Variables that maximise the gain under the cuts; whole numbers only where asked."""
    constraints: Any = ()
    if cuts:
        triple = np.array(cuts)
        columns = number[triple[:, [0, 1, 0]], triple[:, [1, 2, 2]]]
        rows = np.repeat(np.arange(len(cuts)), 3)
        signs = np.tile([1.0, 1.0, -1.0], len(cuts))
        matrix = csr_array((signs, (rows, columns.ravel())), shape=(len(cuts), len(gain)))
        constraints = LinearConstraint(matrix, 0.0, 1.0)
    answer = milp(-gain, integrality=np.full(len(gain), int(whole)), bounds=Bounds(0, 1), constraints=constraints)
    if answer.x is None:
        raise JuryrankError(f"kemeny: the integer program was not solved ({answer.message}); use solver='heuristic'")
    return np.asarray(answer.x)


def _broken_triangles(before: Floats, most: int) -> list[tuple[int, int, int]]:
    """Triples i < j < k with before(i,j) + before(j,k) - before(i,k) outside [0, 1], worst first."""
    n = len(before)
    found: list[tuple[float, int, int, int]] = []
    for i in range(n - 2):
        total = before[i, i + 1 :, None] + before[i + 1 :, i + 1 :] - before[i, None, i + 1 :]
        excess = np.maximum(total - 1.0, -total)
        j, k = np.nonzero(np.triu(excess, 1) > WHOLE)
        found.extend(zip(excess[j, k].tolist(), [i] * len(j), (j + i + 1).tolist(), (k + i + 1).tolist(), strict=True))
    found.sort(key=lambda t: (-t[0], t[1:]))
    return [(i, j, k) for _, i, j, k in found[:most]]
