"""The lines of TREC runs as integers: a name is numbered where it first stands, and nothing becomes text."""

import numpy as np

from juryrank.kernels.decimals import HARD, ODD, decimal
from juryrank.kernels.jit import kernel

NEWLINE = 10
WORDS = 6  # of a line; one less without a rank
FIRST_ROOM = 1 << 10  # names that a table is made for; it grows
QUERY, EXPERT, ITEM, LIST, ENTRY, CAREFUL = range(6)  # kinds of things that are counted


@kernel
def split(data, at, separator, n_words, ends):
    """Where the words of the line at ``at`` end; returns where the next line starts, or -1 for an unusual line."""
    for w in range(n_words):
        start = at
        c = data[at]
        while c != separator and c != NEWLINE:
            if c == 32 or 9 <= c <= 12:  # a blank that is not the separator
                return -1
            at += 1
            c = data[at]
        if at == start or (c == NEWLINE) != (w == n_words - 1):
            return -1
        ends[w] = at
        at += 1
    return at


@kernel
def read_line(data, at, separator, n_words, ends):
    """Where the next line starts (-1 for an unusual line), the score, how it was read, and the rank (0 without one)."""
    after = split(data, at, separator, n_words, ends)
    if after < 0:
        return -1, 0.0, ODD, 0.0
    score, kind = decimal(data, ends[n_words - 3] + 1, ends[n_words - 2])
    rank, plain = decimal(data, ends[2] + 1, ends[3]) if n_words == WORDS else (0.0, 0)
    return (-1 if kind == ODD or plain != 0 else after), score, kind, rank


@kernel
def is_name(data, start, stop, names, at, end):
    """Whether data[start:stop] is names[at:end]."""
    if stop - start != end - at:
        return False
    while start < stop and data[start] == names[at]:
        start += 1
        at += 1
    return start == stop


@kernel
def number_of(data, start, stop, table, book, names, counts, kind):
    """The number of the name data[start:stop] among its kind; a new one is entered, copied and counted.

    A row of ``book`` has the hash of a name, its start and its stop in ``names``, where a newline follows each. All
    that is side by side, because memory is what this waits for.
    """
    fnv = np.uint64(14695981039346656037)  # FNV-1a
    for i in range(start, stop):
        fnv = (fnv ^ np.uint64(data[i])) * np.uint64(1099511628211)
    hashed = np.int64(fnv >> np.uint64(8))  # the low bits are the poorest
    mask = len(table) - 1
    place = hashed & mask
    while table[place] >= 0:
        n = table[place]
        if book[n, 0] == hashed and is_name(data, start, stop, names, book[n, 1], book[n, 2]):
            return n
        place = (place + 1) & mask
    n = counts[kind]
    counts[kind] += 1
    table[place] = n
    at = 0 if n == 0 else book[n - 1, 2] + 1
    book[n, 0], book[n, 1], book[n, 2] = hashed, at, at + stop - start
    for i in range(start, stop):
        names[at] = data[i]
        at += 1
    names[at] = NEWLINE
    return n


@kernel
def with_room(table, book, count):
    """The table, or one with four times the room where it is half full."""
    if 2 * count < len(table):
        return table
    out = np.full(4 * len(table), -1, np.int32)
    mask = len(out) - 1
    for n in range(count):
        place = book[n, 0] & mask
        while out[place] >= 0:
            place = (place + 1) & mask
        out[place] = n
    return out


@kernel
def scan_runs(
    data, file_ptr, separators, n_words, books, names, list_query, list_expert, list_start, entry_item, entry_score,
    careful, counts,
):  # fmt: skip
    """Number the names of all lines; False at a line that is not as lines of runs usually are.

    Usual is one separator between words, plain numbers, and ranks that never fall inside a list, which is a stretch of
    one query and one expert. ``books`` and ``names`` are of queries, experts and items; ``careful`` gets entry, start
    and stop of scores that ``decimal`` leaves to others; ``counts`` what there is of each kind.
    """
    queries, experts, items = books
    query_names, expert_names, item_names = names
    query_table = np.full(FIRST_ROOM, -1, np.int32)
    expert_table, item_table = query_table.copy(), query_table.copy()
    ends = np.empty(WORDS, np.int64)
    for f in range(len(separators)):
        at, last = file_ptr[f], n_words[f] - 1
        query, query_end, tag, tag_end, lowest = at, at, at, at, 0.0
        while at < file_ptr[f + 1]:
            start = at
            if data[at] == NEWLINE:
                at += 1
                continue
            at, score, kind, rank = read_line(data, start, separators[f], last + 1, ends)
            same = at >= 0 and is_name(data, start, ends[0], data, query, query_end)
            same = same and is_name(data, ends[last - 1] + 1, ends[last], data, tag, tag_end)
            if at < 0 or (same and rank < lowest):
                return False
            lowest = rank
            if not same:
                query, query_end, tag, tag_end = start, ends[0], ends[last - 1] + 1, ends[last]
                query_table = with_room(query_table, queries, counts[QUERY])
                expert_table = with_room(expert_table, experts, counts[EXPERT])
                m = counts[LIST]
                list_query[m] = number_of(data, query, query_end, query_table, queries, query_names, counts, QUERY)
                list_expert[m] = number_of(data, tag, tag_end, expert_table, experts, expert_names, counts, EXPERT)
                list_start[m] = counts[ENTRY]
                counts[LIST] += 1
            if 2 * counts[ITEM] >= len(item_table):  # asked here, too: the call alone is a tenth of the time
                item_table = with_room(item_table, items, counts[ITEM])
            e = counts[ENTRY]
            entry_item[e] = number_of(data, ends[1] + 1, ends[2], item_table, items, item_names, counts, ITEM)
            entry_score[e] = score
            counts[ENTRY] += 1
            if kind == HARD:
                careful[counts[CAREFUL]] = e
                careful[counts[CAREFUL] + 1] = ends[last - 2] + 1
                careful[counts[CAREFUL] + 2] = ends[last - 1]
                counts[CAREFUL] += 3
    return True


@kernel
def query_starts(data, starts, stops):
    """Where lines start whose first word differs from that of the line before, and where that word stops; how many.

    The first line counts; ``data`` ends in a newline.
    """
    count, line, word, word_end = 0, 0, 0, 0
    at = 0
    while at < len(data):
        start = line
        while data[start] == 32 or data[start] == 9 or 11 <= data[start] <= 12:
            start += 1
        stop = start
        while not (data[stop] == 32 or 9 <= data[stop] <= 12):
            stop += 1
        at = stop
        while data[at] != NEWLINE:
            at += 1
        if stop > start and not is_name(data, start, stop, data, word, word_end):
            starts[count], stops[count] = line, stop
            count += 1
        if stop > start:
            word, word_end = start, stop
        at += 1
        line = at
    return count
