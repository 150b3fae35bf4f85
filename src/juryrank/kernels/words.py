"""Words in text, eight bytes at a time: searched for blanks, compared, hashed and numbered without decoding.

Text is an array of bytes, padded by at least eight, because eight are read at a time.
"""

import numpy as np

from juryrank.kernels.jit import kernel

NEWLINE = 10
FIRST_ROOM = 1 << 10  # initial capacity of a table of names; it grows
ONE, HALF, BYTE_7 = np.uint64(1), np.uint64(32), np.uint64(56)
ONES, HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)  # the lowest and highest bit of each byte
LOWS, BITS_7 = ~HIGHS, np.uint64(7)
VISIBLE, NEWLINES, RETURNS = np.uint64(33) * ONES, np.uint64(NEWLINE) * ONES, np.uint64(13) * ONES
FARTHEST = 256  # maximum distance of a name from its own place; ordinary names need a fifth of that among millions
CROWDED = -1  # returned for a name without a place that near, because too many names share theirs
FEW = 32  # keys up to which sorting by insertion is the fastest
PRIME = np.uint64(0x9E3779B97F4A7C15)  # from the golden ratio: multiplication spreads the bits over the high ones


@kernel
def eight_bytes(data, at):
    """The eight bytes from ``at`` on, the first in the lowest bits; compiled, this is one instruction."""
    at = np.uint64(at)  # a negative index would have to be tested for
    low = data[at] | (np.uint64(data[at + ONE]) << np.uint64(8)) | (np.uint64(data[at + np.uint64(2)]) << np.uint64(16))
    low |= np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
    low |= np.uint64(data[at + np.uint64(4)]) << HALF
    low |= np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
    low |= np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
    return low | (np.uint64(data[at + np.uint64(7)]) << BYTE_7)


@kernel
def first_marked_byte(marks):
    """The number of the first byte whose highest bit is set; there must be one."""
    below = (marks & (~marks + ONE)) - ONE
    return np.int64(((below & ONES) * ONES) >> BYTE_7) - 1


@kernel
def before_mark(marks):
    """All bits of the bytes before the first whose highest bit is set; there must be one."""
    return ((marks & (~marks + ONE)) >> BITS_7) - ONE


@kernel
def word_end(data, at):
    """The position of the first blank or control character from ``at`` on."""
    while True:
        found = eight_bytes(data, at)
        marks = (found - VISIBLE) & ~found & HIGHS  # right up to the first mark, by borrowing wrong after it
        if marks != 0:
            return at + first_marked_byte(marks)
        at += 8


@kernel
def any_line_end(data, at):
    """The position of the first newline or carriage return from ``at`` on."""
    while True:
        found = eight_bytes(data, at)
        feed, back = found ^ NEWLINES, found ^ RETURNS
        marks = (((feed - ONES) & ~feed) | ((back - ONES) & ~back)) & HIGHS
        if marks != 0:
            return at + first_marked_byte(marks)
        at += 8


@kernel
def same_word(data, start, stop, others, at, end):
    """Whether data[start:stop] is others[at:end], in bytes."""
    if stop - start != end - at:
        return False
    while start + 8 <= stop:
        if eight_bytes(data, start) != eight_bytes(others, at):
            return False
        start += 8
        at += 8
    rest = (ONE << np.uint64(8 * (stop - start))) - ONE
    return (eight_bytes(data, start) ^ eight_bytes(others, at)) & rest == 0


@kernel
def hash_word(data, at):
    """The end of the word that begins at ``at``, as of ``word_end``, and a hash of it."""
    mixed = ONE
    while True:
        found = eight_bytes(data, at)
        marks = (found - VISIBLE) & ~found & HIGHS
        if marks != 0:
            break
        mixed = (mixed ^ found) * PRIME
        mixed ^= mixed >> HALF
        at += 8
    mixed = (mixed ^ (found & before_mark(marks))) * PRIME
    mixed = (mixed ^ (mixed >> HALF)) * PRIME  # without a second round, numbers with leading zeros collide
    return at + first_marked_byte(marks), np.int64((mixed ^ (mixed >> HALF)) >> ONE)


@kernel
def number_word(data, start, stop, hashed, table, book, names, counts, kind):
    """The number of the word data[start:stop] among its kind; a new word is inserted, copied and counted.

    A row of ``book`` has the hash of a name, its start and its stop in ``names``, where a newline follows each. These
    are stored together, because this is limited by memory access. CROWDED for a name that would be far from its place:
    names can be constructed so that all share one place, and searching them would take quadratic time.
    """
    mask = len(table) - 1
    place = hashed & mask
    steps = 0
    while table[place] >= 0:
        n = table[place]
        if book[n, 0] == hashed and same_word(data, start, stop, names, book[n, 1], book[n, 2]):
            return n
        place = (place + 1) & mask
        steps += 1
        if steps > FARTHEST:
            return CROWDED
    n = counts[kind]
    counts[kind] += 1
    table[place] = n
    at = 0 if n == 0 else book[n - 1, 2] + 1
    book[n, 0], book[n, 1], book[n, 2] = hashed, at, at + stop - start
    copy_word(data, start, stop, names, at)
    return n


@kernel
def number_words(data, batch, count, table, book, names, counts, kind, out):
    """out = the numbers of some words as of ``number_word``; False if one is CROWDED.

    A row of ``batch`` has the hash of a word, its start, its stop and room for one number. The time is spent waiting
    for memory, and loops of independent steps wait for many words at once.
    """
    mask = len(table) - 1
    for w in range(count):
        out[w] = table[batch[w, 0] & mask]
    for w in range(count):
        n, size = out[w], batch[w, 2] - batch[w, 1]
        found = n >= 0 and book[n, 0] == batch[w, 0] and book[n, 2] - book[n, 1] == size
        batch[w, 3] = book[n, 1] if found else -1
    for w in range(count):
        hashed, start, stop, at = batch[w, 0], batch[w, 1], batch[w, 2], batch[w, 3]
        if at < 0 or not same_word(data, start, stop, names, at, at + stop - start):
            out[w] = number_word(data, start, stop, hashed, table, book, names, counts, kind)
            if out[w] == CROWDED:
                return False
    return True


@kernel
def copy_word(data, start, stop, names, at):
    """Copy data[start:stop] to ``at``, with a newline after it."""
    for i in range(start, stop):
        names[at] = data[i]
        at += 1
    names[at] = NEWLINE


def new_table():
    """A table of no names: the number of the name at each place, or -1."""
    return np.full(FIRST_ROOM, -1, np.int32)


@kernel
def grow_table(table, book, count, more):
    """The table, or one of four times the size if ``more`` names would fill half of it."""
    if 2 * (count + more) <= len(table):
        return table
    out = np.full(4 * len(table), -1, np.int32)
    for n in range(count):
        insert(n, book[n, 0], out)
    return out


@kernel
def merge_names(names, book, count, our_book, our_names, our_count, out):
    """out = the number that each name has, or gets, among ours; False if too many names share a place."""
    table = np.full(FIRST_ROOM, -1, np.int32)
    while len(table) <= 2 * (our_count[0] + count):
        table = np.full(4 * len(table), -1, np.int32)
    for n in range(our_count[0]):
        insert(n, our_book[n, 0], table)
    for n in range(count):
        out[n] = number_word(names, book[n, 1], book[n, 2], book[n, 0], table, our_book, our_names, our_count, 0)
        if out[n] == CROWDED:
            return False
    return True


@kernel
def insert(n, hashed, table):
    """Insert the name numbered n into a table.

    A larger table has fewer names for each place, so no name is farther from its own than in the smaller table.
    """
    mask = len(table) - 1
    place = hashed & mask
    while table[place] >= 0:
        place = (place + 1) & mask
    table[place] = n


@kernel
def name_places(names, book, count, out, ordered):
    """out = the place of each name in the order of their bytes; ``ordered`` gets the names, a newline after each.

    From the last eight bytes to the first, and in them from the last byte to the first (radix sort): the order of
    letters in UTF-8 is that of their bytes, and a name that ends earlier comes first. A name takes part from its own
    last bytes on, so the time depends on the total number of bytes, not on the longest name.
    """
    number, first = sort_by_length(book, count)
    key = np.empty(count, np.uint64)
    other_number, other_key = number.copy(), key.copy()
    for block in range(len(first) - 1, -1, -1):
        lo = first[block]
        for i in range(lo, count):
            start, stop = book[number[i], 1] + 8 * block, book[number[i], 2]
            key[i] = eight_bytes(names, start)
            if stop < start + 8:
                key[i] &= (ONE << np.uint64(8 * (stop - start))) - ONE
        if count - lo <= FEW:
            sort_few(key[lo:count], number[lo:count])
            continue
        for byte in range(7, -1, -1):
            shift = np.uint64(8 * byte)
            if sort_by_byte(shift, key[lo:], number[lo:], other_key[lo:], other_number[lo:]):
                key, other_key = other_key, key
                number, other_number = other_number, number
    at = 0
    for i in range(count):
        start, stop = book[number[i], 1], book[number[i], 2]
        out[number[i]] = i
        copy_word(names, start, stop, ordered, at)
        at += stop - start + 1


@kernel
def sort_by_length(book, count):
    """The names sorted by length in blocks of eight bytes, and the first name that reaches each block."""
    longest = 1
    for n in range(count):
        longest = max(longest, book[n, 2] - book[n, 1])
    ends = np.zeros((longest + 7) // 8 + 1, np.int64)
    for n in range(count):
        ends[(book[n, 2] - book[n, 1] + 7) // 8] += 1
    for block in range(1, len(ends)):
        ends[block] += ends[block - 1]
    first = ends[:-1].copy()
    number = np.empty(count, np.int32)
    for n in range(count - 1, -1, -1):
        block = (book[n, 2] - book[n, 1] + 7) // 8
        ends[block] -= 1
        number[ends[block]] = n
    return number, first


@kernel
def sort_few(key, number):
    """Sort a few keys, compared from their lowest byte, with their numbers; equal keys keep their order."""
    for i in range(1, len(key)):
        k, n, at = key[i], number[i], i
        while at > 0 and comes_before(k, key[at - 1]):
            key[at], number[at] = key[at - 1], number[at - 1]
            at -= 1
        key[at], number[at] = k, n


@kernel
def comes_before(one, other):
    """Whether eight bytes sort before others; the first byte is the lowest."""
    differ = one ^ other
    lowest = differ & (~differ + ONE)  # the lowest bit that differs is in the first byte that does
    if lowest == 0:
        return False
    mask = np.uint64(255)
    while mask & lowest == 0:
        mask <<= np.uint64(8)
    return (one & mask) < (other & mask)


@kernel
def sort_by_byte(shift, key, number, key_out, number_out):
    """Stable sort of keys and their numbers by one byte; False if all keys have the same byte."""
    ends = np.zeros(257, np.int64)
    for i in range(len(key)):
        ends[((key[i] >> shift) & np.uint64(255)) + ONE] += 1
    for b in range(256):
        if ends[b + 1] == len(key):
            return False
        ends[b + 1] += ends[b]
    for i in range(len(key)):
        b = (key[i] >> shift) & np.uint64(255)
        key_out[ends[b]], number_out[ends[b]] = key[i], number[i]
        ends[b] += 1
    return True
