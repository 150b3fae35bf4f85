"""The cascade model: users go down the list, and stop after a click with a probability linear in the item's relevance.

P(click) = P(the user is still there, given the clicks so far) × relevance of the item. Whoever has not clicked on an
item may have left before it, so that the chance falls after every item that would probably have been clicked. The
relevance of pairs of query and item is as in the position-based model: one of the values of a grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.clicks.counts import ClickCounts, sums
from juryrank.clicks.log import ClickLog
from juryrank.clicks.relevance import RELEVANCE, ClickModel, Prior, fit_by_em
from juryrank.data.arrays import Floats, Ints

BINS = 50  # of the chance that an item was examined; impressions in the same bin count as examined alike
FIRST_STOP, FIRST_RELEVANCE = 0.3, 0.3  # where the estimate starts
STILL = 0.005  # a change of the probability to stop that is too small to matter
FIRST_STEP = 0.2  # of the search for that probability; it is smaller in later rounds
MOST_ROUNDS, MOST_TRIALS, SHARE_STEPS = 10, 40, 5
LARGEST_STOP = 0.98  # so that clicks after any click have a likelihood


@dataclass(frozen=True, eq=False, kw_only=True)
class Cascade:
    """A cascade model that was fitted to a log."""

    base: float  # the probability to stop after a click on an item of relevance r is base + slope × r
    slope: float
    stop: float  # that probability on average over the clicks
    examination: Floats  # [n_impressions] the chance that the item was examined, given the clicks above it
    counts: ClickCounts  # the same impressions; a cell is a bin of that chance
    model: ClickModel  # the examination of each bin, and the shares of relevance

    @property
    def log_likelihood(self) -> float:
        """Of all clicks, with the relevance of the pairs integrated out."""
        return self.model.posterior(self.counts)[1]

    def by_position(self, log: ClickLog) -> Floats:
        """The mean examination of each position of the log, ascending."""
        _, place = np.unique(log.position, return_inverse=True)
        n = int(place.max(initial=-1)) + 1
        return sums(place, self.examination, n) / np.maximum(np.bincount(place, minlength=n), 1)


def fit_cascade(log: ClickLog) -> Cascade | None:
    """The cascade model of a log by maximum likelihood; None where sessions are not known.

    In turns: the distribution of relevance and its posterior mean for each pair, and the probability to stop given
    these means.
    """
    if log.session is None or not len(log):
        return None
    impressions = _Impressions.of(log)
    stop, relevance = np.array([FIRST_STOP, 0.0]), np.full(len(impressions.pair_query), FIRST_RELEVANCE)
    shares = np.full(len(RELEVANCE), 1.0 / len(RELEVANCE))
    for n in range(MOST_ROUNDS):
        fitted = impressions.fitted(stop, relevance, shares)
        shares = fitted.model.shares
        relevance = fitted.model.posterior(fitted.counts)[0] @ RELEVANCE
        before, stop = stop, _likeliest_stop(impressions, relevance, stop, FIRST_STEP / (n + 1))
        if np.abs(stop - before).max() < STILL:
            break
    return impressions.fitted(stop, relevance, shares)


def _likeliest_stop(impressions: _Impressions, relevance: Floats, start: Floats, step: float) -> Floats:
    """Base and slope of the probability to stop of the largest likelihood, by the simplex search of Nelder and Mead."""
    from scipy.optimize import minimize

    found = minimize(
        lambda stop: -impressions.log_likelihood(stop, relevance), start, method="Nelder-Mead",
        options={"initial_simplex": start + step * np.array([[0, 0], [1, 0], [-0.5, 1]]), "maxfev": MOST_TRIALS,
                 "xatol": STILL, "fatol": 0.5},
    )  # fmt: skip
    best: Floats = found.x
    return best


def stop_after_click(stop: Floats, relevance: Floats) -> Floats:
    """The probability to stop after a click on items of this relevance, given base and slope."""
    probability: Floats = np.clip(stop[0] + stop[1] * relevance, 0.0, LARGEST_STOP)
    return probability


@dataclass(frozen=True, eq=False)
class _Impressions:
    """The impressions of a log, and those that are n-th in their session, for n from 0 on."""

    pair_query: Ints  # [n_pairs]
    pair_item: Ints  # [n_pairs]
    pair: Ints  # [n_impressions]
    clicked: NDArray[np.bool_]  # [n_impressions]
    by_place: list[Ints]

    @classmethod
    def of(cls, log: ClickLog) -> _Impressions:
        assert log.session is not None
        n_items = max(len(log.items), 1)
        pairs, pair = np.unique(log.query * n_items + log.item, return_inverse=True)
        first = np.flatnonzero(np.r_[True, log.session[1:] != log.session[:-1]])  # rows are sorted by session
        place = np.arange(len(log)) - np.repeat(first, np.diff(np.append(first, len(log))))
        order = np.argsort(place, kind="stable")
        by_place = np.split(order, np.cumsum(np.bincount(place))[:-1])
        return cls(pairs // n_items, pairs % n_items, pair, log.clicked, by_place)

    def examination(self, stop: Floats, relevance: Floats) -> Floats:
        """The chance that each item was examined, given the clicks above it: Bayes' rule, item by item."""
        chance = np.ones(len(self.pair))
        for here in self.by_place[1:]:
            above = here - 1
            missed = chance[above] * relevance[self.pair[above]]
            skipped = (chance[above] - missed) / np.maximum(1.0 - missed, 1e-12)
            left = stop_after_click(stop, relevance[self.pair[above]])
            chance[here] = np.where(self.clicked[above], 1.0 - left, skipped)
        return chance

    def log_likelihood(self, stop: Floats, relevance: Floats) -> float:
        """Of the clicks, given the relevance of each pair."""
        rate = self.examination(stop, relevance) * relevance[self.pair]
        return float(np.log(np.where(self.clicked, rate, 1.0 - rate)).sum())

    def fitted(self, stop: Floats, relevance: Floats, shares: Floats) -> Cascade:
        """The model with this probability to stop; its shares of relevance follow from those given by EM."""
        chance = self.examination(stop, relevance)
        used, cell = np.unique(np.minimum((chance * BINS).astype(np.int64), BINS - 1), return_inverse=True)
        by_cell = sums(cell, chance, len(used)) / np.bincount(cell, minlength=len(used))
        keys, row = np.unique(self.pair * len(used) + cell, return_inverse=True)
        counts = ClickCounts(
            pair_query=self.pair_query, pair_item=self.pair_item, positions=used, cell_position=np.arange(len(used)),
            cell_above=np.zeros(len(used), np.int64), pair=keys // len(used), cell=keys % len(used),
            shown=sums(row, np.ones(len(row)), len(keys)), clicks=sums(row, self.clicked.astype(np.float64), len(keys)),
        )  # fmt: skip
        start = ClickModel(by_cell, 1.0, np.maximum(shares, 1e-12))
        fit = fit_by_em(counts, start, Prior(by_cell, 0.0), fixed=True, max_iter=SHARE_STEPS)
        stops = stop_after_click(stop, relevance[self.pair[self.clicked]])
        average = float(stops.mean()) if len(stops) else 0.0
        base, slope = map(float, stop)
        return Cascade(base=base, slope=slope, stop=average, examination=chance, counts=counts, model=fit.model)
