"""Scores of lists brought to one scale."""

import numpy as np

from juryrank.kernels.jit import over_queries


@over_queries
def extremes(first, last, list_ptr, entry_ptr, score, low, high):
    """The lowest and the highest score of each list."""
    for m in range(list_ptr[first], list_ptr[last]):
        low[m], high[m] = np.inf, -np.inf
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            low[m], high[m] = min(low[m], score[e]), max(high[m], score[e])


@over_queries
def scaled(first, last, list_ptr, entry_ptr, score, origin, width, flat, out):
    """(score - origin) / width by list, and ``flat`` in lists whose width is 0."""
    for m in range(list_ptr[first], list_ptr[last]):
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            out[e] = (score[e] - origin[m]) / width[m] if width[m] > 0.0 else flat[m]
