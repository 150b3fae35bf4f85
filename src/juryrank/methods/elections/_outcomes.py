"""Who would win if ties within a count fell otherwise: every way to break them is followed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

S = TypeVar("S")
Winners = frozenset[int]

MOST = 1000  # states of a count that are followed
WORK = 1_000_000  # states times ballots


def all_winners(
    start: S, step: Callable[[S], tuple[list[S], Iterable[Winners]]], key: Callable[[S], Hashable], ballots: int
) -> tuple[set[Winners], bool]:
    """The winners of each outcome, and whether all ways to break ties were followed.

    ``step`` has the states that may follow, or none and the possible winners where the count ends; states with an equal
    ``key`` go on alike.
    """
    found, seen, ahead = set[Winners](), {key(start)}, [start]
    limit = max(10, min(MOST, WORK // max(ballots, 1)))
    while ahead:
        following, winners = step(ahead.pop())
        found.update(winners)
        for state in following:
            if (mark := key(state)) not in seen:
                if len(seen) == limit:
                    return found, False
                seen.add(mark)
                ahead.append(state)
    return found, True


def contested(outcomes: Iterable[Winners]) -> Winners:
    """Who wins in some of the outcomes, but not in all of them."""
    groups = list(outcomes)
    return frozenset[int]().union(*groups) - frozenset.intersection(*groups)
