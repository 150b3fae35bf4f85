"""The lines of TREC runs as integers: names are numbered in the order of their first appearance."""

import numpy as np

from juryrank.kernels.decimals import HARD, ODD, number_at
from juryrank.kernels.jit import kernel
from juryrank.kernels.words import (
    CROWDED,
    NEWLINE,
    any_line_end,
    copy_word,
    grow_table,
    hash_word,
    number_word,
    number_words,
    same_word,
    word_end,
)

BATCH = 64  # items
WORDS = 6  # of a line; one less without a rank
QUERY, EXPERT, ITEM, LIST, ENTRY, CAREFUL, FALL = range(7)  # what is counted; a fall is a rank below the one before


@kernel
def scan_runs(
    data, starts, stops, separators, n_words, tables, books, names, piece_list, list_query, list_expert, list_start,
    entry_item, entry_score, entry_rank, careful, counts,
):  # fmt: skip
    """Number the names in the lines of the pieces starts:stops; False at a line of unusual form, and the tables.

    The usual form is one separator between words, plain numbers, and names without many hash collisions
    (``number_word``). A list is consecutive lines of one query and one expert. ``tables``, ``books`` and ``names`` are
    of queries, experts and items; ``piece_list`` gets the number of lists before each piece, ``careful`` entry, start
    and stop of scores that ``decimal`` does not decide. ``counts`` has the number of each kind so far; ``entry_rank``
    gets the ranks of the entries of this call only.
    """
    queries, experts, items = tables
    query_book, expert_book, item_book = books
    query_names, expert_names, item_names = names
    batch = np.empty((BATCH, 4), np.int64)  # items that are numbered together
    e, m, c, n, falls = counts[ENTRY], counts[LIST], 0, 0, counts[FALL]
    earlier = e
    for f in range(len(starts)):
        at, separator, ranked = starts[f], separators[f], n_words[f] == WORDS
        # Where query, item and tag of the line before are: most lines begin and end in the same way.
        query, query_end, item, tag, tag_end, q, k, before = at, at, at, at, at, 0, 0, 0.0
        piece_list[f] = m
        while at < stops[f]:
            same_list = item > query and same_word(data, at, at + item - query, data, query, item)
            if same_list:
                at += item - query
            elif data[at] == NEWLINE:
                at += 1
                continue
            else:
                end, hashed = hash_word(data, at)
                after = word_end(data, end + 1)
                if end == at or data[end] != separator or after == end + 1 or data[after] != separator:
                    return False, queries, experts, items
                same_list = same_word(data, at, end, data, query, query_end)
                if not same_list:
                    queries = grow_table(queries, query_book, counts[QUERY], 1)
                    q = number_word(data, at, end, hashed, queries, query_book, query_names, counts, QUERY)
                query, query_end, item = at, end, after + 1
                at = item
            end, hashed = hash_word(data, at)
            if end == at or data[end] != separator or q == CROWDED:
                return False, queries, experts, items
            batch[n, 0], batch[n, 1], batch[n, 2] = hashed, at, end
            rank, kind, at = number_at(data, end + 1) if ranked else (0.0, 0, end)
            if kind != 0 or data[at] != separator:
                return False, queries, experts, items
            start = at + 1
            score, kind, at = number_at(data, start)
            if kind == ODD or data[at] != separator:
                return False, queries, experts, items
            if kind == HARD:
                careful[c], careful[c + 1], careful[c + 2] = e, start, at
                c += 3
            at += 1
            if tag_end > tag and same_word(data, at, at + tag_end + 1 - tag, data, tag, tag_end + 1):
                at += tag_end + 1 - tag
            else:
                end, hashed = hash_word(data, at)
                experts = grow_table(experts, expert_book, counts[EXPERT], 1)
                k = number_word(data, at, end, hashed, experts, expert_book, expert_names, counts, EXPERT)
                if end == at or data[end] != NEWLINE or k == CROWDED:
                    return False, queries, experts, items
                tag, tag_end, at, same_list = at, end, end + 1, False
            if not same_list:
                list_query[m], list_expert[m], list_start[m] = q, k, e
                m += 1
            falls += same_list and rank < before
            entry_score[e], entry_rank[e - earlier], before = score, rank, rank
            e += 1
            n += 1
            if n == BATCH:
                items = grow_table(items, item_book, counts[ITEM], BATCH)
                if not number_words(data, batch, n, items, item_book, item_names, counts, ITEM, entry_item[e - n : e]):
                    return False, queries, experts, items
                n = 0
    items = grow_table(items, item_book, counts[ITEM], BATCH)
    if not number_words(data, batch, n, items, item_book, item_names, counts, ITEM, entry_item[e - n : e]):
        return False, queries, experts, items
    list_start[m] = e
    counts[LIST], counts[ENTRY], counts[CAREFUL], counts[FALL] = m, e, c, falls
    return True, queries, experts, items


@kernel
def count_contradictions(list_start, score, rank, out):
    """out = the pairs of neighbours in each list, which falls in score, that its ranks put in the other order.

    Tied entries are in the order of their ranks, so a tie contradicts nothing.
    """
    for m in range(len(list_start) - 1):
        out[m], highest, before, lowest = 0, -np.inf, -np.inf, np.inf
        for e in range(list_start[m], list_start[m + 1]):
            if e > list_start[m] and score[e] != score[e - 1]:
                out[m] += lowest < before
                before, highest, lowest = highest, -np.inf, np.inf
            highest, lowest = max(highest, rank[e]), min(lowest, rank[e])
        out[m] += lowest < before


@kernel
def query_starts(data, size, lines, starts, stops, tags):
    """The starts of lines whose first word differs from that of the line before, and of that word; their number.

    The first line counts. The ``size`` bytes end in a newline; a carriage return ends a line, too. ``tags`` gets start
    and stop of the last word of the first line, and of the first one that differs from it.
    """
    count, line, word, stop = 0, 0, 0, 0
    while line < size:
        start = line
        while is_blank(data[start]):
            start += 1
        end = start
        while data[end] > 32 or not (is_blank(data[end]) or data[end] == NEWLINE or data[end] == 13):
            end = word_end(data, end) if data[end] > 32 else end + 1
        after = any_line_end(data, end)
        if end > start:
            if not same_word(data, start, end, data, word, stop):
                lines[count], starts[count], stops[count] = line, start, end
                count += 1
            word, stop = start, end
            if tags[1, 0] < 0:
                note_tag(data, start, after, tags)
        line = after + 1
    return count


@kernel
def note_tag(data, start, stop, tags):
    """Store the last word of data[start:stop] if it is the first such word, or the first that differs from it."""
    while is_blank(data[stop - 1]):
        stop -= 1
    first = stop
    while first > start and not is_blank(data[first - 1]):
        first -= 1
    if tags[0, 0] < 0:
        tags[0, 0], tags[0, 1] = first, stop
    elif not same_word(data, first, stop, data, tags[0, 0], tags[0, 1]):
        tags[1, 0], tags[1, 1] = first, stop


@kernel
def is_blank(byte):
    """Whether a byte is a blank inside a line."""
    return byte == 32 or byte == 9 or 11 <= byte <= 12


@kernel
def copy_words(data, starts, stops, out):
    """out = the words starts:stops, a newline after each; returns how many bytes that is."""
    at = 0
    for w in range(len(starts)):
        copy_word(data, starts[w], stops[w], out, at)
        at += stops[w] - starts[w] + 1
    return at
