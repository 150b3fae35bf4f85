"""Groups of items that are compared only with each other: connected components."""

import numpy as np

from juryrank.kernels.jit import kernel


@kernel
def join(root, i, j):
    """Merge the groups of i and j; a group is identified by its first item."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    root[max(i, j)] = min(i, j)


@kernel
def groups_of_pairs(n, left, right):
    """The first item of the group of each item; the items of a pair are compared."""
    root = np.arange(n)
    for p in range(len(left)):
        join(root, left[p], right[p])
    for i in range(n):
        root[i] = root[root[i]]
    return root


@kernel
def groups_of_lists(n, lists):
    """The first item of the group of each item; all items of a list are compared."""
    root = np.arange(n)
    lo, entry_ptr, entry_slot = lists.lo, lists.entry_ptr, lists.entry_slot
    for m in range(lists.begin, lists.end):
        for e in range(entry_ptr[m] + 1, entry_ptr[m + 1]):
            join(root, entry_slot[entry_ptr[m]] - lo, entry_slot[e] - lo)
    for i in range(n):
        root[i] = root[root[i]]
    return root


@kernel
def centre(root, x):
    """Subtract from each group its mean."""
    n = len(root)
    total, size = np.zeros(n), np.zeros(n)
    for i in range(n):
        total[root[i]] += x[i]
        size[root[i]] += 1.0
    for i in range(n):
        x[i] -= total[root[i]] / size[root[i]]
