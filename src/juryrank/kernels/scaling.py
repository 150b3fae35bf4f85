"""Scaling of the scores of each list."""

import numpy as np

from juryrank.kernels.jit import over_queries

LARGE = 1e100  # numbers up to this, and down to its inverse, can be squared and summed


def scaling_exponents(largest):
    """Powers of 2 that bring numbers of these sizes near 1, or 0 if they can be squared and summed without scaling.

    Multiplication by a power of 2 changes no digit.
    """
    _, power = np.frexp(largest)
    return np.where((largest > LARGE) | ((largest < 1 / LARGE) & (largest > 0)), -power, 0)


@over_queries
def extremes(first, last, list_ptr, entry_ptr, score, low, high):
    """The lowest and the highest score of each list."""
    for m in range(list_ptr[first], list_ptr[last]):
        lowest, highest = np.inf, -np.inf
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            lowest, highest = min(lowest, score[e]), max(highest, score[e])
        low[m], high[m] = lowest, highest


@over_queries
def rescale(first, last, list_ptr, entry_ptr, score, origin, width, flat, out):
    """out = (score - origin) / width by list, or ``flat`` in lists whose width is 0."""
    for m in range(list_ptr[first], list_ptr[last]):
        start, size = origin[m], width[m]
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            out[e] = (score[e] - start) / size if size > 0.0 else flat[m]
