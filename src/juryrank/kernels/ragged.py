"""Arithmetic on ragged arrays: ``ptr[i]:ptr[i+1]`` are the children of parent ``i``."""

import numpy as np

from juryrank.kernels.jit import over_queries

SHORT = 32  # values that insertion sorts before a general sort has its memory


def sizes_to_ptr(sizes):
    """Offsets from the number of children of each parent."""
    ptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def children(ptr, parents):
    """The flat positions of the children of ``parents``, in that order."""
    sizes = ptr[parents + 1] - ptr[parents]
    starts = np.repeat(ptr[parents] - sizes_to_ptr(sizes)[:-1], sizes)
    return starts + np.arange(len(starts))


def parents(ptr):
    """The parent of each child."""
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


@over_queries
def descending(first, last, ptr, values, out):
    """Positions of each query's values from largest to smallest, NaN last; equal values keep their order."""
    for q in range(first, last):
        lo, hi = ptr[q], ptr[q + 1]
        if hi - lo > SHORT:
            out[lo:hi] = lo + np.argsort(-values[lo:hi], kind="mergesort")
            continue
        for i in range(lo, hi):
            value, at = values[i], i
            while at > lo:
                above = values[out[at - 1]]
                if not (above < value or (np.isnan(above) and not np.isnan(value))):
                    break
                out[at] = out[at - 1]
                at -= 1
            out[at] = i


@over_queries
def put_last(first, last, ptr, silent, out):
    """Give the ``silent`` slots of each query a score one below the lowest of the others."""
    for q in range(first, last):
        lowest = np.inf
        for s in range(ptr[q], ptr[q + 1]):
            if not silent[s]:
                lowest = min(lowest, out[s])
        for s in range(ptr[q], ptr[q + 1]):
            if silent[s]:
                out[s] = lowest - 1.0 if lowest < np.inf else 0.0
