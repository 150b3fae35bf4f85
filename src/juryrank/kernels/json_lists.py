"""Lists of ids in JSON, added up and written again without decoding: from the bytes of a request to those of an answer.

Texts are arrays of bytes with room for at least eight more, because eight are read at a time.
"""

import numpy as np

from juryrank.kernels.jit import kernel
from juryrank.kernels.words import (
    FARTHEST,
    HALF,
    HIGHS,
    ONE,
    ONES,
    PRIME,
    before_mark,
    eight_bytes,
    first_marked_byte,
    same_word,
)

QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, BLANK, ZERO, NINE = 34, 92, 44, 91, 93, 32, 48, 57
COLON, BRACE = 58, 125
COMMAS, CLOSES = np.uint64(COMMA) * ONES, np.uint64(CLOSE) * ONES
QUOTES, BACKSLASHES, BLANKS = np.uint64(QUOTE) * ONES, np.uint64(BACKSLASH) * ONES, np.uint64(BLANK) * ONES
DIGITS = 18  # a name with more digits is text, as for juryrank.data.names
# Text of another form; a list with more items than points; no room.
UNUSUAL, DEEP, FULL = -1, -2, -3
# Of an item: where its id is, the last list that has it, and the object that is its id, if it is one of Python. Of a
# place in the order: the number of its item.
START, STOP, LIST, KEY, NUMBER = range(5)
WHOLE = -1  # in place of STOP, if START is an id that is a whole number
# What Python and the kernels tell each other: bytes, lists and entries of the text, whether equal scores go by id, how
# many items are written, where points by list and rank begin in ``numbers``, and of how many ranks each list has some.
SIZE, LISTS, ENTRIES, BY_NAME, BEST, POINTS, DEPTH = range(7)
BEFORE_ID = np.uint64(int.from_bytes(b'{"id":"', "little"))
BEFORE_SCORE = np.uint64(int.from_bytes(b'","score', "little"))
LOW = np.uint64(255)


@kernel
def id_end(text, at):
    """Where the id that begins at ``at`` has its closing quote, and a hash; UNUSUAL if it must be decoded first."""
    mixed = ONE
    while True:
        found = eight_bytes(text, at)
        quote, back = found ^ QUOTES, found ^ BACKSLASHES
        marks = ((quote - ONES) & ~quote) | ((back - ONES) & ~back) | ((found - BLANKS) & ~found) | found
        marks &= HIGHS  # of quotes, backslashes, control characters and letters beyond ASCII
        if marks != 0:
            break
        mixed = (mixed ^ found) * PRIME
        mixed ^= mixed >> HALF
        at += 8
    mixed = (mixed ^ (found & before_mark(marks))) * PRIME
    mixed = (mixed ^ (mixed >> HALF)) * PRIME
    at += first_marked_byte(marks)
    return (at if text[at] == QUOTE else UNUSUAL), np.int64((mixed ^ (mixed >> HALF)) >> ONE)


@kernel
def after_blanks(text, at):
    """The position of the first byte from ``at`` on that is no blank of JSON."""
    while text[at] == 32 or text[at] == 10 or text[at] == 13 or text[at] == 9:
        at += 1
    return at


@kernel
def find_item(text, start, stop, hashed, table, items, count):
    """The number of the item with this id, ``count`` if it is new, or UNUSUAL if too many share a place.

    Ids are all text or, if ``stop`` is WHOLE, all whole numbers.
    """
    mask = len(table) - 1
    place = hashed & mask
    for _ in range(FARTHEST):
        n = table[place]
        if n < 0:
            table[place] = count
            return count
        if stop == WHOLE:
            if items[n, START] == start:
                return n
        elif same_word(text, start, stop, text, items[n, START], items[n, STOP]):
            return n
        place = (place + 1) & mask
    return UNUSUAL


@kernel
def sum_lists(text, numbers, shape, table, items, scores):
    """The number of different items, which ``items`` gets, and ``scores`` their sums; negative where there are none.

    ``text`` has one list after another.
    """
    size, n_lists = shape[SIZE], shape[LISTS]
    places = 16
    while places < size // 2 and places < len(table):
        places *= 2
    table = table[:places]
    table[:] = -1
    at, count, shape[ENTRIES] = 0, 0, 0
    for l in range(n_lists):
        at = after_blanks(text, at)
        if text[at] != OPEN:
            return UNUSUAL
        at = after_blanks(text, at + 1)
        rank, points = 0, shape[POINTS] + l * shape[DEPTH]
        while text[at] != CLOSE or rank > 0:
            stop, hashed = id_end(text, at + 1)
            if text[at] != QUOTE or stop < 0:
                return UNUSUAL
            if rank == shape[DEPTH]:
                return DEEP
            n = find_item(text, at + 1, stop, hashed, table, items, count)
            if n == count:
                if 2 * count >= places:
                    return FULL
                items[n, START], items[n, STOP], items[n, LIST], scores[n] = at + 1, stop, -1, 0.0
                count += 1
            if n < 0 or items[n, LIST] == l:
                return UNUSUAL
            scores[n] += numbers[points + rank]
            items[n, LIST] = l
            rank += 1
            at = after_blanks(text, stop + 1)
            if text[at] == CLOSE:
                break
            if text[at] != COMMA:
                return UNUSUAL
            at = after_blanks(text, at + 1)
        at += 1
        shape[ENTRIES] += rank
    return count if after_blanks(text, at) == size else UNUSUAL


@kernel
def is_whole_number(text, start, stop):
    """Whether an id is a whole number as Python writes it: 0, 7, 10, but not 007."""
    if stop == start or stop - start > DIGITS or (text[start] == ZERO and stop - start > 1):
        return False
    at = start
    while at < stop and text[at] >= ZERO and text[at] <= NINE:
        at += 1
    return at == stop


@kernel
def id_before(text, start, stop, other, end):
    """Whether an id comes before another in natural order: whole numbers by value and first, then by bytes."""
    number, other_number = is_whole_number(text, start, stop), is_whole_number(text, other, end)
    if number != other_number:
        return number
    if number and stop - start != end - other:
        return stop - start < end - other
    while start < stop and other < end:
        if text[start] != text[other]:
            return text[start] < text[other]
        start += 1
        other += 1
    return other < end


@kernel
def comes_first(text, items, one, other):
    """Whether an item belongs before another with the same score, by id."""
    if items[one, STOP] == WHOLE:
        return items[one, START] < items[other, START]
    return id_before(text, items[one, START], items[one, STOP], items[other, START], items[other, STOP])


@kernel
def order_items(text, items, scores, count, by_name, order, spare_scores, spare):
    """Sorted scores and the numbers of their items, best first (merge sort), in these arrays or in the spare ones.

    Equal scores go by id or, unless ``by_name``, in the order of the lists.
    """
    for n in range(count):
        order[n] = n
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            middle, stop = min(start + width, count), min(start + 2 * width, count)
            # A negative index would have to be tested for.
            left, right, n = np.uint64(start), np.uint64(middle), np.uint64(start)
            left_stop, right_stop = np.uint64(middle), np.uint64(stop)
            while left < left_stop or right < right_stop:
                if right == right_stop:
                    take_right = False
                elif left == left_stop or scores[right] != scores[left]:
                    take_right = left == left_stop or scores[right] > scores[left]
                else:
                    take_right = by_name and comes_first(text, items, order[right], order[left])
                if take_right:
                    spare_scores[n], spare[n] = scores[right], order[right]
                    right += ONE
                else:
                    spare_scores[n], spare[n] = scores[left], order[left]
                    left += ONE
                n += ONE
        scores, order, spare_scores, spare = spare_scores, spare, scores, order
        width *= 2
    return scores, order


@kernel
def fuse_lists(text, numbers, shape, table, items, scores, order, spare, best):
    """As ``sum_lists``; ``items`` gets the numbers of the items, best first, and ``best`` their scores."""
    count = sum_lists(text, numbers, shape, table, items, scores)
    if count > 0:
        sums, found = order_items(text, items, scores, count, shape[BY_NAME] == 1, order, best, spare)
        for n in range(count):
            best[n], items[n, NUMBER] = sums[n], found[n]
    return count


@kernel
def put_eight(out, at, found):
    """Write eight bytes, the lowest first; compiled, this is one instruction."""
    at = np.uint64(at)
    out[at] = found & LOW
    out[at + ONE] = (found >> np.uint64(8)) & LOW
    out[at + np.uint64(2)] = (found >> np.uint64(16)) & LOW
    out[at + np.uint64(3)] = (found >> np.uint64(24)) & LOW
    out[at + np.uint64(4)] = (found >> HALF) & LOW
    out[at + np.uint64(5)] = (found >> np.uint64(40)) & LOW
    out[at + np.uint64(6)] = (found >> np.uint64(48)) & LOW
    out[at + np.uint64(7)] = found >> np.uint64(56)


@kernel
def copy_bytes(source, start, stop, out, at):
    """Copy source[start:stop] to ``at``, and return where it ends; up to seven more bytes are written."""
    for i in range(0, stop - start, 8):
        put_eight(out, at + i, eight_bytes(source, start + i))
    return at + stop - start


@kernel
def copy_number(numbers, start, out, at):
    """Copy a number of a list that ends with a comma or a bracket; where it ends in both, as ``copy_bytes``."""
    while True:
        found = eight_bytes(numbers, start)
        put_eight(out, at, found)
        comma, close = found ^ COMMAS, found ^ CLOSES
        marks = (((comma - ONES) & ~comma) | ((close - ONES) & ~close)) & HIGHS
        if marks != 0:
            length = first_marked_byte(marks)
            return start + length, at + length
        start += 8
        at += 8


@kernel
def write_items(text, shape, items, numbers, out):
    """The length of ``[{"id":…,"score":…},…]``, which ``out`` gets, for the first items, at least one.

    ``numbers`` are their scores as a JSON list.
    """
    out[0] = OPEN
    at, digit = 1, 0
    for n in range(shape[BEST]):
        item = items[n, NUMBER]
        put_eight(out, at, BEFORE_ID)
        at = copy_bytes(text, items[item, START], items[item, STOP], out, at + 7)
        put_eight(out, at, BEFORE_SCORE)
        out[at + 8], out[at + 9] = QUOTE, COLON
        digit, at = copy_number(numbers, digit + 1, out, at + 10)
        out[at], out[at + 1] = BRACE, COMMA
        at += 2
    out[at - 1] = CLOSE
    return at
