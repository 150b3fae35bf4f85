"""Centred and weighted features of the slots of each query; their products add up to Gram matrices."""

import numpy as np

from juryrank.kernels.jit import over_queries


@over_queries
def centre_features(
    first, last, slot_ptr, row_ptr, list_ptr, entry_ptr, entry_slot, entry_points, list_column,
    slot_weight, slot_gain, out,
):  # fmt: skip
    """Rows √ω (z − z̄) / v^¼ of the slots with weight ω > 0; v = Σ ω (y − ȳ)², which must not be 0.

    z has the points of each column, summed over the lists of that column, and the gain y in the last place. ``out``
    must be zeros; ``row_ptr`` are the offsets of the slots with a weight.
    """
    n_curves = entry_points.shape[1]
    for q in range(first, last):
        lo = slot_ptr[q]
        row = np.full(slot_ptr[q + 1] - lo, -1)
        weight = np.empty(row_ptr[q + 1] - row_ptr[q])
        z = out[row_ptr[q] : row_ptr[q + 1]]
        n_rows = 0
        for s in range(lo, slot_ptr[q + 1]):
            if slot_weight[s] > 0.0:
                row[s - lo], weight[n_rows], z[n_rows, -1] = n_rows, slot_weight[s], slot_gain[s]
                n_rows += 1
        for m in range(list_ptr[q], list_ptr[q + 1]):
            column = list_column[m] * n_curves
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                i = row[entry_slot[e] - lo]
                if i >= 0:
                    z[i, column : column + n_curves] += entry_points[e]
        mean = np.zeros(z.shape[1])
        for i in range(n_rows):
            mean += weight[i] * z[i]
        mean /= weight.sum()
        spread = 0.0
        for i in range(n_rows):
            z[i] -= mean
            spread += weight[i] * z[i, -1] ** 2
        for i in range(n_rows):
            z[i] *= np.sqrt(weight[i] / np.sqrt(spread))


@over_queries
def gram_products(first, last, ptr, z, out):
    """zᵀz of the rows of each part."""
    width = z.shape[1]
    for p in range(first, last):
        out[p] = 0.0
        for i in range(ptr[p], ptr[p + 1]):
            for a in range(width):
                x = z[i, a]
                for b in range(a, width):
                    out[p, a, b] += x * z[i, b]
        for a in range(width):
            out[p, a:, a] = out[p, a, a:]
