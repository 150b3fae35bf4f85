"""Groups of items that are compared only within themselves."""

import numpy as np

from juryrank.kernels.jit import kernel


@kernel
def join(root, i, j):
    """Put the groups of i and j together; a group is named by its first item."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    root[max(i, j)] = min(i, j)


@kernel
def groups_of_pairs(n, left, right):
    """Of each item the first item of its group, where pairs are compared."""
    root = np.arange(n)
    for p in range(len(left)):
        join(root, left[p], right[p])
    for i in range(n):
        root[i] = root[root[i]]
    return root


@kernel
def groups_of_lists(n, begin, end, lo, entry_ptr, entry_slot):
    """Of each item the first item of its group, where all items of a list are compared."""
    root = np.arange(n)
    for m in range(begin, end):
        for e in range(entry_ptr[m] + 1, entry_ptr[m + 1]):
            join(root, entry_slot[entry_ptr[m]] - lo, entry_slot[e] - lo)
    for i in range(n):
        root[i] = root[root[i]]
    return root


@kernel
def centre(root, x):
    """Give each group a mean of 0."""
    n = len(root)
    total, size = np.zeros(n), np.zeros(n)
    for i in range(n):
        total[root[i]] += x[i]
        size[root[i]] += 1.0
    for i in range(n):
        x[i] -= total[root[i]] / size[root[i]]
