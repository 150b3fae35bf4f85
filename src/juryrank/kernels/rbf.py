"""Scores of a kernel expansion, one slot at a time: they do not depend on which other slots are asked for."""

import numpy as np

from juryrank.kernels.jit import over_queries


@over_queries
def rbf_scores(first, last, slot_ptr, x, landmarks, coefficient, linear, sharpness, out):
    """out[s] = x · linear + sum over landmarks z of coefficient × exp(-sharpness × |x - z|²)."""
    width = x.shape[1]
    for s in range(slot_ptr[first], slot_ptr[last]):
        total = 0.0
        for f in range(width):
            total += x[s, f] * linear[f]
        for z in range(len(landmarks)):
            distance = 0.0
            for f in range(width):
                difference = x[s, f] - landmarks[z, f]
                distance += difference * difference
            total += coefficient[z] * np.exp(-sharpness * distance)
        out[s] = total
