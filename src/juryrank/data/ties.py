"""Ties: which items share a place, and the declared rules that break ties."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.data.rankings import Rankings
from juryrank.errors import ParameterError
from juryrank.kernels.ragged import parents

RULES = ("none", "name", "random", "given")
STEP = 1e-6  # of the largest score of a query: small beside scores, and more than single precision rounds off

TieBreak = str | Sequence[str]  # a rule, or item names in the order in which ties go to them


def tie_order(
    names: Sequence[str], rule: str, seed: int = 0, order: Sequence[str] = (), *, query: str = ""
) -> list[str]:
    """The names in the order in which a tie goes to them: by name, at random with a seed, or as ``order`` has them.

    A random order depends on the seed, the query and the names alone, not on the order in which they are given.

    >>> tie_order(["b", "c", "a"], "name"), tie_order(["a", "b"], "given", order=["c", "b", "a"])
    (['a', 'b', 'c'], ['b', 'a'])
    """
    if rule == "name":
        return sorted(names)
    if rule == "random":
        return sorted(names, key=lambda name: (_lot(seed, query, name), name))
    if rule == "given":
        place = {name: at for at, name in enumerate(order)}
        if missing := [name for name in names if name not in place]:
            where = f"query {query!r} ties" if query else "there is a tie of"
            raise ParameterError(
                f"the order for breaking ties must name every tied item; {where} {missing[0]!r}, which it leaves out"
            )
        return sorted(names, key=place.__getitem__)
    raise ParameterError(f"a rule that breaks ties is one of {', '.join(RULES[1:])}, got {rule!r}")


def split_rule(rule: TieBreak) -> tuple[str, tuple[str, ...]]:
    """The rule and the given order of a rule's name or a sequence of item names.

    >>> split_rule("name"), split_rule(["b", "a"])
    (('name', ()), ('given', ('b', 'a')))
    """
    if isinstance(rule, str):
        if rule not in ("none", "name", "random"):
            raise ParameterError(f"a rule for ties is none, name, random or a sequence of item names, got {rule!r}")
        return rule, ()
    order = tuple(rule)
    if not all(isinstance(name, str) for name in order):
        raise ParameterError(f"an order for breaking ties has names of items, got {rule!r}")
    if len(set(order)) < len(order):
        raise ParameterError(f"an order for breaking ties names each item once, got {list(order)}")
    return "given", order


def continues_tie(ptr: Ints, scores: Floats) -> NDArray[np.bool_]:
    """Of scores from best to worst, query by query: whether each equals the one before it in its query."""
    out = np.zeros(len(scores), bool)
    out[1:] = scores[1:] == scores[:-1]
    out[ptr[:-1][np.diff(ptr) > 0]] = False
    return out


def tied_ranks(ptr: Ints, scores: Floats) -> Ints:
    """The ranks of scores from best to worst, query by query; equal scores share the best of their places.

    >>> tied_ranks(np.array([0, 3, 4]), np.array([2.0, 2.0, 1.0, 1.0])).tolist()
    [1, 1, 3, 1]
    """
    first = np.maximum.accumulate(np.where(continues_tie(ptr, scores), 0, np.arange(len(scores))))
    ranks: Ints = first - ptr[parents(ptr)] + 1
    return ranks


def tie_groups(r: Rankings, scores: Floats, order: Ints) -> dict[str, list[list[str]]]:
    """The groups of two or more items with equal scores of each query, best first; names in a group are sorted.

    ``order`` has the slots of each query from best to worst.
    """
    out: dict[str, list[list[str]]] = {query: [] for query in r.queries}
    of_query = parents(r.slot_ptr)
    for start, stop in tie_bounds(r.slot_ptr, scores[order]):
        out[r.queries[of_query[start]]].append(sorted(r.items[r.slot_item[order[start:stop]]].tolist()))
    return out


def tie_bounds(ptr: Ints, scores: Floats) -> list[tuple[int, int]]:
    """Where each group of two or more equal scores begins and ends, of scores from best to worst by query."""
    same = np.append(continues_tie(ptr, scores), False).astype(np.int8)
    change = np.diff(same, prepend=np.int8(0))
    starts, stops = np.flatnonzero(change == 1) - 1, np.flatnonzero(change == -1)
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def without_ties(r: Rankings, scores: Floats, order: Ints, rule: TieBreak, seed: int = 0) -> Floats:
    """One score per slot, in which the items that were tied differ by small steps, in the order of the rule.

    A step is a millionth of the largest score of the query, or less where the next score is near; other scores stay.
    """
    name, given = split_rule(rule)
    scores, order = scores.copy(), order.copy()
    if name == "none":
        return scores
    falling_scores, of_query = scores[order], parents(r.slot_ptr)
    for start, stop in tie_bounds(r.slot_ptr, scores[order]):
        query, slots = of_query[start], order[start:stop].copy()
        names = r.items[r.slot_item[slots]].tolist()
        slot_of = dict(zip(names, slots.tolist(), strict=True))
        order[start:stop] = [slot_of[n] for n in tie_order(names, name, seed, given, query=r.queries[query])]
        lo, hi = int(r.slot_ptr[query]), int(r.slot_ptr[query + 1])
        step = STEP * float(np.abs(falling_scores[[lo, hi - 1]]).max() or 1.0)
        if stop < hi:
            step = min(step, (float(falling_scores[start]) - float(falling_scores[stop])) / (stop - start))
        falling_scores[start:stop] -= step * np.arange(stop - start)
    scores[order] = falling(r.slot_ptr, falling_scores)
    return scores


def falling(ptr: Ints, scores: Floats) -> Floats:
    """The scores, each that is not below the one before it in its query lowered to the next number below that one."""
    out = scores.copy()
    rises = np.flatnonzero(out[1:] >= out[:-1]) + 1
    first = np.zeros(len(out) + 1, bool)
    first[ptr] = True
    for start in rises[~first[rises]].tolist():
        place = start
        while place < len(out) and not first[place] and out[place] >= out[place - 1]:
            out[place] = np.nextafter(out[place - 1], -np.inf)
            place += 1
    return out


def _lot(seed: int, query: str, name: str) -> bytes:
    """A number for a name, drawn from the seed: the same in every process and on every machine."""
    return blake2b("\0".join((str(seed), query, name)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
