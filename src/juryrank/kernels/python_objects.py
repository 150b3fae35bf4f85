"""Lists as Python has them: ids and scores are read from its objects, without a copy.

Objects are whole numbers here, their addresses. Those of the types in ``shape`` are read, no subclasses, by functions
of Python's stable interface, none of which runs code of others: nothing changes while a kernel reads it. ``memory`` is
all memory of the process from the address BASE on, as bytes. Python begins texts at a multiple of eight bytes, so that
eight at a time can be read up to their end.
"""

import numpy as np

from juryrank.kernels.jit import PythonFunction, kernel
from juryrank.kernels.json_lists import FULL, UNUSUAL
from juryrank.kernels.words import eight_bytes, same_word

BASE, TYPE = 16, 8  # TYPE: where an object has the address of its type
LARGEST = 10**18  # whole numbers from here on are sorted as text
IDS, PAIRS, DICT, REPEATING = range(4)  # kinds of lists; the last are pairs that repeat an id
FEW = 4  # missing scores in a list of pairs that are looked at one by one
EXACT = 2.0**53  # whole numbers up to this are the same as floats
# What Python tells the kernels: the lists, where the result goes, how many items it has at the most, whether equal
# scores go by id, whether scores may tie and items repeat in a list, where points by list and rank begin in
# ``numbers``, of how many ranks each list has some, and where ``space`` is.
SOURCES, RESULT, TOP, BY_NAME, MAY_TIE, MAY_REPEAT, POINTS, DEPTH, SPACE = range(9)
# What they tell Python: lists, entries, those that repeat an item and those without a score, lists that have scores,
# and whether scores tie in one; the type of the ids; how many items there are, and how many of them the result has.
LISTS, ENTRIES, REPEATED, MISSING, SCORED, TIED, OF_IDS, ITEMS, BEST = range(9, 18)
# The addresses of the types that are read.
LIST_TYPE, TUPLE_TYPE, DICT_TYPE, TEXT_TYPE, WHOLE_TYPE, FLOAT_TYPE, FLOAT64_TYPE, FLOAT32_TYPE = range(18, 26)
SIZE = 26

dict_next = PythonFunction("PyDict_Next", "iiii", "c")
set_item = PythonFunction("PyDict_SetItem", "iii", "c")
list_size, list_item = PythonFunction("PyList_Size", "i", "i"), PythonFunction("PyList_GetItem", "ii", "i")
tuple_size, tuple_item = PythonFunction("PyTuple_Size", "i", "i"), PythonFunction("PyTuple_GetItem", "ii", "i")
text_of, whole_of = PythonFunction("PyUnicode_AsUTF8AndSize", "ii", "i"), PythonFunction("PyLong_AsLongLong", "i", "i")
float_of, float_of_whole = PythonFunction("PyFloat_AsDouble", "i", "f"), PythonFunction("PyLong_AsDouble", "i", "f")
error_is_set = PythonFunction("PyErr_Occurred", "", "i")
new_float, release = PythonFunction("PyFloat_FromDouble", "f", "i"), PythonFunction("Py_DecRef", "i", "")


@kernel
def type_of(memory, thing):
    """The type of an object."""
    return np.int64(eight_bytes(memory, thing + TYPE - BASE))


@kernel
def read_score(memory, thing, shape):
    """The number that an object is, and whether it is one that a float can be without a loss."""
    kind = type_of(memory, thing)
    if kind == shape[FLOAT_TYPE] or kind == shape[FLOAT64_TYPE] or kind == shape[FLOAT32_TYPE]:
        return float_of(thing), True
    if kind == shape[WHOLE_TYPE]:
        number = float_of_whole(thing)
        too_large = number == -1.0 and error_is_set() != 0  # the caller of the kernel gets the error
        return number, abs(number) < EXACT and not too_large
    return 0.0, False


@kernel
def read_pair(memory, thing, shape):
    """The two objects of a tuple or list of two; 0 for what is none."""
    kind = type_of(memory, thing)
    if kind == shape[TUPLE_TYPE] and tuple_size(thing) == 2:
        return tuple_item(thing, 0), tuple_item(thing, 1)
    if kind == shape[LIST_TYPE] and list_size(thing) == 2:
        return list_item(thing, 0), list_item(thing, 1)
    return 0, 0


@kernel
def read_dict(memory, source, shape, space, key, given):
    """As ``read_list``, of a dict."""
    size = space[0] = 0
    while dict_next(source, shape[SPACE], shape[SPACE] + 8, shape[SPACE] + 16) != 0:
        if size == len(key):
            return FULL
        key[size] = space[1]
        given[size], known = read_score(memory, space[2], shape)
        if not known:
            return UNUSUAL
        size += 1
    return size


@kernel
def read_list(memory, source, shape, space, key, given):
    """The number of entries of a list, whose ids ``key`` gets; if they have scores, ``given`` gets them.

    ``space[3]`` gets IDS, PAIRS or DICT: what it is a list of.
    """
    kind, space[3] = type_of(memory, source), DICT
    if kind == shape[DICT_TYPE]:
        return read_dict(memory, source, shape, space, key, given)
    in_list, pairs = kind == shape[LIST_TYPE], False
    if not in_list and kind != shape[TUPLE_TYPE]:
        return UNUSUAL
    size = list_size(source) if in_list else tuple_size(source)
    if size > len(key):
        return FULL
    for n in range(size):
        thing = list_item(source, n) if in_list else tuple_item(source, n)
        if n == 0:
            pairs = read_pair(memory, thing, shape)[0] != 0
        if pairs:
            thing, other = read_pair(memory, thing, shape)
            if thing == 0:
                return UNUSUAL
            given[n], known = read_score(memory, other, shape)
            if not known:
                return UNUSUAL
        key[n] = thing
    space[3] = PAIRS if pairs else IDS
    return size


@kernel
def have_one_type(memory, key, shape):
    """Whether ids are all text or all whole numbers, those of the lists before included."""
    for n in range(len(key)):
        kind = type_of(memory, key[n])
        if shape[OF_IDS] == 0 and (kind == shape[TEXT_TYPE] or kind == shape[WHOLE_TYPE]):
            shape[OF_IDS] = kind
        if kind != shape[OF_IDS]:
            return False
    return True


@kernel
def repeats(memory, shape, space, key, n):
    """Whether the id of entry n is also that of another entry of its list, or cannot be told."""
    is_text = shape[OF_IDS] == shape[TEXT_TYPE]
    start = text_of(key[n], shape[SPACE]) - BASE if is_text else whole_of(key[n])
    stop = start + space[0]
    if start < 0 or (is_text and start % 8 != 0):
        return True
    for e in range(len(key)):
        if e == n:
            continue
        other = text_of(key[e], shape[SPACE]) - BASE if is_text else whole_of(key[e])
        if other < 0 or other == start or (is_text and other % 8 != 0):
            return True
        if is_text and same_word(memory, start, stop, memory, other, other + space[0]):
            return True
    return False


@kernel
def missing_repeat(memory, shape, space, key, given):
    """Whether one of the entries without a score repeats the id of another; also if there are more than a few."""
    missing = 0
    for n in range(len(key)):
        if not np.isfinite(given[n]):
            missing += 1
            if missing > FEW or repeats(memory, shape, space, key, n):
                return True
    return False
