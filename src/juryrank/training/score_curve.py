"""The scores of lists as a curve: above the lowest of the list, in units of a standard deviation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError


class Spread(NamedTuple):
    """The scores of an expert's lists of several items; spreads of parts of the lists can be added."""

    lists: float
    largest: float  # standard deviation of a list
    squares: float  # of the deviations, in units of the largest: so they are finite

    @property
    def typical(self) -> float:
        """The root of the mean variance."""
        return float(self.largest * np.sqrt(self.squares / self.lists))

    def add(self, other: Spread) -> Spread:
        """The spread of the lists of both."""
        largest = max(self.largest, other.largest)
        squares = sum(part.squares * (part.largest / (largest or 1.0)) ** 2 for part in (self, other))
        return Spread(self.lists + other.lists, largest, squares)


def score_spreads(rankings: Rankings) -> dict[str, Spread]:
    """The spread of the scores in the lists of each expert.

    Lists of one item are left out; an expert that has no others is not named.
    """
    r = rankings
    deviation = _above_lowest(r)[1]
    spreads = {}
    for expert in np.unique(r.list_expert):
        of_lists = deviation[(r.list_expert == expert) & (r.list_size > 1)]
        if len(of_lists):
            largest = of_lists.max()
            squares = ((of_lists / (largest or 1.0)) ** 2).sum()
            spreads[r.experts[expert]] = Spread(float(len(of_lists)), float(largest), float(squares))
    return spreads


def score_scales(rankings: Rankings) -> dict[str, float]:
    """The typical standard deviation of the scores in a list of each expert with a list of several items."""
    return {name: spread.typical for name, spread in score_spreads(rankings).items()}


def score_curve(rankings: Rankings, scales: Mapping[str, float]) -> Floats:
    """For each entry, (score − lowest score of the list) / max(scale of the expert, standard deviation of the list).

    An expert without a scale has that of each list. The curve is 0 in lists of equal scores.
    """
    r = rankings
    above, deviation = _above_lowest(r)
    scale = np.array([scales.get(name, 0.0) for name in r.experts])[r.list_expert]
    unit = np.maximum(scale, deviation)
    curve: Floats = above / np.repeat(np.where(unit > 0, unit, 1.0), r.list_size)
    return curve


def _above_lowest(r: Rankings) -> tuple[Floats, Floats]:
    """The score of each entry less the lowest of its list, and the standard deviation of the scores of each list."""
    if r.entry_score is None:
        if r.n_entries:
            text = "with scores=true all lists need scores, and these have ranks only"
            raise DataError(f"{text}; give lists with scores, or fit with scores=false")
        return np.zeros(0), np.zeros(r.n_lists)
    some = r.list_size > 0
    start, size = r.entry_ptr[:-1][some], r.list_size[some]
    with np.errstate(over="ignore"):
        above = r.entry_score - np.repeat(np.minimum.reduceat(r.entry_score, start), size)
    span = np.maximum.reduceat(above, start)
    if not np.isfinite(span).all():
        raise DataError(f"the scores of a list must differ by less than {np.finfo(np.float64).max:.1e}")
    share = above / np.repeat(np.where(span > 0, span, 1.0), size)  # so that squares are finite
    mean = np.add.reduceat(share, start) / size
    deviation = np.zeros(r.n_lists)
    deviation[some] = span * np.sqrt(np.add.reduceat((share - np.repeat(mean, size)) ** 2, start) / size)
    return above, deviation
