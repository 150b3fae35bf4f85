"""``fuse``: one call from plain Python lists or dicts to one ranking; the Fuser of a model is made once and kept."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache, partial
from operator import is_
from typing import Any
from weakref import ref

from juryrank.data.nested_lists import Queries
from juryrank.data.shapes import Key
from juryrank.errors import DataError, ParameterError
from juryrank.methods import Aggregator
from juryrank.methods import method as make_method
from juryrank.models import PATH_CHARACTERS, load, path_of_model
from juryrank.tasks.fuse.fuser import Fuser


def fuse(
    lists: Mapping[Any, Any] | Iterable[Any],
    method: str | Aggregator = "rrf",
    *,
    model: Aggregator | str | os.PathLike[str] | None = None,
    values: str = "score",
    key: Key = None,
    top: int | None = None,
    strict: bool = False,
    queries: Queries | None = None,
    **params: Any,
) -> dict[Any, Any]:
    """One ranking from the lists of several experts, best first.

    ``lists`` maps each expert to its list; a sequence of lists names the experts "1", "2", …. A list is any of these,
    also as a generator, array or series:

    * items in order, best first;
    * ``{item: score}``, or pairs ``(item, score)``, in any order (``values="rank"`` if the numbers are ranks,
      ``values="distance"`` if other numbers of which lower is better, which become scores below zero);
    * objects with ``.id`` or dicts with ``"id"``, with their ``score`` if they have one, else in order;
    * objects whose id ``key`` gives: a function, or the name of an attribute; also pairs of an object and a score.

    The result is ``{item: score}``, the best ``top`` items or all. Items with equal scores are in the natural order of
    their names, 9 before 10. Lists of many queries are ``{expert: {query: list}}`` (``queries="inner"``) or ``{query:
    {expert: list}}`` (``queries="outer"``), and the result is ``{query: {item: score}}``; without ``queries``, known
    experts, names such as q1 and lists that share items show which it is, and an error asks where they contradict.

    ``model`` is a fitted method, or the path of a saved one, instead of ``method`` and its parameters. Experts in
    ``weights`` without a list, and experts that a model has not learned from, are named in a warning; with ``strict``
    they are an error.

    The method is prepared as a ``Fuser``. The Fuser of a model is cached until its parameters change, it is fitted
    again or it is deleted; the Fuser of a file until the file changes. The model itself is not changed.

    >>> fuse({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}})
    {'b': 0.0325..., 'a': 0.0163..., 'c': 0.0161...}
    >>> fuse([["a", "b"], [("b", 0.9), ("c", 0.8)]], top=1)
    {'b': 0.0325...}
    >>> fuse({"bm25": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "a"], "q2": ["c"]}}, "borda")
    {'q1': {'a': 1.0, 'b': 1.0}, 'q2': {'c': 0.0}}
    >>> fuse({"tea": {"bm25": ["a", "b"], "dense": ["b"]}, "milk": {"bm25": ["c"]}}, queries="outer")
    {'milk': {'c': 0.0163...}, 'tea': {'b': 0.0325..., 'a': 0.0163...}}
    """
    if model is not None:
        if params or isinstance(method, Aggregator) or method != "rrf":
            raise ParameterError("a model has its method and parameters already; give model= or method=, not both")
        fuser = fuser_of(model) if isinstance(model, Aggregator) else _fuser_of_file(model)
    elif not isinstance(method, str | Aggregator):
        raise ParameterError(
            f"the second argument of fuse is the name of a method, or a method, got {type(method).__name__}; "
            "all lists are one argument: fuse({'bm25': bm25, 'dense': dense}), or fuse([bm25, dense])"
        )
    elif isinstance(method, str) and PATH_CHARACTERS.intersection(method):
        raise ParameterError(f"{method!r} is no name of a method; if it is the path of a model, give model={method!r}")
    elif params:
        fuser = Fuser(method, **params)
    elif type(method) is not str and isinstance(method, Aggregator):  # the class of text takes less time to look at
        fuser = fuser_of(method)
    else:
        fuser = _fuser_of_name(method)
    return fuser(lists, values=values, key=key, top=top, strict=strict, queries=queries)


# Fusers with the model that each is made of, the values of its attributes, and a copy of its weights, which may change;
# by the identity of the model: models compare by their parameters and have no hash.
_prepared: dict[int, tuple[ref[Aggregator], tuple[Any, ...], dict[str, float] | None, Fuser]] = {}


def fuser_of(model: Aggregator) -> Fuser:
    """The Fuser of a model as it is now; made anew where an attribute or the weights have changed since the last call.

    Values that are written into learned arrays or lists are not noticed.
    """
    state = vars(model)
    if (known := _prepared.get(id(model))) is not None:
        prepared, before, weights, fuser = known
        unchanged = len(state) == len(before) and all(map(is_, state.values(), before))
        if unchanged and prepared() is model and (weights is None or state["weights"] == weights):
            return fuser
    fuser = Fuser(model)
    weights = None if state.get("weights") is None else dict(state["weights"])
    _prepared[id(model)] = ref(model, partial(_forget, id(model))), tuple(state.values()), weights, fuser
    return fuser


def _forget(identity: int, model: ref[Aggregator]) -> None:
    if (known := _prepared.get(identity)) is not None and known[0] is model:
        del _prepared[identity]


@cache
def _fuser_of_name(name: str) -> Fuser:
    return Fuser(make_method(name))


def _fuser_of_file(path: str | os.PathLike[str]) -> Fuser:
    try:
        found = os.stat(text := path_of_model(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    return _fuser_of_version(text, found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _fuser_of_version(path: str, device: int, inode: int, changed: int, size: int) -> Fuser:
    """The model in a file, read again only when the file changes."""
    return Fuser(load(path))
