"""Significance tests of paired differences (t-test, randomisation test), with the Holm correction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats

EXACT_UP_TO = 16  # pairs: 65,536 sign patterns
FLIPS = 100_000
MOST_SIGNS = 1 << 22  # at a time, as float64: 32 MB
CHUNK = 2_000
SAME = 1e-12  # differences within rounding error are ties


def t_test(difference: Floats) -> float:
    """Two-sided p of the paired t-test; NaN for fewer than two pairs, 1 if all differences are 0.

    >>> round(t_test(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    from scipy.special import stdtr

    d = _drop_nan(difference)
    if len(d) < 2:
        return float("nan")
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
    if error <= SAME * abs(mean):
        return 1.0 if abs(mean) <= SAME else 0.0
    return float(2 * stdtr(len(d) - 1, -abs(mean) / error))


def half_width(difference: Floats, level: float = 0.95) -> float:
    """Half the width of the confidence interval of the mean, by the t distribution; NaN for fewer than two pairs.

    >>> round(half_width(np.array([1.0, 2.0, 3.0])), 4)
    2.4841
    """
    from scipy.special import stdtrit

    d = _drop_nan(difference)
    if len(d) < 2:
        return float("nan")
    return float(stdtrit(len(d) - 1, (1 + level) / 2) * d.std(ddof=1) / np.sqrt(len(d)))


def randomisation(difference: Floats, *, seed: int = 0) -> float:
    """Two-sided p of Fisher's randomisation test: how often random signs give a mean at least as far from 0.

    Exact up to 16 pairs that differ; above that, 100,000 random draws, of which the observed signs count as one.

    >>> randomisation(np.array([1.0, 2.0, 3.0]))
    0.25
    """
    return float(randomisations(difference[:, None], seed=seed)[0])


def randomisations(differences: NDArray[np.float64], *, seed: int = 0) -> Floats:
    """The same for each column of ``differences`` [n_pairs, n_tests], with the same draws for all."""
    d = np.where(np.isnan(differences) | (np.abs(differences) <= SAME), 0.0, differences)
    out = np.ones(d.shape[1])
    out[np.isnan(differences).all(axis=0)] = np.nan
    n_differ = (d != 0).sum(axis=0)  # signs of zeros change nothing
    for column in np.flatnonzero((n_differ > 0) & (n_differ <= EXACT_UP_TO)):
        out[column] = _exact(d[d[:, column] != 0, column])
    if len(many := np.flatnonzero(n_differ > EXACT_UP_TO)):
        out[many] = _monte_carlo(d[:, many], seed)
    return out


def _exact(d: Floats) -> float:
    """Over half of all sign patterns; the others are their mirror images."""
    patterns = np.arange(2 ** (len(d) - 1))[:, None] >> np.arange(len(d)) & 1
    sums = np.abs((1.0 - 2.0 * patterns) @ d)
    return float((sums >= abs(d.sum()) - SAME * np.abs(d).sum()).mean())


def _monte_carlo(d: NDArray[np.float64], seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    total, slack = d.sum(axis=0), SAME * np.abs(d).sum(axis=0)
    as_far, step = np.zeros(d.shape[1]), max(1, MOST_SIGNS // len(d))
    for _ in range(FLIPS // CHUNK):
        bits = rng.integers(0, 256, (CHUNK, -(-len(d) // 8)), np.uint8)
        for first in range(0, CHUNK, step):
            kept = np.unpackbits(bits[first : first + step], axis=1, count=len(d)).astype(np.float64)
            as_far += (np.abs(2 * (kept @ d) - total) >= np.abs(total) - slack).sum(axis=0)
    return (as_far + 1) / (FLIPS + 1)


def holm(p: Floats) -> Floats:
    """p-values with the Holm correction for multiple tests (Holm 1979); NaN stays NaN and does not count as a test.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    out = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")
    order = order[~np.isnan(p[order])]
    steps = p[order] * np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out


def win_tie_loss(difference: Floats) -> tuple[int, int, int]:
    """How often the difference is positive, zero and negative.

    >>> win_tie_loss(np.array([0.5, 0.0, -0.1, 0.2]))
    (2, 1, 1)
    """
    d = _drop_nan(difference)
    return int((d > SAME).sum()), int((np.abs(d) <= SAME).sum()), int((d < -SAME).sum())


def _drop_nan(difference: Floats) -> Floats:
    return difference[~np.isnan(difference)]
