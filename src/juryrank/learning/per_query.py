"""Sums, means and standard deviations inside queries."""

from __future__ import annotations

import numpy as np

from juryrank.data.arrays import Floats, Ints

FLAT = 1e-12  # a deviation below this share of the largest value is rounding


def sum_by_query(ptr: Ints, values: Floats) -> Floats:
    """The sum of each query's values; a query without items has 0."""
    total = np.zeros((len(ptr) - 1, *values.shape[1:]))
    filled = np.diff(ptr) > 0
    if filled.any():
        total[filled] = np.add.reduceat(values, ptr[:-1][filled], axis=0)
    return total


def centre(ptr: Ints, values: Floats) -> Floats:
    """The values less their mean in each query."""
    sizes = np.diff(ptr)
    mean = (sum_by_query(ptr, values).T / np.maximum(sizes, 1)).T
    centred: Floats = values - np.repeat(mean, sizes, axis=0)
    return centred


def standardise(ptr: Ints, values: Floats, *, each_query: bool = False) -> Floats:
    """The values with mean 0 and variance 1 in each query, and 0 where they are all equal up to rounding.

    Rounding is measured by the largest value of all queries or, with ``each_query``, by that of the query itself.
    """
    sizes = np.diff(ptr)
    centred = centre(ptr, values)
    deviation = np.sqrt((sum_by_query(ptr, centred**2).T / np.maximum(sizes, 1)).T)
    largest = _largest_by_query(ptr, values) if each_query else np.abs(values).max(axis=0, initial=0.0)
    flat = deviation <= FLAT * np.where(largest > 0, largest, 1.0)
    scale = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
    scaled: Floats = centred * np.repeat(scale, sizes, axis=0)
    return scaled


def _largest_by_query(ptr: Ints, values: Floats) -> Floats:
    out, filled = np.zeros((len(ptr) - 1, *values.shape[1:])), np.diff(ptr) > 0
    if filled.any():
        out[filled] = np.maximum.reduceat(np.abs(values), ptr[:-1][filled], axis=0)
    return out
