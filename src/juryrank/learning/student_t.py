"""Quantiles of Student's t distribution, without SciPy, whose import takes longer than a fit."""

from __future__ import annotations

import math

MOST_FREEDOM = 1000  # degrees of freedom; above, the quantile differs from this one by less than 0.2 %


def t_quantile(level: float, freedom: int) -> float:
    """The t that the absolute value of Student's t exceeds with probability 1 - level; infinite without freedom.

    >>> round(t_quantile(0.95, 9), 3)
    2.262
    """
    if freedom < 1:
        return math.inf
    low, high = 0.0, math.pi / 2  # t = tan(angle) · √freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _central_probability(middle, min(freedom, MOST_FREEDOM)) < level else (low, middle)
        )
    return math.tan(low) * math.sqrt(min(freedom, MOST_FREEDOM))


def _central_probability(angle: float, freedom: int) -> float:
    """The probability of values up to t = tan(angle) · √freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    cosine, odd = math.cos(angle), freedom % 2
    if freedom == 1:
        return 2 * angle / math.pi
    term = total = cosine if odd else 1.0
    for k in range(1 + odd, freedom - 2, 2):
        term *= cosine * cosine * k / (k + 1)
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total
