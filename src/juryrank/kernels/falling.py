"""Whether the scores of a Python list fall: the library reads Python's floats in place, faster than any loop in Python.

It does so only where lists, tuples and floats are laid out as in all versions of CPython that it knows; where they are
not, and for scores that are no floats, Python compares.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import isfinite
from operator import gt
from typing import Any, NamedTuple

from juryrank.kernels import library

HEAD, POINTER = 16, 8  # bytes of the counter and the type of an object, and of an address


class Readers(NamedTuple):
    """Functions of the library: whether a list has floats only, finite and falling, by itself or as second of pairs."""

    scores_fall: Callable[[list[Any]], int]
    scores_of_pairs_fall: Callable[[list[Any]], int]


def scores_fall(scores: list[Any]) -> bool:
    """Whether scores are finite, and each is larger than the next."""
    if not scores:
        return True
    if type(scores[0]) is float and (read := readers()) is not None and read.scores_fall(scores):
        return True
    return all(map(gt, scores, scores[1:])) and isfinite(scores[0]) and isfinite(scores[-1])


def scores_of_pairs_fall(pairs: list[Any]) -> bool:
    """Whether a list has tuples of two only, with floats that fall; False also where there is no library."""
    return (read := readers()) is not None and read.scores_of_pairs_fall(pairs) == 1


@functools.cache
def readers() -> Readers | None:
    """The functions of the library; None where there is none, or objects are laid out in another way."""
    if not library.is_wanted() or (opened := library.open_library()) is None or not _is_known_layout():
        return None
    import ctypes

    # As for a module of Python, no other thread runs Python meanwhile, and changes the list.
    found = ctypes.PyDLL(opened[0]._name)
    if not hasattr(found, "scores_of_pairs_fall"):  # a library that was built before
        return None
    found.set_types.argtypes, found.set_types.restype = [ctypes.c_int64] * 3, None
    found.set_types(id(float), id(tuple), tuple.__basicsize__ + POINTER)
    for function in (found.scores_fall, found.scores_of_pairs_fall):
        function.argtypes, function.restype = [ctypes.py_object], ctypes.c_int64
    return Readers(found.scores_fall, found.scores_of_pairs_fall)


def _is_known_layout() -> bool:
    """Whether sizes are those of CPython: a float has one number, a list its size, an address and its room."""
    sizes = object.__basicsize__, float.__basicsize__, list.__basicsize__, tuple.__itemsize__
    return sizes == (HEAD, HEAD + 8, HEAD + 24, POINTER) and tuple.__basicsize__ >= HEAD + 8
