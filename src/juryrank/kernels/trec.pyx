# distutils: language = c++
"""TREC text to arrays: lines are split into columns, and names numbered in the order of their first appearance.

Text may be anything. Every pointer comes with the end of its text, where it is never followed.
"""

from cpython.bytes cimport PyBytes_AsString
from cython.operator cimport dereference
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memchr, memcmp
from libcpp.algorithm cimport is_sorted, sort
from libcpp.map cimport map as ordered_map
from libcpp.utility cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

import numpy as np

cdef extern from *:
    """
    #include <cstdint>
    #if __has_include(<charconv>)
    #include <charconv>
    #endif
    // Whether first:last is a decimal number; -1 where Python must decide: it is too large or too small for a double,
    // or the standard library has no from_chars for doubles (libc++ before LLVM 20).
    static int parse_double(const char *first, const char *last, double *value) {
    #if defined(__cpp_lib_to_chars)
        if (last - first > 1 && *first == '+' && first[1] != '-') first++;
        if (first == last || last[-1] == ')') return 0;  // nan(1) is a number in C
        const auto found = std::from_chars(first, last, *value);
        return found.ec == std::errc::result_out_of_range ? -1 : found.ec == std::errc() && found.ptr == last;
    #else
        return -1;
    #endif
    }
    """
    int parse_double(const char *first, const char *last, double *value) nogil

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef enum:
    TAB = 9
    BLANK = 32
    QRELS = 4  # columns of a line; a run has six, or five without ranks
    FULL = 6
    RANK = 3  # the column that may be empty
    BATCH = 64  # names that are looked up together
    FARTHEST = 256  # distance of a name from its own place; ordinary names need a fifth of that among millions
    DIGITS = 18  # as many always fit into 64 bits

cdef uint64_t ONES = 0x0101010101010101, HIGHS = 0x8080808080808080, VISIBLE = 33 * ONES  # of each byte
cdef uint64_t PRIME = 0x9E3779B97F4A7C15  # from the golden ratio: multiplication spreads the bits over the high ones
cdef double[23] TEN_TO  # exact in double precision
for _n in range(23):
    TEN_TO[_n] = 10.0**_n

ctypedef pair[int64_t, int64_t] Ints
ctypedef pair[Ints, Ints] Place  # of a list: its text and query, its expert and number

cdef struct Cell:
    const char *start
    const char *stop

cdef struct Name:
    uint64_t hashed
    Py_ssize_t start, size

cdef struct Line:
    Cell query, item, tag
    double rank, score  # NaN for a rank that is no number
    const char *stop
    Py_ssize_t head, tail  # bytes before the item (0 if there is not one separator twice), and of the tag
    bint same_query, same_tag  # as the line before


cdef inline uint64_t eight_bytes(const char *at, const char *end) noexcept nogil:
    """The eight bytes from ``at`` on, the first in the lowest bits; 0 for those beyond the end."""
    cdef const unsigned char *p = <const unsigned char *> at
    cdef uint64_t found = 0
    if end - at >= 8:  # compiled, this is one instruction
        return (
            <uint64_t> p[0] | <uint64_t> p[1] << 8 | <uint64_t> p[2] << 16 | <uint64_t> p[3] << 24
            | <uint64_t> p[4] << 32 | <uint64_t> p[5] << 40 | <uint64_t> p[6] << 48 | <uint64_t> p[7] << 56
        )
    for n in range(end - at):
        found |= <uint64_t> p[n] << 8 * n
    return found


cdef inline const char *word_end(const char *at, const char *end) noexcept nogil:
    """The first blank or control character from ``at`` on, or the end."""
    cdef uint64_t found, marks
    while at < end:
        found = eight_bytes(at, end)
        marks = (found - VISIBLE) & ~found & HIGHS  # right up to the first mark, by borrowing wrong after it
        if marks:
            return at + (((((marks & (~marks + 1)) - 1) & ONES) * ONES) >> 56) - 1
        at += 8
    return end


cdef inline uint64_t hash_of(Cell cell) noexcept nogil:
    cdef uint64_t mixed = 1
    while cell.stop - cell.start >= 8:
        mixed = (mixed ^ eight_bytes(cell.start, cell.stop)) * PRIME
        mixed ^= mixed >> 32
        cell.start += 8
    mixed = (mixed ^ eight_bytes(cell.start, cell.stop)) * PRIME
    mixed = (mixed ^ mixed >> 32) * PRIME  # without a second round, numbers with leading zeros collide
    return mixed ^ mixed >> 32


cdef inline bint is_blank(char c) noexcept nogil:
    """Whether a character is a blank inside a line."""
    return c == BLANK or c == TAB or c == 11 or c == 12


cdef inline bint is_end(const char *at, const char *end) noexcept nogil:
    """Whether a line ends here."""
    return at == end or at[0] == 10 or at[0] == 13


cdef inline const char *find(const char *at, const char *end, char c) noexcept nogil:
    """The first such character from ``at`` on, or the end."""
    cdef const char *found = <const char *> memchr(at, c, end - at)
    return end if found == NULL else found


cdef inline const char *line_end(const char *at, const char *end) noexcept nogil:
    return find(at, find(at, end, 10), 13)


cdef inline bint begins(const char *at, const char *end, const char *other, Py_ssize_t size) noexcept nogil:
    """Whether a text begins with ``size`` other bytes."""
    return end - at >= size and memcmp(at, other, size) == 0


cdef inline bint same(Cell one, Cell other) noexcept nogil:
    cdef Py_ssize_t size = other.stop - other.start
    return one.stop - one.start == size and memcmp(one.start, other.start, size) == 0


cdef inline const char *digits_end(const char *at, const char *end, uint64_t *number) noexcept nogil:
    """Where the digits at ``at`` end; they are appended to the number, into which 18 fit, and more wrap around."""
    while at < end and 48 <= at[0] <= 57:
        number[0] = 10 * number[0] + <uint64_t> (at[0] - 48)
        at += 1
    return at


cdef const char *number_at(const char *start, const char *end, double *value, bint *found) except NULL nogil:
    """The end of the word that begins here, whether it is a decimal number, and which."""
    cdef uint64_t mantissa = 0
    cdef const char *first = start + (start < end and start[0] == c"-")
    cdef const char *point = digits_end(first, end, &mantissa)
    cdef bint pointed = point < end and point[0] == c"."
    cdef const char *at = digits_end(point + pointed, end, &mantissa)
    cdef Py_ssize_t digits = at - first - pointed, fraction = at - point - pointed
    cdef int known = 1
    if (at == end or 0 <= at[0] <= BLANK) and 0 < digits <= DIGITS and fraction <= 22 and mantissa <= 1LL << 53:
        value[0] = <double> <int64_t> mantissa / TEN_TO[fraction]  # both are exact, so this is rounded once
        if first > start:
            value[0] = -value[0]
    else:
        at = word_end(start, end)
        known = parse_double(start, at, value)
        if known < 0:
            with gil:
                known = python_double(start[: at - start], value)
    found[0] = known
    return at


cdef bint python_double(bytes text, double *value):
    try:
        value[0] = PyOS_string_to_double(text, NULL, NULL)
    except ValueError:
        return False
    return True


cdef inline Cell next_word(const char *at, const char *stop) noexcept nogil:
    """The next word in a line, empty at its end."""
    while at < stop and is_blank(at[0]):
        at += 1
    cdef Cell word = Cell(at, at)
    while word.stop < stop and not is_blank(word.stop[0]):
        word.stop += 1
    return word


cdef int split_line(const char *at, const char *stop, int n, Cell *cells) noexcept nogil:
    """The number of columns in a line, n + 1 if more than n: between tabs if that gives all, else between any blanks.

    So a name between tabs may have blanks inside, blanks around it never count, and each line is split on its own.
    """
    cdef const char *start = at
    cdef bint more = True
    cdef int found = 0
    cdef Cell cell
    while found < n and more:
        cell = Cell(start, find(start, stop, TAB))
        more = cell.stop < stop
        start = cell.stop + more
        while cell.start < cell.stop and is_blank(cell.start[0]):
            cell.start += 1
        while cell.start < cell.stop and is_blank((cell.stop - 1)[0]):
            cell.stop -= 1
        if cell.start == cell.stop and not (n == FULL and found == RANK):
            break
        cells[found] = cell
        found += 1
    if found == n and not more:
        return n
    for found in range(n + 1):
        cells[found] = next_word(at, stop)
        at = cells[found].stop
        if cells[found].start == stop:
            return found
    return n + 1


def name_hash(bytes name):
    """The hash of a name: tests make names that collide."""
    cdef const char *start = name
    return hash_of(Cell(start, start + len(name)))


cdef class Names:
    """Names of one kind, numbered in the order of their first use."""

    cdef vector[Name] book
    cdef vector[char] text  # the names, a newline after each
    cdef vector[int32_t] table  # the number of the name at each place, or -1
    cdef ordered_map[string, int32_t] crowd  # names far from their place: they may be made so that all share one

    def __init__(self):
        self.table.assign(1 << 10, -1)

    def __len__(self):
        return self.book.size()

    def __bytes__(self):
        """The names in their order, a newline after each."""
        return self.text.data()[: self.text.size()]

    def number_all(self, bytes text, const int64_t[::1] sizes=None):
        """The numbers of names that follow each other in a text: of some sizes, or with a newline after each."""
        out = np.empty(text.count(b"\n") if sizes is None else len(sizes), np.int32)
        cdef int32_t[::1] number = out
        cdef Cell[BATCH] batch
        cdef const char *at = text
        cdef const char *end = at + len(text)
        cdef Py_ssize_t n, count, size
        cdef bint lines = sizes is None
        with nogil:
            for n in range(number.shape[0]):
                count = n % BATCH
                size = find(at, end, 10) - at if lines else min(max(sizes[n], 0), end - at)
                batch[count] = Cell(at, at + size)
                at = at + size + (lines and size < end - at)
                if count + 1 == BATCH or n + 1 == number.shape[0]:
                    self.look_up(batch, <int> count + 1, &number[n - count])
        return out

    cdef int look_up(self, const Cell *words, int count, int32_t *out) except -1 nogil:
        """out = the numbers of some words; loops of independent steps wait for the memory of many words at once."""
        cdef uint64_t[BATCH] hashed
        cdef uint64_t mask = self.table.size() - 1
        for w in range(count):
            hashed[w] = hash_of(words[w])
            out[w] = self.table[hashed[w] & mask]
        for w in range(count):
            if out[w] >= 0 and self.book[out[w]].hashed != hashed[w]:
                out[w] = -1
        for w in range(count):
            if out[w] < 0 or not self.is_name(words[w], out[w]):
                out[w] = self.number(words[w], hashed[w])
        return 0

    cdef inline bint is_name(self, Cell word, int32_t n) noexcept nogil:
        cdef const char *start = self.text.data() + self.book[n].start
        return same(word, Cell(start, start + self.book[n].size))

    cdef int32_t number(self, Cell word, uint64_t hashed) except -1 nogil:
        """The number of a word; a new one is copied."""
        cdef uint64_t mask = self.table.size() - 1, place = hashed & mask
        cdef int32_t n, count = <int32_t> self.book.size()
        cdef ordered_map[string, int32_t].iterator crowded
        for _ in range(FARTHEST):
            n = self.table[place]
            if n < 0:
                break
            if self.book[n].hashed == hashed and self.is_name(word, n):
                return n
            place = (place + 1) & mask
        if not self.crowd.empty():
            crowded = self.crowd.find(string(word.start, word.stop - word.start))
            if crowded != self.crowd.end():
                return dereference(crowded).second
        self.book.push_back(Name(hashed, self.text.size(), word.stop - word.start))
        self.text.insert(self.text.end(), word.start, word.stop)
        self.text.push_back(10)
        if 2 * self.book.size() > self.table.size():
            self.table.assign(4 * self.table.size(), -1)
            for n in range(count):
                self.insert(n)
        self.insert(count)
        return count

    cdef int insert(self, int32_t n) except -1 nogil:
        """Give a name the next place that is free, or one in the crowd if that is far away."""
        cdef uint64_t mask = self.table.size() - 1, place = self.book[n].hashed & mask
        for _ in range(FARTHEST):
            if self.table[place] < 0:
                self.table[place] = n
                return 0
            place = (place + 1) & mask
        self.crowd[string(self.text.data() + self.book[n].start, self.book[n].size)] = n
        return 0


cdef int read_usual(const char *at, const char *end, int n, Line *line) except -1 nogil:
    """Whether a line begins as the one before, and has its separator between words and numbers; then it is read."""
    cdef Line new = line[0]
    cdef bint found = True
    cdef char separator
    if line.head == 0 or not begins(at, end, line.query.start, line.head):
        return False
    at += line.head
    separator = (at - 1)[0]
    new.item = Cell(at, word_end(at, end))
    at = new.item.stop
    if n == FULL and at < end and at[0] == separator:
        at = number_at(at + 1, end, &new.rank, &found)
        if new.rank != new.rank:
            new.rank = INFINITY
    if new.item.start == new.item.stop or not found or at == end or at[0] != separator:
        return False
    at = number_at(at + 1, end, &new.score, &found)
    new.same_query = new.same_tag = True
    if n > QRELS:
        if at == end or at[0] != separator:
            return False
        at += 1
        if begins(at, end, line.tag.start, line.tail) and is_end(at + line.tail, end):
            at += line.tail
        else:
            new.tag, new.same_tag = Cell(at, word_end(at, end)), False
            new.tail = new.tag.stop - at
            at = new.tag.stop
    if not found or not is_end(at, end) or new.tail == 0:
        return False
    new.stop = at
    line[0] = new
    return True


cdef int read_any(const char *at, const char *end, int n, Line *line) except -1 nogil:
    """The number of columns of a line, FULL + 2 if one should be a number and is not; if all is well, it is read."""
    cdef Cell[FULL + 1] cells
    cdef Cell score
    cdef double rank = NAN
    cdef bint found = False
    line.stop = line_end(at, end)
    cdef int count = split_line(at, line.stop, n, cells)
    if count != n:
        return count
    found = n == FULL and number_at(cells[RANK].start, cells[RANK].stop, &rank, &found) == cells[RANK].stop and found
    line.rank = NAN if not found else INFINITY if rank != rank else rank
    score = cells[n - 1 - (n > QRELS)]
    if number_at(score.start, score.stop, &line.score, &found) != score.stop or not found:
        return FULL + 2
    line.same_query, line.same_tag = same(line.query, cells[0]), n == QRELS or same(line.tag, cells[n - 1])
    line.query, line.item, line.tag = cells[0], cells[2], cells[n - 1]
    found = at == line.query.start and cells[1].start == line.query.stop + 1 and line.item.start == cells[1].stop + 1
    found = found and line.query.stop[0] == cells[1].stop[0]
    line.head, line.tail = found * (line.item.start - at), line.tag.stop - line.tag.start
    return n


cdef class Lines:
    """The lines of TREC texts as numbers; a list is consecutive lines of one text with one query and one expert.

    ``item`` and ``score`` are of entries; lists begin at ``list_start``. ``bad`` is the first line that cannot be read
    (its text, and where it starts), after which nothing is. ``contradictions`` are neighbours in a list, by score,
    whose ranks are the other way round, counted for each text.
    """

    cdef readonly Names queries, experts, items
    cdef readonly object item, score, list_source, list_query, list_expert, list_start, contradictions, bad
    cdef int32_t[::1] items_of
    cdef double[::1] scores, ranks
    cdef int64_t[::1] source, query, expert, start
    cdef Py_ssize_t entries, lists

    def __init__(self, texts, columns, source, start, stop):
        """``columns`` is 6, 5 (runs without ranks) or 4 (qrels) for each text; parts of texts are read, in this order.

        They are given by the number of a text, start and stop of each, and end with a line.
        """
        texts = tuple(texts)
        cdef const int64_t[:, ::1] parts = np.ascontiguousarray(np.column_stack([source, start, stop]), np.int64)
        cdef vector[Cell] whole
        cdef vector[int] n
        cdef const char *begin
        cdef const char *bad = NULL
        cdef Py_ssize_t p, t, room = 1, size = 0
        for text, count in zip(texts, columns, strict=True):
            begin = PyBytes_AsString(text)
            whole.push_back(Cell(begin, begin + len(text)))
            n.push_back(min(max(count, QRELS), FULL))
        for p in range(parts.shape[0]):
            t = parts[p, 0]
            if not (0 <= t < n.size() and 0 <= parts[p, 1] <= parts[p, 2] <= whole[t].stop - whole[t].start):
                raise ValueError("a part is not within its text")
            begin = whole[t].start
            room += count_lines(begin + parts[p, 1], begin + parts[p, 2])
            size += parts[p, 2] - parts[p, 1] + 1
        self.queries, self.experts, self.items = Names(), Names(), Names()
        # Memory that is never written to takes none, and large parts go back to the system; what grows, does not.
        self.items.book.reserve(room)
        self.items.text.reserve(size)
        self.item, self.score = np.empty(room, np.int32), np.empty(room)
        self.list_source, self.list_query, self.list_expert, self.list_start = np.empty((4, room), np.int64)
        self.items_of, self.scores, self.ranks = self.item, self.score, np.empty(room)
        self.source, self.query, self.expert, self.start = (
            self.list_source, self.list_query, self.list_expert, self.list_start
        )
        cdef int64_t[::1] contradictions = np.zeros(len(texts), np.int64)
        with nogil:
            for p in range(parts.shape[0]):
                t, begin = parts[p, 0], whole[parts[p, 0]].start
                bad = self.read(begin + parts[p, 1], begin + parts[p, 2], n[t], t)
                if bad != begin + parts[p, 2]:
                    with gil:
                        self.bad = t, bad - begin
                    break
            self.start[self.lists] = self.entries
            self.count_contradictions(contradictions)
        self.contradictions = np.asarray(contradictions)
        self.item, self.score = self.item[: self.entries], self.score[: self.entries]
        self.list_source, self.list_query = self.list_source[: self.lists], self.list_query[: self.lists]
        self.list_expert, self.list_start = self.list_expert[: self.lists], self.list_start[: self.lists + 1]
        self.ranks = None

    cdef const char *read(self, const char *at, const char *end, int n, int64_t source) except NULL nogil:
        """Read a part of a text up to its end, or to the first line that cannot be read."""
        cdef Cell[BATCH] batch
        cdef int count = 0, columns
        cdef int32_t q = 0, k = 0
        cdef Line line = Line(Cell(at, at), Cell(at, at), Cell(at, at), NAN, NAN, at, 0, 0, False, True)
        while at < end:
            if is_end(at, end):
                at += 1
                continue
            if not read_usual(at, end, n, &line):
                columns = read_any(at, end, n, &line)
                if columns == 0:
                    at = line.stop
                    continue
                if columns != n:
                    break
            if not line.same_query:
                q = self.queries.number(line.query, hash_of(line.query))
            if not line.same_tag:
                k = self.experts.number(line.tag, hash_of(line.tag))
            if not (line.same_query and line.same_tag):
                self.source[self.lists], self.query[self.lists], self.expert[self.lists] = source, q, k
                self.start[self.lists] = self.entries
                self.lists += 1
            self.scores[self.entries] = line.score
            self.ranks[self.entries] = line.rank
            self.entries += 1
            batch[count] = line.item
            count += 1
            if count == BATCH:
                self.items.look_up(batch, count, &self.items_of[self.entries - count])
                count = 0
            at = line.stop
        self.items.look_up(batch, count, &self.items_of[self.entries - count])
        return at

    cdef int count_contradictions(self, int64_t[::1] out) except -1 nogil:
        """out = the contradictions in each text, without entries that have no rank; ranks order those that are tied."""
        cdef vector[Place] lists
        cdef vector[pair[double, double]] places
        cdef Py_ssize_t i, e, m
        cdef bint again
        for m in range(self.lists):
            lists.push_back(Place(Ints(self.source[m], self.query[m]), Ints(self.expert[m], m)))
        sort(lists.begin(), lists.end())
        for i in range(self.lists):
            m = lists[i].second.second
            for e in range(self.start[m], self.start[m + 1]):
                if self.ranks[e] == self.ranks[e]:  # the best score comes first, and last what is no number
                    fall = -self.scores[e] if self.scores[e] == self.scores[e] else INFINITY
                    places.push_back(pair[double, double](fall, self.ranks[e]))
            again = i + 1 < self.lists and lists[i + 1].first == lists[i].first
            if again and lists[i + 1].second.first == lists[i].second.first:
                continue
            if not is_sorted(places.begin(), places.end()):
                sort(places.begin(), places.end())
            for e in range(1, <Py_ssize_t> places.size()):
                out[self.source[m]] += places[e].second < places[e - 1].second
            places.clear()
        return 0


cdef Py_ssize_t count_lines(const char *at, const char *end) noexcept nogil:
    """The number of lines at most."""
    cdef Py_ssize_t count = 1, i
    for i in range(end - at):
        count += (at[i] == 10) + (at[i] == 13)
    return count


def find_queries(bytes text, int n):
    """The queries of lines where they differ from the line before, where these lines start, and two tags.

    Words are as in lines of n columns, a newline follows each; the first line counts. The tags are the last columns of
    the first line and of the first line that has another.
    """
    cdef vector[char] words
    cdef vector[int64_t] starts
    cdef Cell[FULL + 1] cells
    cdef Cell query = Cell(NULL, NULL)
    cdef const char *begin = text
    cdef const char *at = begin
    cdef const char *end = begin + len(text)
    cdef const char *stop
    cdef int count, tags = 0
    cdef Cell[2] tag
    n = min(max(n, QRELS), FULL)
    with nogil:
        while at < end:
            stop = line_end(at, end)
            count = split_line(at, stop, n, cells)
            if count and not same(query, cells[0]):
                query = cells[0]
                starts.push_back(at - begin)
                words.insert(words.end(), query.start, query.stop)
                words.push_back(10)
            if count and tags < 2 and not (tags and same(tag[0], cells[count - 1])):
                tag[tags] = cells[count - 1]
                tags += 1
            at = stop + (stop < end)
    found = [each.start[: each.stop - each.start] for each in tag[:tags]]
    return words.data()[: words.size()], np.array(starts, np.int64), found
