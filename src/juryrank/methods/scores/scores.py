"""Shared by the combinations of scores: normalised scores of the entries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.positional import LARGE, rescale, scaling_exponents, score_ranges
from juryrank.kernels.ragged import put_last
from juryrank.methods.base import Aggregator, missing_param
from juryrank.methods.formula import Formula, ListNumbers, QueryList, ScoredEntries
from juryrank.params import param

START, NO_SCORES = np.zeros(1, np.int64), np.empty(0)

NORMS = {
    "min-max": "(score - min) / (max - min) in each list; a list of equal scores gives 1",
    "max": "score / |max| in each list",
    "sum": "(score - min) / sum of (score - min) in each list",
    "z-score": "(score - mean) / standard deviation in each list; a list of equal scores gives 0",
    "rank": "1 - (place - 1) / length of the list",
    "borda": "1 - (place - 1) / items of the query",
    "dbsf": "from mean - 3 sd to mean + 3 sd in each list (Qdrant, sd with n - 1); a list of equal scores gives 0.5",
    "none": "scores as they are",
}


@dataclass(kw_only=True)
class Comb(Aggregator):
    """Score = a combination of the normalised scores that the lists give the item.

    Lists without scores get the score (worst rank + 1 - rank). An item that no list ranks comes last.
    """

    uses_scores = True
    rule: ClassVar[str]  # of ``Formula``
    norm: str = param("min-max", "; ".join(f"{n}: {doc}" for n, doc in NORMS.items()), choices=tuple(NORMS))
    missing: str = missing_param("ignore", "ignore", "last")

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        score = normalise_scores(r, self.norm)
        absent = np.full(r.n_lists, np.nan)
        if self.missing == "last" and r.n_lists:
            absent = np.minimum.reduceat(score, r.entry_ptr[:-1])
        self._combine(r, score, absent, out)
        put_last(r.slot_ptr, r.slot_lists == 0, out)

    def formula(self) -> Formula:
        """What ``_combine`` computes; a subclass that changes one changes both."""
        own = type(self)._numbers is not Comb._numbers  # a subclass that changes one may not know of the other
        of_all = None if own else self._numbers_of_all
        return Formula(self.rule, self._numbers, self._weights_by_name(), numbers_of_all=of_all)

    def _numbers(self, listed: QueryList) -> ListNumbers:
        scores = normalise_list(listed, self.norm)
        return ListNumbers(scores, min(scores) if self.missing == "last" else None, listed.weight)

    def _numbers_of_all(self, entries: ScoredEntries) -> tuple[Floats, Floats | None] | None:
        scores = normalise_entries(entries, self.norm)
        return None if scores is None else (scores, scores[entries.ptr[1:] - 1] if self.missing == "last" else None)

    @abstractmethod
    def _combine(self, rankings: Rankings, score: Floats, absent: Floats, out: Floats) -> None:
        """Write the combination of the entries' ``score``; a list gives ``absent`` (NaN: nothing) to the rest."""


def normalise_scores(rankings: Rankings, norm: str) -> Floats:
    """The scores of the entries, made comparable between lists."""
    r = rankings
    if not r.n_entries:
        return np.empty(0)
    if norm in ("rank", "borda"):
        size = r.list_size if norm == "rank" else r.query_size[r.list_query]
        return 1.0 - (r.entry_place - 1.0) / np.repeat(size, r.list_size)
    score = entry_scores(r)
    if norm == "none":
        return score
    start, low, high = r.entry_ptr[:-1], np.empty(r.n_lists), np.empty(r.n_lists)
    score_ranges(r.list_ptr, r.entry_ptr, score, low, high)
    score = _bring_into_range(r, score, low, high)
    return _scale(r, score, *_list_scale(norm, score, start, r.list_size, low, high))


def normalise_list(listed: QueryList, norm: str) -> Sequence[float]:
    """The same for one list, in plain Python."""
    if norm in ("rank", "borda"):
        size = listed.size if norm == "rank" else listed.n_items
        return [1.0 - (place - 1.0) / size for place in listed.places]
    scores = listed.scores
    if scores is None:
        top = listed.ranks[-1] + 1.0  # lists by rank are in order
        scores = [top - rank for rank in listed.ranks]
    if norm == "none":
        return scores
    low, high = min(scores), max(scores)
    largest = max(-low, high)
    if largest > LARGE or 0.0 < largest < 1 / LARGE:
        scores = np.ldexp(scores, scaling_exponents(largest)).tolist()
        low, high = min(scores), max(scores)
    if norm in ("min-max", "max"):
        origin, width, flat = _list_scale(norm, NO_SCORES, START, listed.size, low, high)
    else:
        in_order = np.array(sorted(scores, reverse=True))  # in which a Dataset adds them
        scale = _list_scale(norm, in_order, START, listed.size, low, high)
        origin, width, flat = (float(np.ravel(number)[0]) for number in scale)
    return [(score - origin) / width for score in scores] if width > 0.0 else [flat] * listed.size


def normalise_entries(entries: ScoredEntries, norm: str) -> Floats | None:
    """The same for all lists of a query at once; None where scores are extreme or all equal, or places are shared."""
    score, ptr, n_items, tied = entries
    if norm == "none":
        return score
    start, stop = ptr[:-1], ptr[1:]
    size = stop - start  # methods of arrays and not functions: for one query, these take longer than the numbers
    if norm in ("rank", "borda"):
        place = np.arange(len(score)) - start.repeat(size)
        return None if tied else 1.0 - place / (size.repeat(size) if norm == "rank" else n_items)
    low, high = score[stop - 1], score[start]
    for largest in map(max, (-low).tolist(), high.tolist()):
        if largest > LARGE or 0.0 < largest < 1 / LARGE:
            return None
    origin, width, _ = _list_scale(norm, score, start, size, low, high)
    if 0.0 in width.tolist():
        return None
    scaled: Floats = (score if norm == "max" else score - origin.repeat(size)) / width.repeat(size)
    return scaled


def _list_scale(norm: str, score: Floats, start: Ints, size: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """The origin and the width of each list's scores, and what every item of a list gets whose width is 0.

    A normalised score is (score - origin) / width. The scores of list m begin at ``start[m]``, the best first; ``low``
    and ``high`` are its extremes. ``min-max`` and ``max`` look at these two alone, which may be plain numbers.
    """
    if norm == "min-max":
        return low, high - low, 1.0
    if norm == "max":
        return 0.0, abs(high), 0.0
    if norm == "sum":
        return low, np.add.reduceat(score - np.repeat(low, size), start), 1.0 / size
    mean = np.add.reduceat(score, start) / size
    squares = np.add.reduceat((score - np.repeat(mean, size)) ** 2, start)
    constant = high == low  # a mean of equal numbers may differ from them in the last bit
    if norm == "z-score":
        return mean, np.where(constant, 0.0, np.sqrt(squares / size)), 0.0
    sd = np.where(constant, 0.0, np.sqrt(squares / np.maximum(size - 1, 1)))
    return mean - 3 * sd, 6 * sd, 0.5


def _bring_into_range(r: Rankings, score: Floats, low: Floats, high: Floats) -> Floats:
    """Scale scores (and their extremes, in place) to about 1 in lists where sums of squares would overflow.

    Norms do not depend on the scale of a list.
    """
    power = scaling_exponents(np.maximum(-low, high))
    if not power.any():
        return score
    low[:], high[:] = np.ldexp(low, power), np.ldexp(high, power)
    near_1: Floats = np.ldexp(score, np.repeat(power, r.list_size))
    return near_1


def entry_scores(r: Rankings) -> Floats:
    """The scores of the entries, or the ranks counted from the worst rank of the list upwards."""
    if r.entry_score is not None:
        return r.entry_score
    return np.repeat(r.entry_rank[r.entry_ptr[1:] - 1] + 1.0, r.list_size) - r.entry_rank


def _scale(r: Rankings, score: Floats, origin: Floats, width: Floats, flat: float | Floats) -> Floats:
    """(score - origin) / width by list, and ``flat`` in lists whose width is 0."""
    out = np.empty(r.n_entries)
    by_list = (np.full(r.n_lists, number, np.float64) for number in (origin, width, flat))
    rescale(r.list_ptr, r.entry_ptr, score, *by_list, out)
    return out
