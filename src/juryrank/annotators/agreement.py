"""Measures of the agreement of judges: Cohen's κ of two, Krippendorff's α and Fleiss' κ of any number."""

from __future__ import annotations

import math

import numpy as np

from juryrank.data.arrays import Floats, Ints

TAIL = 0.025  # of the 95 % intervals, on each side
NORMAL = 1.959963984540054  # the normal quantile of 1 - TAIL
RESAMPLES, SEED = 2000, 0  # of the interval of α


def cohen(first: Floats, second: Floats, *, quadratic: bool) -> tuple[float, float, float]:
    """Cohen's κ of two judges and its 95 % interval, by the variance of Fleiss, Cohen and Everitt (1969)."""
    values, codes = np.unique([first, second], return_inverse=True)
    codes = codes.reshape(2, -1)
    n, size = len(first), len(values)
    table = np.bincount(codes[0] * size + codes[1], minlength=size * size).reshape(size, size) / n
    apart = (values[:, None] - values) ** 2 if quadratic else (values[:, None] != values).astype(np.float64)
    if size == 1:
        return math.nan, math.nan, math.nan
    weights = 1 - apart / apart.max()
    rows, columns = table.sum(1), table.sum(0)
    chance, observed = float(rows @ weights @ columns), float((table * weights).sum())
    kappa = (observed - chance) / (1 - chance)
    if observed == 1:
        return 1.0, _lowest(n, 1 - chance), 1.0
    lean = (weights @ columns)[:, None] + rows @ weights
    spread = (table * (weights - lean * (1 - kappa)) ** 2).sum() - (kappa - chance * (1 - kappa)) ** 2
    half = NORMAL * math.sqrt(max(float(spread), 0.0) / n) / (1 - chance)
    return kappa, max(kappa - half, -1.0), min(kappa + half, 1.0)


def krippendorff(units: list[list[float]]) -> tuple[float, float, float]:
    """Krippendorff's α with squared differences, and its 95 % interval by the bootstrap over items.

    ``units`` has the grades of each item by all its judges, at least two.
    """
    if not units:
        return math.nan, math.nan, math.nan
    size = np.array([len(unit) for unit in units], np.float64)
    total = np.array([math.fsum(unit) for unit in units])
    squares = np.array([math.fsum(value * value for value in unit) for unit in units])
    inside = np.array([sum((a - b) ** 2 for a in unit for b in unit) for unit in units]) / (size - 1)
    values = [value for unit in units for value in unit]
    parts = np.column_stack([size, squares, inside, total])
    return _alpha_and_interval(parts, np.ones(len(units), np.int64), (max(values) - min(values)) ** 2)


def krippendorff_of_counts(counts: Ints, levels: Floats | None = None) -> tuple[float, float, float]:
    """Krippendorff's α and its interval, from how often each item has each label; items with one label do not count.

    With ``levels``, the labels are these numbers and differences are squared; without, labels are equal or different.
    """
    units, frequency = np.unique(counts[counts.sum(1) > 1], axis=0, return_counts=True)
    if not len(units):
        return math.nan, math.nan, math.nan
    size, place = units.sum(1), np.eye(counts.shape[1]) if levels is None else levels[:, None]
    total, squares = units @ place, units @ (place * place).sum(1)
    inside = 2 * (size * squares - (total * total).sum(1)) / (size - 1)
    used = place[units.any(0)]
    widest = float(((used[:, None] - used) ** 2).sum(2).max())
    return _alpha_and_interval(np.column_stack([size, squares, inside, total]), frequency, widest)


def fleiss(counts: Ints) -> float:
    """Fleiss' κ, from how often each item has each label; items may have different numbers of labels, at least two.

    Each item counts the same; with the same number of labels everywhere this is the κ of Fleiss (1971).
    """
    counts = counts[counts.sum(1) > 1]
    if not len(counts):
        return math.nan
    size = counts.sum(1)
    observed = float((((counts * counts).sum(1) - size) / (size * (size - 1))).mean())
    chance = float(((counts.sum(0) / size.sum()) ** 2).sum())
    return (observed - chance) / (1 - chance) if chance < 1 else math.nan


def _alpha_and_interval(parts: Floats, frequency: Ints, widest: float) -> tuple[float, float, float]:
    """α of units that occur with these frequencies; ``widest`` is the largest squared difference."""
    n = int(frequency.sum())
    alpha = float(_alpha(frequency[None].astype(np.float64), parts)[0])
    if math.isnan(alpha):
        return math.nan, math.nan, math.nan
    if alpha == 1:
        m, q, _, *sums = frequency @ parts
        expected = 2 * (m * q - sum(s * s for s in sums)) / (m * (m - 1))
        return 1.0, _lowest(n, expected / widest), 1.0
    drawn = np.random.default_rng(SEED).multinomial(n, frequency / n, RESAMPLES)
    low, high = np.nanquantile(_alpha(drawn.astype(np.float64), parts), [TAIL, 1 - TAIL])
    return alpha, float(low), float(high)


def _alpha(counts: Floats, parts: Floats) -> Floats:
    """α for each row of ``counts``, how often each unit is drawn; NaN where all values are equal."""
    n, squares, inside, *total = (counts @ parts).T
    expected = 2 * (n * squares - sum(t**2 for t in total)) / (n * (n - 1))
    observed = inside / n
    out = np.full(len(n), np.nan)
    np.divide(observed, expected, out=out, where=expected > 1e-12 * np.maximum(squares, 1e-300))
    return 1 - out


def _lowest(n: int, chance: float) -> float:
    """The lower end where all ``n`` items agree, which would seem certain: as many may disagree as 2.5 % allow.

    ``chance`` is the disagreement by chance, as a share of the largest disagreement.
    """
    return float(max(1 - (1 - TAIL ** (1 / n)) / chance, -1.0))
