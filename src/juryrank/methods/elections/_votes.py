"""Exact numbers of votes, so that candidates tie if and only if the rule says so.

Votes are whole numbers of a unit that all weights, and all shares of them, are multiples of.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints

Votes = NDArray[Any]  # int64, or an object array with the integers of Python where these may be large
MAX_DENOMINATOR, ROUNDING = 1_000_000, Fraction(1, 10**14)  # of proportions of weights
EXACT = 1 << 53  # sums of whole numbers below this are exact in double precision, which np.bincount uses


class Tally(NamedTuple):
    """The votes of each candidate, as multiples of 1 / ``unit``."""

    numbers: Votes
    unit: Fraction  # how many of these are one vote

    def as_floats(self) -> Floats:
        """The numbers of votes; those of candidates that tie are equal."""
        if self.numbers.dtype == object:
            return np.array([float(int(number) / self.unit) for number in self.numbers], float)
        return self.numbers / float(self.unit)


def exact_votes(weights: Floats, factor: int = 1) -> tuple[Votes, Fraction]:
    """Weights as whole numbers, and how many of them are one vote.

    Weights in simple proportions have exactly these: 0.1, 0.2 and 0.3, or a third, two thirds and one, are 1, 2 and 3
    units. Other weights are the decimal numbers that they print as. ``factor`` limits the products that are formed
    later: up to so many times all votes.

    >>> exact_votes(np.array([1.0, 0.1, 0.25]))
    (array([20,  2,  5]), Fraction(20, 1))
    """
    limit = EXACT // max(factor, 1)
    if (np.rint(weights) == weights).all() and weights.sum() < limit:
        return weights.astype(np.int64), Fraction(1)
    distinct, at = np.unique(weights, return_inverse=True)
    parts = _proportions(distinct) or [Fraction(repr(weight)) for weight in distinct.tolist()]
    common = lcm(*(part.denominator for part in parts))
    numbers = np.empty(len(parts), object)
    numbers[:] = [int(part * common) for part in parts]
    votes = numbers[at]
    unit = int(numbers[-1]) / Fraction(repr(float(distinct[-1])))
    return (votes.astype(np.int64) if votes.sum() < limit else votes), unit


def _proportions(weights: Floats) -> list[Fraction]:
    """The weights as multiples of the smallest that is not 0, up to rounding; empty if these are not simple."""
    exact = [Fraction(weight) for weight in weights.tolist()]
    smallest = min((weight for weight in exact if weight > 0), default=Fraction(1))
    simple = [(weight / smallest).limit_denominator(MAX_DENOMINATOR) for weight in exact]
    close = all(
        abs(weight - part * smallest) <= ROUNDING * abs(weight) for weight, part in zip(exact, simple, strict=True)
    )
    return simple if close else []


def add_up(at: Ints, votes: Votes, n: int) -> Votes:
    """The sum of the votes at each of ``n`` places."""
    if votes.dtype == object:
        out: Votes = np.zeros(n, object)
        np.add.at(out, at, votes)
        return out
    return np.rint(np.bincount(at, votes, minlength=n)).astype(np.int64)


def share_out(cand: Ints, sharers: Ints, votes: Votes, n: int, unit: Fraction) -> Tally:
    """The votes of ``n`` candidates, where ``cand[i]`` gets ``votes[i] / sharers[i]``; ``unit`` is one vote.

    >>> share_out(np.array([0, 1, 2]), np.array([2, 2, 1]), np.array([5, 5, 4]), 3, Fraction(1)).as_floats()
    array([2.5, 2.5, 4. ])
    """
    if not len(cand) or sharers.max() == 1:
        return Tally(add_up(cand, votes, n), unit)
    distinct, at = np.unique(sharers, return_inverse=True)
    counts = add_up(at * n + cand, votes, len(distinct) * n).reshape(len(distinct), n)
    common = lcm(*distinct.tolist())
    if counts.dtype != object and common * int(np.abs(votes).sum()) >= EXACT:
        counts = counts.astype(object)
    factors = np.array([common // size for size in distinct.tolist()], counts.dtype)
    return Tally((counts * factors[:, None]).sum(axis=0), unit * common)
