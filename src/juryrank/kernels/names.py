"""Names of known lengths in one text: numbered in the order of their first appearance."""

import numpy as np

from juryrank.kernels.jit import kernel
from juryrank.kernels.words import HALF, ONE, PRIME, eight_bytes, grow_table, number_words

BATCH = 64  # names that are looked up together


@kernel
def number_names(data, sizes, table, book, names, counts, out):
    """out = the number of each name; the names follow each other in ``data``, and have ``sizes`` bytes.

    False if too many names share a place (``number_word``). ``book`` and ``names`` get the distinct names, whose number
    is ``counts[0]``.
    """
    batch = np.empty((BATCH, 4), np.int64)
    start = 0
    for first in range(0, len(sizes), BATCH):
        count = min(BATCH, len(sizes) - first)
        for w in range(count):
            stop = start + sizes[first + w]
            batch[w, 0], batch[w, 1], batch[w, 2] = hash_bytes(data, start, stop), start, stop
            start = stop
        table = grow_table(table, book, counts[0], count)
        if not number_words(data, batch, count, table, book, names, counts, 0, out[first : first + count]):
            return False
    return True


@kernel
def hash_bytes(data, start, stop):
    """A hash of data[start:stop], whatever the bytes are; as of ``hash_word``."""
    mixed = ONE
    while start + 8 <= stop:
        mixed = (mixed ^ eight_bytes(data, start)) * PRIME
        mixed ^= mixed >> HALF
        start += 8
    rest = (ONE << np.uint64(8 * (stop - start))) - ONE
    mixed = (mixed ^ (eight_bytes(data, start) & rest)) * PRIME
    mixed = (mixed ^ (mixed >> HALF)) * PRIME
    return np.int64((mixed ^ (mixed >> HALF)) >> ONE)
