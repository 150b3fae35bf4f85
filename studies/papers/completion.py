"""Ratings completed for every user and item, and the NDCG of one ranking (WWW 2012, equations 15 and 16)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import juryrank as jr
from studies.arrays import entry_list

Matrix = NDArray[np.float64]

FACTORS, RIDGE, ROUNDS, SEED = 5, 10.0, 15, 0  # chosen on held-out ratings, a tenth of all


def observed(r: jr.Rankings) -> Matrix:
    """Ratings [users, items]; NaN if a user did not rate."""
    assert r.entry_score is not None
    ratings = np.full((len(r.experts), r.n_slots), np.nan)
    ratings[r.list_expert[entry_list(r)], r.entry_slot] = r.entry_score
    return ratings


def factorised(ratings: Matrix, factors: int = FACTORS, ridge: float = RIDGE, rounds: int = ROUNDS) -> Matrix:
    """Probabilistic matrix factorisation: the most probable factors under normal priors, by alternating least squares.

    Each user and each item has a factor that is 1, so the offset of the other side is learned with its factors.
    """
    known = ~np.isnan(ratings)
    mean = float(ratings[known].mean())
    centred = np.where(known, ratings - mean, 0.0)
    rng = np.random.default_rng(SEED)
    user = rng.normal(0, 0.1, (ratings.shape[0], factors + 2))
    item = rng.normal(0, 0.1, (ratings.shape[1], factors + 2))
    user[:, 0], item[:, 1] = 1.0, 1.0
    for _ in range(rounds):
        _solve(user, item, centred, known, ridge, fixed=0)
        _solve(item, user, centred.T, known.T, ridge, fixed=1)
    return np.clip(mean + user @ item.T, ratings[known].min(), ratings[known].max())


def _solve(side: Matrix, other: Matrix, centred: Matrix, known: NDArray[np.bool_], ridge: float, fixed: int) -> None:
    """The best factors of one side for those of the other; column ``fixed`` of the side stays 1."""
    free = [column for column in range(side.shape[1]) if column != fixed]
    for n in range(len(side)):
        x = other[known[n]]
        left = centred[n, known[n]] - x[:, fixed]
        x = x[:, free]
        side[n, free] = np.linalg.solve(x.T @ x + ridge * np.eye(len(free)), x.T @ left)


def held_out_error(ratings: Matrix, share: float = 0.1) -> float:
    """Root mean squared error of the factorisation on held-out ratings."""
    user, item = np.nonzero(~np.isnan(ratings))
    out = np.random.default_rng(SEED).random(len(user)) < share
    seen = ratings.copy()
    seen[user[out], item[out]] = np.nan
    guess = factorised(seen)
    return float(np.sqrt(np.mean((guess - ratings)[user[out], item[out]] ** 2)))


def completed(ratings: Matrix, fill: Matrix | float) -> Matrix:
    """Observed ratings, and ``fill`` elsewhere."""
    return np.where(np.isnan(ratings), fill, ratings)


def discounted(gained: Matrix) -> Matrix:
    """Sums of 2 ** rating - 1 with discounts, at 1 … depth: [users, depth]."""
    sums: Matrix = np.cumsum((2.0**gained - 1) / np.log2(np.arange(gained.shape[1]) + 2.0), axis=1)
    return sums


def ideal(ratings: Matrix, depth: int) -> Matrix:
    """The discounted sums of the highest ratings of every user."""
    return discounted(-np.sort(-np.partition(ratings, -depth, axis=1)[:, -depth:], axis=1))


def ndcg(ratings: Matrix, best: Matrix, order: NDArray[np.int64]) -> Matrix:
    """NDCG of one order of the items, for every user and as deep as the ideal ``best``: [users, depth]."""
    found = discounted(ratings[:, order[: best.shape[1]]])
    share: Matrix = np.divide(found, best, out=np.zeros_like(best), where=best > 0)
    return share
