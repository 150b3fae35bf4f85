"""The best order of items by their margins: groups by majority, a search in each group, and a proof of its order."""

from __future__ import annotations

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.linear_ordering import (
    change_and_search,
    insertion_search,
    order_groups,
    prove_by_cycles,
    round_to_units,
    strong_components,
    subset_order,
)

ROUNDING = 2.0**-52  # of one operation, relative to its result
SUBSETS_UP_TO = 15  # items; beyond, a table of all subsets takes longer than other ways
CYCLES_UP_TO = 60  # items; the number of pairs and ways between them grows with the fourth power
TRIES = 100  # random changes of an order that is not proven to be optimal


def majority_groups(margin: Floats, noise: float) -> tuple[Ints, Ints]:
    """Items in groups, best first, so that every item of a group beats or ties every item of the later groups.

    The items, and where each group begins. Some optimal order respects the groups: they are the strongly connected
    components of "beats". Of groups in any order the stronger comes first, or, if each is one item, the first item.
    """
    n = len(margin)
    label, order = np.empty(n, np.int64), np.empty(n, np.int64)
    n_groups = strong_components(margin, label)
    turn, ptr = np.empty(n_groups, np.int64), np.empty(n_groups + 1, np.int64)
    if n_groups == n:
        turn[label] = np.arange(n)
    else:
        strength = np.bincount(label, margin.sum(1)) / np.bincount(label)
        turn[by_strength(strength, noise_of_sums(margin, noise))] = np.arange(n_groups)
    order_groups(margin, label, turn, order, ptr)
    return order, ptr


def by_strength(strength: Floats, noise: float) -> Ints:
    """Items from the strongest to the weakest; neighbours that differ by ``noise`` or less keep the items' order."""
    order = np.argsort(-strength, kind="stable")
    level = np.empty(len(order), np.int64)
    level[order] = np.cumsum(np.append(0, strength[order[:-1]] - strength[order[1:]] > noise))
    return np.argsort(level, kind="stable")


def noise_of_sums(margin: Floats, noise: float) -> float:
    """The rounding error of a sum of margins of one item, each of them known up to ``noise``."""
    return float(len(margin) * (noise + ROUNDING * np.abs(margin).sum(1).max(initial=0.0)))


def searched_order(margin: Floats, noise: float) -> Ints:
    """The Borda order, improved by moves of single items."""
    start = by_strength(margin.sum(1), noise_of_sums(margin, noise))
    near = np.ascontiguousarray(margin[np.ix_(start, start)])  # neighbours in the order are near in memory
    found = np.arange(len(start))
    insertion_search(near, found, noise)
    return start[found]


def best_order(margin: Floats, start: Ints, noise: float) -> tuple[Ints, bool]:
    """An order with the largest sum of margins, and whether that is proven; ``start`` where none is better.

    Margins are known up to ``noise``, and sums of them up to rounding: a difference below that is none.
    """
    if len(margin) <= CYCLES_UP_TO:
        start, proven = improved_order(margin, start, noise)
        if proven:
            return start, True
    from juryrank.methods.pairwise._linear_ordering import order_by_programs

    return order_by_programs(margin, start, noise)


def improved_order(margin: Floats, start: Ints, noise: float) -> tuple[Ints, bool]:
    """As ``best_order``, without linear programs: where cycles prove no order, a table of subsets or random changes."""
    whole, step = round_to_units(margin, noise)
    slack = 2.0 * len(margin) * ROUNDING * float(np.abs(whole).sum())
    enough = max(slack, step - slack)
    if prove_by_cycles(whole, start, enough):
        return start, True
    order = start.copy()
    if len(order) <= SUBSETS_UP_TO:
        subset_order(whole, order)
        return (order if _agreement(whole, order) > _agreement(whole, start) + 2.0 * slack else start), True
    drawn, left = 1, TRIES
    while True:
        drawn, left = change_and_search(whole, order, drawn, left, 2.0 * slack)
        if left < 0:
            return order, False
        if prove_by_cycles(whole, order, enough):
            return order, True


def _agreement(margin: Floats, order: Ints) -> float:
    """The sum of the margins of all items over those after them."""
    return float(np.triu(margin[np.ix_(order, order)], 1).sum())
