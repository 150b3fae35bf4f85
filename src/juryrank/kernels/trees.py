"""Sums of decision trees."""

import numpy as np

from juryrank.kernels.jit import over_queries


@over_queries
def tree_scores(first, last, slot_ptr, x, root, feature, threshold, left, right, missing_left, value, out):
    """out[s] += the sum of the leaf values of x[s]; x <= threshold goes left, and a leaf has no left child."""
    for s in range(slot_ptr[first], slot_ptr[last]):
        total = 0.0
        for t in range(len(root)):
            node = root[t]
            while left[node] >= 0:
                known = x[s, feature[node]]
                goes_left = missing_left[node] if np.isnan(known) else known <= threshold[node]
                node = left[node] if goes_left else right[node]
            total += value[node]
        out[s] += total
