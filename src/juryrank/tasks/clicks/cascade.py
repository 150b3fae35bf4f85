"""The cascade model: users go down the list, and stop after a click with a probability linear in the item's relevance.

P(click) = P(the user is still there, given the clicks so far) × relevance of the item. Whoever has not clicked on an
item may have left before it, so that the chance falls after every item that would probably have been clicked. Looking
back, all clicks of a session are known: what is above the last one was examined, and after it the user has either left,
or missed everything else. The relevance of items is estimated from that. It is as in the position-based model: one of
the values of a grid for each pair of query and item.

Users may also leave without a click, because they give up or have read enough: after each item that they examine and
miss, with a probability that is linear in its relevance, too. That model is used where the clicks show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.tasks.clicks.counts import ClickCounts, sums
from juryrank.tasks.clicks.log import ClickLog
from juryrank.tasks.clicks.relevance import LEAST, RELEVANCE, ClickModel, Prior, fit_by_em

BINS = 50  # of the chance that an item was examined; impressions in the same bin count as examined alike
FIRST_STOP, FIRST_RELEVANCE = 0.3, 0.3  # where the estimate starts
FIRST_LEAVE = 0.05  # the probability to leave after a miss, at the start
STILL = 0.001  # a mean change of relevance that is too small to matter
STOP_ERROR = 0.005  # of the probability to stop, in each search for it
FIRST_STEP = 0.2  # of that search, for both probabilities; it is smaller in later rounds
MOST_ROUNDS, TRIALS_EACH, SHARE_STEPS, HALVINGS = 30, 20, 5, 40
LARGEST_STOP = 0.98  # so that clicks after any click have a likelihood


@dataclass(frozen=True, eq=False, kw_only=True)
class Cascade:
    """A cascade model that was fitted to a log."""

    base: float  # the probability to stop after a click on an item of relevance r is base + slope × r
    slope: float
    stop: float  # that probability on average over the clicks
    leave: float  # the probability to leave after an examined miss, on average over the misses; 0 if nobody does
    examination: Floats  # [n_impressions] the chance that the item was examined, given the clicks above it
    log_likelihood: float  # of all clicks, with the relevance of the pairs integrated out
    counts: ClickCounts  # the same impressions; a cell is a bin of the chance given all other clicks of the session
    model: ClickModel  # the examination of each bin, and the shares of relevance

    @cached_property
    def examinations(self) -> Floats:
        """How often each pair was examined, in expectation, given all clicks and its most likely relevance.

        That is the r for which r = clicks / examinations, as an item that is often clicked was probably not examined
        where it was missed: clicks = Σ r e / (1 − r e) over its misses, where e is the chance given all other clicks.
        The right side grows with r, so that the root is found by bisection.
        """
        clicks, misses = self.counts.pair_clicks, self.counts.misses.tocoo()
        chance = self.model.by_cell(self.counts)[misses.col]
        low, high = np.zeros(len(clicks)), np.ones(len(clicks))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            expected = middle[misses.row] * chance
            above = clicks > sums(misses.row, misses.data * expected / (1.0 - expected), len(clicks))
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        seen = chance * (1.0 - low[misses.row]) / (1.0 - chance * low[misses.row])
        return clicks + sums(misses.row, misses.data * seen, len(clicks))

    def by_position(self, log: ClickLog) -> Floats:
        """The mean examination of each position of the log, ascending."""
        _, place = np.unique(log.position, return_inverse=True)
        n = int(place.max(initial=-1)) + 1
        return sums(place, self.examination, n) / np.maximum(np.bincount(place, minlength=n), 1)


def fit_cascade(log: ClickLog) -> Cascade | None:
    """The cascade model of a log by maximum likelihood; None where sessions are not known.

    Users leave without a click, too, if that raises the log-likelihood by more than its two parameters cost by the
    Bayesian information criterion.
    """
    if log.session is None or not len(log):
        return None
    impressions = Impressions.of(log)
    relevance = np.full(len(impressions.pair_query), FIRST_RELEVANCE)
    shares = np.full(len(RELEVANCE), 1.0 / len(RELEVANCE))
    found = _fit(impressions, np.array([FIRST_STOP, 0.0]), relevance, shares)
    leaving = _fit(impressions, np.append(found[0], [FIRST_LEAVE, 0.0]), *found[1:])
    plain, other = impressions.cascade(*found), impressions.cascade(*leaving)
    return other if other.log_likelihood > plain.log_likelihood + np.log(log.n_sessions) else plain


def _fit(impressions: Impressions, stop: Floats, relevance: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """The likeliest values of all three, from a start.

    In turns, until the relevance changes no more: its distribution and its posterior mean for each pair, given the
    clicks of the sessions in which the item was shown; and the probability to stop given these means.
    """
    for n in range(MOST_ROUNDS):
        counts, model = impressions.fitted(stop, relevance, shares)
        shares, before = model.shares, relevance
        relevance = model.posterior(counts)[0] @ RELEVANCE
        stop = _likeliest_stop(impressions, relevance, stop, FIRST_STEP / (n + 1))
        if np.abs(relevance - before).mean() < STILL:
            break
    return stop, relevance, shares


def _likeliest_stop(impressions: Impressions, relevance: Floats, start: Floats, step: float) -> Floats:
    """Base and slope of the probabilities of the largest likelihood, by the simplex search of Nelder and Mead."""
    from scipy.optimize import minimize

    corners = np.kron(np.eye(len(start) // 2), [[1.0, 0.0], [-0.5, 1.0]])
    found = minimize(
        lambda stop: -impressions.log_likelihood(stop, relevance), start, method="Nelder-Mead",
        options={"initial_simplex": start + step * np.vstack([np.zeros(len(start)), corners]),
                 "maxfev": TRIALS_EACH * len(start), "xatol": STOP_ERROR, "fatol": 0.5},
    )  # fmt: skip
    best: Floats = found.x
    return best


def stop_after_click(stop: Floats, relevance: Floats) -> Floats:
    """The probability to stop after a click on items of this relevance, given base and slope."""
    probability: Floats = np.clip(stop[0] + stop[1] * relevance, 0.0, LARGEST_STOP)
    return probability


def leave_after_miss(stop: Floats, relevance: Floats) -> Floats:
    """The probability to leave after an examined miss of this relevance: 0 if ``stop`` has no base and slope of it."""
    return stop_after_click(stop[2:], relevance) if len(stop) > 2 else np.zeros(len(relevance))


@dataclass(frozen=True, eq=False)
class Impressions:
    """The impressions of a log, and those that are n-th in their session, for n from 0 on."""

    pair_query: Ints  # [n_pairs]
    pair_item: Ints  # [n_pairs]
    pair: Ints  # [n_impressions]
    clicked: NDArray[np.bool_]  # [n_impressions]
    by_place: list[Ints]
    tail: Ints  # impressions below the last click of a session; all of a session without a click

    @classmethod
    def of(cls, log: ClickLog) -> Impressions:
        assert log.session is not None
        n_items = max(len(log.items), 1)
        pairs, pair = np.unique(log.query * n_items + log.item, return_inverse=True)
        new = np.r_[True, log.session[1:] != log.session[:-1]]  # rows are sorted by session
        session, number = np.cumsum(new) - 1, np.arange(len(log))
        place = number - np.flatnonzero(new)[session]
        order = np.argsort(place, kind="stable")
        by_place = np.split(order, np.cumsum(np.bincount(place))[:-1])
        last = np.full(int(session[-1]) + 1, -1)
        last[session[log.clicked]] = number[log.clicked]  # the last of several values is kept
        tail = np.flatnonzero(number > last[session])
        return cls(pairs // n_items, pairs % n_items, pair, log.clicked, by_place, tail)

    def examination(self, stop: Floats, relevance: Floats) -> Floats:
        """The chance that each item was examined, given the clicks above it: Bayes' rule, item by item."""
        chance = np.ones(len(self.pair))
        for here in self.by_place[1:]:
            above = here - 1
            r = relevance[self.pair[above]]
            missed = chance[above] * r
            skipped = (chance[above] - missed) / np.maximum(1.0 - missed, 1e-12) * (1.0 - leave_after_miss(stop, r))
            chance[here] = np.where(self.clicked[above], 1.0 - stop_after_click(stop, r), skipped)
        return chance

    def log_likelihood(self, stop: Floats, relevance: Floats) -> float:
        """Of the clicks, given the relevance of each pair."""
        rate = self.examination(stop, relevance) * relevance[self.pair]
        return float(np.log(np.where(self.clicked, rate, 1.0 - rate)).sum())

    def presence(self, stop: Floats, relevance: Floats) -> Floats:
        """The chance that each item was examined, given all other clicks and misses of its session.

        It is 1 down to the last click. Below, users have left somewhere above, or they are still there and have missed
        all other items until they left.
        """
        leave, miss = leave_after_miss(stop, relevance)[self.pair], 1.0 - relevance[self.pair]
        below = np.ones(len(self.pair))  # the chance of the misses below, if the item was examined and missed
        for here in reversed(self.by_place[1:]):
            below[here - 1] = leave[here - 1] + (1.0 - leave[here - 1]) * miss[here] * below[here]
        before = self.examination(stop, relevance)[self.tail]
        still = before * np.maximum(below[self.tail], 1e-300)
        chance = np.ones(len(self.pair))
        chance[self.tail] = np.maximum(still / (still + (1.0 - before)), LEAST)
        return chance

    def binned(self, chance: Floats, shares: Floats) -> tuple[ClickCounts, ClickModel]:
        """Counts of the impressions by bins of the chance that they were examined, and a model of these bins."""
        used, cell = np.unique(np.minimum((chance * BINS).astype(np.int64), BINS - 1), return_inverse=True)
        by_cell = sums(cell, chance, len(used)) / np.bincount(cell, minlength=len(used))
        keys, row = np.unique(self.pair * len(used) + cell, return_inverse=True)
        counts = ClickCounts(
            pair_query=self.pair_query, pair_item=self.pair_item, positions=used, cell_position=np.arange(len(used)),
            cell_above=np.zeros(len(used), np.int64), pair=keys // len(used), cell=keys % len(used),
            shown=sums(row, np.ones(len(row)), len(keys)), clicks=sums(row, self.clicked.astype(np.float64), len(keys)),
        )  # fmt: skip
        return counts, ClickModel(by_cell, 1.0, shares)

    def fitted(self, stop: Floats, relevance: Floats, shares: Floats) -> tuple[ClickCounts, ClickModel]:
        """Counts by the chance given all other clicks, and shares of relevance that follow from those given by EM."""
        counts, start = self.binned(self.presence(stop, relevance), np.maximum(shares, 1e-12))
        fit = fit_by_em(counts, start, Prior(start.examination, 0.0), fixed=True, max_iter=SHARE_STEPS)
        return counts, fit.model

    def cascade(self, stop: Floats, relevance: Floats, shares: Floats) -> Cascade:
        """The model with these probabilities to stop and to leave."""
        counts, model = self.fitted(stop, relevance, shares)
        chance = self.examination(stop, relevance)
        by_chance, forward = self.binned(chance, model.shares)
        stops = stop_after_click(stop, relevance[self.pair[self.clicked]])
        missed, leaves = chance * ~self.clicked, leave_after_miss(stop, relevance)[self.pair]
        return Cascade(
            base=float(stop[0]),
            slope=float(stop[1]),
            stop=float(stops.mean()) if len(stops) else 0.0,
            leave=float(missed @ leaves / max(missed.sum(), 1e-300)),
            examination=chance,
            log_likelihood=forward.posterior(by_chance)[1],
            counts=counts,
            model=model,
        )
