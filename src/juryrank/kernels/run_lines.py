"""The lines of TREC runs as integers: names are numbered in the order of their first appearance."""

import numpy as np

from juryrank.kernels.decimals import HARD, ODD, decimal
from juryrank.kernels.jit import kernel
from juryrank.kernels.words import (
    CROWDED,
    FIRST_ROOM,
    NEWLINE,
    any_line_end,
    copy_word,
    grow_table,
    number_word,
    same_word,
    word_end,
)

WORDS = 6  # of a line; one less without a rank
QUERY, EXPERT, ITEM, LIST, ENTRY, CAREFUL = range(6)  # what is counted


@kernel
def split(words, data, at, separator, n_words, ends):
    """The ends of the words of the line at ``at``; returns the start of the next line, or -1 for an unusual line."""
    for w in range(n_words):
        end = word_end(words, at)
        if end == at or data[end] != (NEWLINE if w == n_words - 1 else separator):
            return -1
        ends[w] = end
        at = end + 1
    return at


@kernel
def read_line(words, data, at, separator, n_words, ends):
    """The start of the next line (-1 for an unusual line), the score, the result of ``decimal``, and the rank or 0."""
    after = split(words, data, at, separator, n_words, ends)
    if after < 0:
        return -1, 0.0, ODD, 0.0
    score, kind = decimal(data, ends[n_words - 3] + 1, ends[n_words - 2])
    rank, plain = decimal(data, ends[2] + 1, ends[3]) if n_words == WORDS else (0.0, 0)
    return (-1 if kind == ODD or plain != 0 else after), score, kind, rank


@kernel
def scan_runs(
    words, starts, stops, separators, n_words, books, names, list_query, list_expert, list_start, entry_item,
    entry_score, careful, counts,
):  # fmt: skip
    """Number the names in the lines of the pieces starts:stops; False at a line of unusual form.

    The usual form is one separator between words, plain numbers, names without many hash collisions (``number_word``),
    and ranks that never decrease within a list, which is consecutive lines of one query and one expert. ``books`` and
    ``names`` are of queries, experts and items. ``careful`` gets entry, start and stop of scores that ``decimal`` does
    not decide; ``counts`` gets the number of each kind.
    """
    data = words.view(np.uint8)
    queries, experts, items = books
    query_names, expert_names, item_names = names
    query_table = np.full(FIRST_ROOM, -1, np.int32)
    expert_table, item_table = query_table.copy(), query_table.copy()
    ends = np.empty(WORDS, np.int64)
    for f in range(len(starts)):
        at, last = starts[f], n_words[f] - 1
        query, query_end, tag, tag_end, lowest, expert = at, at, at, at, 0.0, -1
        while at < stops[f]:
            start = at
            if data[at] == NEWLINE:
                at += 1
                continue
            at, score, kind, rank = read_line(words, data, start, separators[f], last + 1, ends)
            if at < 0:
                return False
            same_tag = same_word(words, ends[last - 1] + 1, ends[last], words, tag, tag_end)
            if not same_tag:
                tag, tag_end = ends[last - 1] + 1, ends[last]
                expert_table = grow_table(expert_table, experts, counts[EXPERT])
                expert = number_word(words, tag, tag_end, expert_table, experts, expert_names, counts, EXPERT)
                if expert == CROWDED:
                    return False
            if same_tag and same_word(words, start, ends[0], words, query, query_end):
                if rank < lowest:
                    return False
            else:
                query, query_end = start, ends[0]
                query_table = grow_table(query_table, queries, counts[QUERY])
                m = counts[LIST]
                list_query[m] = number_word(words, query, query_end, query_table, queries, query_names, counts, QUERY)
                if list_query[m] == CROWDED:
                    return False
                list_expert[m] = expert
                list_start[m] = counts[ENTRY]
                counts[LIST] += 1
            lowest = rank
            if 2 * counts[ITEM] >= len(item_table):  # also tested here: the call alone is a tenth of the time
                item_table = grow_table(item_table, items, counts[ITEM])
            e = counts[ENTRY]
            entry_item[e] = number_word(words, ends[1] + 1, ends[2], item_table, items, item_names, counts, ITEM)
            if entry_item[e] == CROWDED:
                return False
            entry_score[e] = score
            counts[ENTRY] += 1
            if kind == HARD:
                careful[counts[CAREFUL]] = e
                careful[counts[CAREFUL] + 1] = ends[last - 2] + 1
                careful[counts[CAREFUL] + 2] = ends[last - 1]
                counts[CAREFUL] += 3
    return True


@kernel
def query_starts(words, size, lines, starts, stops, tags):
    """The starts of lines whose first word differs from that of the line before, and of that word; their number.

    The first line counts. The ``size`` bytes end in a newline; a carriage return ends a line, too. ``tags`` gets start
    and stop of the last word of the first line, and of the first one that differs from it.
    """
    data = words.view(np.uint8)
    count, line, word, stop = 0, 0, 0, 0
    while line < size:
        start = line
        while is_blank(data[start]):
            start += 1
        end = start
        while data[end] > 32 or not (is_blank(data[end]) or data[end] == NEWLINE or data[end] == 13):
            end = word_end(words, end) if data[end] > 32 else end + 1
        after = any_line_end(words, end)
        if end > start:
            if not same_word(words, start, end, words, word, stop):
                lines[count], starts[count], stops[count] = line, start, end
                count += 1
            word, stop = start, end
            if tags[1, 0] < 0:
                note_tag(words, data, start, after, tags)
        line = after + 1
    return count


@kernel
def note_tag(words, data, start, stop, tags):
    """Store the last word of data[start:stop] if it is the first such word, or the first that differs from it."""
    while is_blank(data[stop - 1]):
        stop -= 1
    first = stop
    while first > start and not is_blank(data[first - 1]):
        first -= 1
    if tags[0, 0] < 0:
        tags[0, 0], tags[0, 1] = first, stop
    elif not same_word(words, first, stop, words, tags[0, 0], tags[0, 1]):
        tags[1, 0], tags[1, 1] = first, stop


@kernel
def is_blank(byte):
    """Whether a byte is a blank inside a line."""
    return byte == 32 or byte == 9 or 11 <= byte <= 12


@kernel
def copy_words(words, starts, stops, out):
    """out = the words starts:stops, a newline after each; returns how many bytes that is."""
    data, target = words.view(np.uint8), out.view(np.uint8)
    at = 0
    for w in range(len(starts)):
        copy_word(data, starts[w], stops[w], target, at)
        at += stops[w] - starts[w] + 1
    return at
