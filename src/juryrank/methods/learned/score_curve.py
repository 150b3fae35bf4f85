"""The scores of lists as a curve: above the lowest of the list, in units of a standard deviation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError


def score_scales(rankings: Rankings) -> dict[str, float]:
    """The typical standard deviation of the scores in a list of each expert: the root of the mean variance.

    Lists of one item are left out; an expert that has no others is not named.
    """
    return scales_of(score_deviations(rankings))


def score_deviations(rankings: Rankings) -> dict[str, Floats]:
    """The standard deviation of the scores in each list of two items or more, by expert."""
    r = rankings
    deviation = _above_lowest(r)[1]
    found = {r.experts[k]: deviation[(r.list_expert == k) & (r.list_size > 1)] for k in np.unique(r.list_expert)}
    return {name: of_lists for name, of_lists in found.items() if len(of_lists)}


def scales_of(deviations: Mapping[str, Floats]) -> dict[str, float]:
    """The root of the mean square of each expert's deviations."""
    scales = {}
    for name, of_lists in deviations.items():
        largest = of_lists.max()  # so that squares are finite
        scales[name] = float(largest * np.sqrt(np.mean((of_lists / (largest or 1.0)) ** 2)))
    return scales


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
