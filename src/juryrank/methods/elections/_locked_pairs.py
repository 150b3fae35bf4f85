"""Pairs of candidates that are locked in, strongest first, in every order of pairs that are equally strong.

Pairs of one strength that cannot all be locked in without a cycle are locked in as many as possible, in each possible
way. Defeats are sets of candidates, integers with a bit for each.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.linear_ordering import strong_components
from juryrank.methods.pairwise.majorities import Flags

WORK = 10_000  # ways times candidates; with many candidates, following all of a thousand ways takes minutes
STEPS = 100  # pairs that are looked at, for each way that is allowed, before the search for all ways is given up

Pair = tuple[int, int]
Defeats = tuple[int, ...]  # by candidate: whom it is above, directly or through others


class TooManyWaysError(Exception):
    """There are more ways to lock in pairs than the limit."""


def locked_pairs(margin: Floats, limit: int) -> tuple[list[Flags], bool]:
    """The defeats that each way to break ties between pairs leads to, and whether these are all ways.

    Where there are more than ``limit`` ways, or than ``WORK`` by candidate, none is preferred: pairs of one strength
    that contradict each other are left out.
    """
    levels, limit = _levels(margin), min(limit, WORK // max(len(margin), 1))
    try:
        ways = {_no_defeats(len(margin))}
        for pairs in levels:
            ways = {way for defeats in ways for way in _all_ways(defeats, pairs, limit)}
            if len(ways) > limit:
                raise TooManyWaysError
    except TooManyWaysError:
        defeats = _no_defeats(len(margin))
        for pairs in levels:
            defeats = _without_contradictions(defeats, pairs)
        return [_as_flags(defeats)], False
    return [_as_flags(defeats) for defeats in ways], True


def _levels(margin: Floats) -> list[list[Pair]]:
    """Pairs with a majority, in groups of the same margin, the largest first."""
    first, second = np.nonzero(margin > 0)
    order = np.argsort(-margin[first, second], kind="stable")
    first, second = first[order], second[order]
    cuts = np.flatnonzero(np.diff(margin[first, second])) + 1
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    ends = [0, *cuts.tolist(), len(pairs)]
    return [pairs[a:b] for a, b in pairwise(ends) if a < b]


def _all_ways(defeats: Defeats, pairs: list[Pair], limit: int) -> set[Defeats]:
    """What the pairs of one strength lead to, in every order."""
    pairs = _open_pairs(defeats, pairs)
    if (all_locked := _lock_all(defeats, pairs)) is not None:
        return {all_locked}
    sure, cycles = _contested(defeats, pairs)
    for pair in sure:
        defeats = _lock(defeats, pair)
    ways = {defeats}
    for contested in cycles:  # one does not affect another
        choices = _choices(defeats, contested, limit)
        if len(ways) * len(choices) > limit:
            raise TooManyWaysError
        ways = {_lock_every(way, chosen) for way in ways for chosen in choices}
    return ways


def _choices(defeats: Defeats, contested: list[Pair], limit: int) -> list[list[Pair]]:
    """The sets of contested pairs that some order locks in.

    An order locks in pairs until all others are contradicted. So each pair in turn is locked in, or it is left out if
    later ones can still contradict it.
    """
    found, steps = dict[Defeats, list[Pair]](), 0
    ahead: list[tuple[Defeats, list[Pair], list[Pair], list[Pair]]] = [(defeats, contested, [], [])]
    while ahead:
        now, left, out, chosen = ahead.pop()
        left, out = _open_pairs(now, left), [(a, b) for a, b in out if not now[b] >> a & 1]
        steps += len(contested)
        if steps > STEPS * limit or len(found) > limit:
            raise TooManyWaysError
        if not all(_may_follow(now, left, b, a) for a, b in out):
            continue
        if not left:
            found[now] = chosen
            continue
        first, *rest = left
        ahead += [(now, rest, [*out, first], chosen), (_lock(now, first), rest, out, [*chosen, first])]
    return list(found.values())


def _may_follow(defeats: Defeats, pairs: list[Pair], start: int, goal: int) -> bool:
    """Whether ``start`` is above ``goal``, or would be with all the pairs."""
    reached = 1 << start | defeats[start]
    while not reached >> goal & 1:
        more = reached
        for a, b in pairs:
            if reached >> a & 1:
                more |= 1 << b | defeats[b]
        if more == reached:
            return False
        reached = more
    return True


def _without_contradictions(defeats: Defeats, pairs: list[Pair]) -> Defeats:
    """Lock in the pairs of one strength that are in no cycle with others of that strength or more."""
    pairs = _open_pairs(defeats, pairs)
    if (all_locked := _lock_all(defeats, pairs)) is not None:
        return all_locked
    for pair in _contested(defeats, pairs)[0]:
        defeats = _lock(defeats, pair)
    return defeats


def _contested(defeats: Defeats, pairs: list[Pair]) -> tuple[list[Pair], list[list[Pair]]]:
    """The pairs that no order of pairs rejects, and those in cycles, by the group of candidates that have them."""
    above = _as_flags(defeats).astype(np.float64)
    for a, b in pairs:
        above[a, b] = 1.0
    label = np.empty(len(defeats), np.int64)
    strong_components(above, label)
    groups = dict[int, list[Pair]]()
    for a, b in pairs:
        groups.setdefault(int(label[a]) if label[a] == label[b] else -1, []).append((a, b))
    return groups.pop(-1, []), list(groups.values())


def _open_pairs(defeats: Defeats, pairs: list[Pair]) -> list[Pair]:
    """The pairs that are neither implied nor contradicted."""
    return [(a, b) for a, b in pairs if not (defeats[a] >> b & 1 or defeats[b] >> a & 1)]


def _lock_all(defeats: Defeats, pairs: list[Pair]) -> Defeats | None:
    """The defeats with all the pairs; None if they contradict each other."""
    for a, b in pairs:
        if defeats[b] >> a & 1:
            return None
        defeats = _lock(defeats, (a, b))
    return defeats


def _lock_every(defeats: Defeats, pairs: list[Pair]) -> Defeats:
    """The defeats with all the pairs, which do not contradict each other."""
    for pair in pairs:
        defeats = _lock(defeats, pair)
    return defeats


def _lock(defeats: Defeats, pair: Pair) -> Defeats:
    """The defeats with one more pair, and all that follows from it."""
    a, b = pair
    if defeats[a] >> b & 1:
        return defeats
    below = defeats[b] | 1 << b
    return tuple(d | below if c == a or d >> a & 1 else d for c, d in enumerate(defeats))


def _no_defeats(n: int) -> Defeats:
    return (0,) * n


def _as_flags(defeats: Defeats) -> Flags:
    """[i, j]: whether i is above j."""
    n = len(defeats)
    width = (n + 7) // 8
    rows = np.frombuffer(b"".join(below.to_bytes(width, "little") for below in defeats), np.uint8)
    return np.unpackbits(rows.reshape(n, width), axis=1, count=n, bitorder="little").astype(bool)
