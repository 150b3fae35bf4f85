"""Scores of a kernel expansion, one slot at a time: they do not depend on the other slots."""

import numpy as np

from juryrank.kernels.jit import over_queries


@over_queries
def rbf_scores(first, last, slot_ptr, x, landmarks, coefficient, linear, sharpness, out):
    """out[s] = x · linear + sum over landmarks z of coefficient × exp(-sharpness × |x - z|²); landmarks are columns."""
    distance = np.empty(len(coefficient))
    for s in range(slot_ptr[first], slot_ptr[last]):
        total = 0.0
        distance[:] = 0.0
        for f in range(x.shape[1]):
            total += x[s, f] * linear[f]
            for z in range(len(distance)):  # innermost, so that it is vectorised
                difference = x[s, f] - landmarks[f, z]
                distance[z] += difference * difference
        for z in range(len(distance)):
            total += coefficient[z] * np.exp(-sharpness * distance[z])
        out[s] = total
