"""The lists of one query, as Python has them, fused: ids in order, pairs of an id and a score, and dicts of scores.

Exact lists, tuples and dicts are read, with ids that are all text or all whole numbers, and scores that a float can be
without a loss. Everything else is left to Python, which gives the same numbers: then None is returned. Nothing here
runs code of others while objects are read, so that nothing changes meanwhile.
"""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AsDouble
from cpython.long cimport PyLong_AsDouble, PyLong_AsLongLong
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcmp
from libcpp.algorithm cimport partial_sort, sort, stable_sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

import numpy as np

cdef extern from "Python.h":  # here, these do not count references
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    PyObject* PyTuple_GetItem(object, Py_ssize_t) except NULL

cdef struct Entry:
    PyObject* id
    double score
    int32_t rank  # from 0 on; equal scores have the smallest
    int32_t item  # -1 where the entry repeats one of its list

cdef struct Item:
    PyObject* id
    const char* text  # NULL if the id is a whole number
    Py_ssize_t size  # of the text in bytes, or the number
    Py_ssize_t hash
    Py_ssize_t list  # the last that has it
    Py_ssize_t place  # in the result, -1 if it is not there
    double score

ctypedef Item* ItemPointer
ctypedef pair[double, ItemPointer] Place  # the negative score of an item, and the item

cdef int FARTHEST = 256  # places of the table from that of a hash on
cdef int DIGITS = 18  # a name with more digits is text, as for juryrank.data.names
cdef int64_t LARGEST = 10**18  # whole numbers from here on are sorted as text
cdef double EXACT = 2.0**53  # whole numbers up to this are the same as floats
cdef size_t MOST_KEPT = 1 << 15  # entries of lists whose memory is used again
cdef object FLOAT64 = np.float64, FLOAT32 = np.float32
cdef list spare = []  # Lists whose memory can be used again


cdef bint read_score(object thing, double* score) except -1:
    """Whether an object is a number that a float can be without a loss; ``score`` gets it."""
    if type(thing) is float or type(thing) is FLOAT64 or type(thing) is FLOAT32:
        score[0] = PyFloat_AsDouble(thing)
        return True
    if type(thing) is not int:
        return False
    score[0] = PyLong_AsDouble(thing)
    return abs(score[0]) < EXACT


cdef bint is_pair(object thing):
    return (type(thing) is tuple and len(<tuple>thing) == 2) or (type(thing) is list and len(<list>thing) == 2)


cdef bint read_pair(object thing, Entry* entry) except -1:
    """Whether an object is a tuple or a list of an id and a score; ``entry`` gets them."""
    if type(thing) is tuple and len(<tuple>thing) == 2:
        entry.id = PyTuple_GetItem(thing, 0)
        return read_score(<object>PyTuple_GetItem(thing, 1), &entry.score)
    if type(thing) is list and len(<list>thing) == 2:
        entry.id = PyList_GetItem(thing, 0)
        return read_score(<object>PyList_GetItem(thing, 1), &entry.score)
    return False


cdef bint is_higher(const Entry& one, const Entry& other) noexcept nogil:
    return one.score > other.score


cdef bint is_whole_number(const char* text, Py_ssize_t size) noexcept nogil:
    """Whether a name is a whole number as Python writes it: 0, 7, 10, but not 007."""
    cdef Py_ssize_t n
    for n in range(size):
        if text[n] < c"0" or text[n] > c"9":
            return False
    return 0 < size <= DIGITS and (text[0] != c"0" or size == 1)


cdef bint has_lower_name(const Item* one, const Item* other) noexcept nogil:
    """Natural order: whole numbers by value and first, then text by code point."""
    cdef bint number, other_number
    if one.text == NULL:
        return one.size < other.size
    number, other_number = is_whole_number(one.text, one.size), is_whole_number(other.text, other.size)
    if number != other_number:
        return number
    if number and one.size != other.size:
        return one.size < other.size
    cdef int order = memcmp(one.text, other.text, min(one.size, other.size))
    return order < 0 or (order == 0 and one.size < other.size)


cdef bint is_better(const Place& one, const Place& other) noexcept nogil:
    return one.first < other.first or (one.first == other.first and has_lower_name(one.second, other.second))


cdef void sort_first(vector[Place]& places, Py_ssize_t size, bint by_name):
    """Bring the best to the front, in order: equal ones by name, or as the lists have them, as addresses are."""
    cdef Py_ssize_t start = 0, stop, n_places = places.size()
    if 4 * size < n_places and by_name:
        partial_sort(places.begin(), places.begin() + size, places.end(), is_better)
        return
    sort(places.begin(), places.end())
    while by_name and start < size:
        stop = start + 1
        while stop < n_places and places[stop].first == places[start].first:
            stop += 1
        if stop > start + 1:
            sort(places.begin() + start, places.begin() + stop, is_better)
        start = stop


cdef class Lists:
    """The entries of several lists, those of each list best first, and their different items."""

    cdef vector[Entry] entries
    cdef vector[Py_ssize_t] ptr  # where the entries of each list begin
    cdef vector[bint] in_order  # whether a list has no scores
    cdef vector[Item] items
    cdef vector[Place] places
    cdef vector[int32_t] table
    cdef int shift  # from a hash to a place in the table
    cdef object id_type
    cdef Py_ssize_t missing, repeated, scored  # entries without a score and those that repeat; lists with scores
    cdef bint tied

    cdef bint read(self, list sources, bint may_tie, bint may_repeat) except -1:
        """Read and number all entries; False where there are none, and where lists are left to Python."""
        self.entries.clear()
        self.in_order.clear()
        self.items.clear()
        self.ptr.assign(1, 0)
        self.missing = self.repeated = self.scored = 0
        self.tied, self.id_type = False, None
        for source in sources:
            if not self.read_list(source) or (self.tied and not may_tie):
                return False
            self.ptr.push_back(self.entries.size())
        return self.entries.size() > 0 and self.number_items(may_repeat)

    cdef bint read_list(self, object source) except -1:
        """Read the entries of one list, best first."""
        cdef Py_ssize_t start = self.entries.size(), position = 0
        cdef PyObject* score = NULL
        cdef Entry entry
        cdef bint pairs = False, in_order = type(source) is list or type(source) is tuple
        entry.score, entry.rank, entry.item = 0.0, 0, -1
        if in_order:
            for thing in source:
                if entry.rank == 0 and is_pair(thing):
                    pairs = True
                entry.id = <PyObject*>thing
                if (pairs and not read_pair(thing, &entry)) or not self.is_id(<object>entry.id):
                    return False
                self.entries.push_back(entry)
                entry.rank += 1
        elif type(source) is dict:
            while PyDict_Next(source, &position, &entry.id, &score):
                if not read_score(<object>score, &entry.score) or not self.is_id(<object>entry.id):
                    return False
                self.entries.push_back(entry)
        else:
            return False
        in_order = in_order and not pairs
        self.in_order.push_back(in_order)
        return in_order or self.rank(source, start, pairs)

    cdef bint is_id(self, object id):
        """Whether an id is text or a whole number, as all are that were read before."""
        if self.id_type is None:
            self.id_type = type(id)
            return self.id_type is str or self.id_type is int
        return type(id) is self.id_type

    cdef bint rank(self, object source, Py_ssize_t start, bint pairs) except -1:
        """Sort the entries of a list by score, without those that have none."""
        cdef Py_ssize_t n, stop = start
        cdef bint falls = True
        cdef Entry* entry = self.entries.data()
        for n in range(start, <Py_ssize_t>self.entries.size()):
            if isfinite(entry[n].score):
                entry[stop] = entry[n]
                falls = falls and (stop == start or entry[stop].score < entry[stop - 1].score)
                stop += 1
        if stop < <Py_ssize_t>self.entries.size():
            if pairs and len({each[0] for each in source}) < len(source):
                return False
            self.missing += self.entries.size() - stop
            self.entries.resize(stop)
        self.scored += stop > start
        if not falls:
            stable_sort(self.entries.begin() + start, self.entries.end(), is_higher)
        for n in range(start, stop):
            entry[n].rank = n - start
            if n > start and entry[n].score == entry[n - 1].score:
                entry[n].rank, self.tied = entry[n - 1].rank, True
        return True

    cdef bint number_items(self, bint may_repeat) except -1:
        """Number the different items of all lists."""
        cdef Py_ssize_t l, n
        cdef int32_t item
        cdef size_t places = 16
        self.shift = 60
        while places < 2 * self.entries.size():
            places, self.shift = 2 * places, self.shift - 1
        self.table.assign(places, -1)
        self.items.reserve(self.entries.size())
        for l in range(<Py_ssize_t>self.in_order.size()):
            for n in range(self.ptr[l], self.ptr[l + 1]):
                item = self.find(<object>self.entries[n].id)
                if item < 0:
                    return False
                if self.items[item].list != l:
                    self.items[item].list = l
                    self.entries[n].item = item
                elif may_repeat and self.in_order[l]:
                    self.repeated += 1
                else:
                    return False
        return True

    cdef int32_t find(self, object id) except -2:
        """The number of the item with this id; -1 for one that is left to Python."""
        cdef Item item
        cdef Item* other
        cdef uint64_t place
        cdef int n
        item.id, item.size, item.list, item.place, item.score = <PyObject*>id, 0, -1, -1, 0.0
        item.text = NULL
        if self.id_type is int:
            item.size = item.hash = PyLong_AsLongLong(id)
            if item.size < 0 or item.size >= LARGEST:
                return -1
        else:
            item.hash = hash(id)
        place = (<uint64_t>item.hash * <uint64_t>0x9E3779B97F4A7C15) >> self.shift
        for n in range(FARTHEST):
            if self.table[place] < 0:
                if self.id_type is str and item.text == NULL:
                    item.text = PyUnicode_AsUTF8AndSize(id, &item.size)
                self.table[place] = <int32_t>self.items.size()
                self.items.push_back(item)
                return self.table[place]
            other = &self.items[self.table[place]]
            if other.hash == item.hash:
                if other.id == item.id or other.text == NULL:
                    return self.table[place]
                if item.text == NULL:
                    item.text = PyUnicode_AsUTF8AndSize(id, &item.size)
                if other.size == item.size and memcmp(other.text, item.text, item.size) == 0:
                    return self.table[place]
            place = (place + 1) & (self.table.size() - 1)
        return -1

    cdef dict best(self, object top, bint by_name):
        """The ``top`` scores by id, best first; None if one is no number."""
        cdef Place place
        cdef Item* item = self.items.data()
        cdef Py_ssize_t n, size = self.items.size()
        cdef dict found = {}
        self.places.clear()
        for n in range(size):
            place.first, place.second = -item[n].score, &item[n]
            if place.first != place.first:
                return None
            self.places.push_back(place)
        if top is not None:
            size = min(top, size)
        sort_first(self.places, size, by_name)
        for n in range(size):
            self.places[n].second.place = n
            found[<object>self.places[n].second.id] = -self.places[n].first
        return found


cdef Lists read_lists(list sources, bint may_tie, bint may_repeat):
    """The lists; None also for what is too large for a float, and for half of a pair of surrogates."""
    cdef Lists read = spare.pop() if spare else Lists()
    try:
        return read if read.read(sources, may_tie, may_repeat) else None
    except (OverflowError, UnicodeEncodeError):
        return None


cdef object give_back(Lists read, object found):
    """The result, after which the memory is not needed."""
    if read.entries.capacity() <= MOST_KEPT and len(spare) < 2:
        spare.append(read)
    return found


def fuse_lists(lists, list order, list curves, top, dropped, bint by_name, bint share_ties, bint detailed=False):
    """The ``top`` sums of points, ``{id: score}``, best first; None where the lists are left to Python.

    ``curves`` has the points of the ranks 1, 2, 3, … for each expert of ``order``, in which they are added up, as the
    bytes of floats; a number is returned if a list has more entries than points. Items tied in a list have the points
    of their smallest rank; with ``share_ties`` that is left to Python. ``dropped`` counts what is left out.

    If ``detailed``, also the ranks and the points by expert of each item, if no entry is left out.
    """
    cdef list sources = [lists[expert] for expert in order]
    cdef Py_ssize_t l, n
    cdef const double* points
    cdef Lists read = read_lists(sources, not share_ties, by_name and not share_ties)
    if read is None:
        return None
    for l in range(len(sources)):
        if (read.ptr[l + 1] - read.ptr[l]) * <Py_ssize_t>sizeof(double) > len(<bytes>curves[l]):
            return read.ptr[l + 1] - read.ptr[l]
        points = <const double*>PyBytes_AsString(curves[l])
        for n in range(read.ptr[l], read.ptr[l + 1]):
            if read.entries[n].item >= 0:
                read.items[read.entries[n].item].score += points[read.entries[n].rank]
    found = read.best(top, by_name)
    if detailed:
        if found is None or read.missing or read.repeated:
            return None
        return give_back(read, (found, *details(read, len(<dict>found), lists, order, curves)))
    if found is not None and (read.missing or read.repeated):
        dropped.missing += read.missing
        dropped.repeated += read.repeated
    return give_back(read, found)


cdef tuple details(Lists read, Py_ssize_t size, object lists, list order, list curves):
    """The ranks and the points by expert, of each item of the result; the experts as ``lists`` has them."""
    cdef list ranks = [{} for _ in range(size)], added = [{} for _ in range(size)]
    cdef dict number = {expert: l for l, expert in enumerate(order)}
    cdef const double* points
    cdef Py_ssize_t l, n, place
    for expert in lists:
        l = number[expert]
        points = <const double*>PyBytes_AsString(curves[l])
        for n in range(read.ptr[l], read.ptr[l + 1]):
            place = read.items[read.entries[n].item].place
            if place >= 0:
                (<dict>ranks[place])[expert] = read.entries[n].rank + 1
                (<dict>added[place])[expert] = points[read.entries[n].rank]
    return ranks, added


def combine_lists(list sources, combine, top, dropped):
    """The ``top`` items by the scores that ``combine`` gives to all, best first; None where that is left to Python.

    ``combine`` gets the scores of the entries and the numbers of their items, where the entries of each list begin, as
    the bytes of floats and whole numbers, the number of items, and whether scores tie in a list. It returns the bytes
    of the scores of all items, or None.
    """
    cdef Lists read = read_lists(sources, True, False)
    cdef Py_ssize_t n
    if read is None or read.scored < len(sources):
        return None
    cdef bytes score = PyBytes_FromStringAndSize(NULL, read.entries.size() * sizeof(double))
    cdef bytes item = PyBytes_FromStringAndSize(NULL, read.entries.size() * sizeof(int64_t))
    cdef bytes ptr = PyBytes_FromStringAndSize(<const char*>read.ptr.data(), read.ptr.size() * sizeof(int64_t))
    cdef double* scores = <double*>PyBytes_AsString(score)
    cdef int64_t* numbers = <int64_t*>PyBytes_AsString(item)
    for n in range(<Py_ssize_t>read.entries.size()):
        scores[n], numbers[n] = read.entries[n].score, read.entries[n].item
    ids = [<object>each.id for each in read.items]  # they stay, although others may change the lists meanwhile
    cdef bytes combined = combine(score, item, ptr, len(ids), read.tied)
    if combined is None:
        return None
    if len(combined) != len(ids) * <Py_ssize_t>sizeof(double):
        raise ValueError(f"{len(ids)} items, but {len(combined)} bytes of scores")
    for n in range(len(ids)):
        read.items[n].score = (<const double*>PyBytes_AsString(combined))[n]
    found = read.best(top, True)
    if found is not None:
        dropped.missing += read.missing
    return give_back(read, found)
