"""Numbers for distinct keys, in the order in which they first appear."""

from juryrank.kernels.jit import kernel


@kernel
def number_keys(keys, table, first, out):
    """out[n] = the number of keys[n]; returns how many there are, or -1 if they fill more than half of the table.

    ``table`` is a hash table of numbers, -1 where free, with a power of two of places; ``first`` gets where each number
    appears first. Keys are addresses, so the lowest bits carry no information.
    """
    mask, found = len(table) - 1, 0
    for n in range(len(keys)):
        at = ((keys[n] >> 4) ^ (keys[n] >> 16)) & mask
        while table[at] >= 0 and keys[first[table[at]]] != keys[n]:
            at = (at + 1) & mask
        if table[at] < 0:
            if 2 * found >= len(table):
                return -1
            table[at], first[found] = found, n
            found += 1
        out[n] = table[at]
    return found
