"""``Fuser``: a method prepared to fuse the lists of one query after another.

Methods that sum points by rank (``sums``) or combine the numbers that lists give to items (``combinations``) are
computed in plain Python, one query after another; all others by a Dataset.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from juryrank.data.names import natural_key
from juryrank.data.shapes import ItemList, Key, as_item_list, elements_of, is_number, unique_names
from juryrank.errors import DataError, ParameterError, UnknownNameError, unknown_names, warn_about_data
from juryrank.methods import Aggregator, method
from juryrank.models import load
from juryrank.serving.by_dataset import rank_by_dataset
from juryrank.serving.cleaning import Dropped, as_item_lists, clean
from juryrank.serving.combinations import Combinations
from juryrank.serving.sums import PointSums

ONE = "one"  # the name of the only query
LISTS, READ_OFTEN = frozenset((list,)), frozenset((list, dict, tuple))
PATH_CHARACTERS = frozenset("./\\")  # a text with one of these is a path; no method has them in its name


class Fuser:
    """A method, prepared once to fuse the lists of one query after another.

    ``model`` is a fitted method, the name of a method (with its parameters) or the path of a saved model; a string
    with a dot or a slash is a path. A Fuser does not change: if the parameters of the model change, it is fitted again
    or the file is replaced, create a new one. Call it with the lists, and with the options of ``fuse`` for lists:

    >>> fuser = Fuser("rrf", k=10)
    >>> fuser({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}})
    {'b': 0.174..., 'a': 0.090..., 'c': 0.083...}
    >>> fuser([["a", "b"], ["b", "c"]], top=1)
    {'b': 0.174...}
    """

    __slots__ = ("_accepted", "_experts", "_model", "_named", "_plain", "_warned")

    def __init__(self, model: Aggregator | str | os.PathLike[str] = "rrf", **params: Any) -> None:
        self._model = _resolve(model, params)
        if self._model.supervised and not self._model.is_fitted:
            raise DataError(f"{self._model.name} learns from labels: fit it first, and give the fitted model")
        self._plain = _plain_way(self._model)
        self._experts = self._model.experts_seen()
        self._named = bool(self._experts or getattr(self._model, "weights", None))  # whether names of experts matter
        self._warned: set[str] = set()  # unknown experts that a warning has named
        self._accepted: tuple[Any, ...] | None = None  # names of experts that need no warning

    def __repr__(self) -> str:
        return f"Fuser({self._model!r})"

    def __call__(
        self,
        lists: Mapping[Any, Any] | Iterable[Any],
        *,
        values: str = "score",
        key: Key = None,
        top: int | None = None,
        strict: bool = False,
    ) -> dict[Any, Any]:
        """One ranking from the lists of several experts, best first; ``fuse`` documents shapes and options."""
        if values not in ("score", "rank"):
            raise DataError(f"values must be 'score' or 'rank', got {values!r}")
        if top is not None and (not isinstance(top, int | np.integer) or top < 1):
            raise ParameterError(f"top must be a whole number >= 1, or None for all items, got {top!r}")
        if type(lists) is not dict:
            lists = _by_name(lists)
        if self._named and tuple(lists) != self._accepted:
            lists = _by_name(lists)
            self._check_experts(lists, strict)
        if not LISTS.issuperset(map(type, lists.values())):
            lists = _without_iterators(lists)
            if _many_queries(lists):
                return self._fuse_many(lists, values, key, top)
        return self._fuse_one(lists, values, key, top)

    def _check_experts(self, lists: Mapping[str, Any], strict: bool) -> None:
        """Warn of experts that have a weight and no list, and once of each that the model has not learned from."""
        messages = [self._model.unknown_weights(lists)]
        new = lists.keys() - self._experts if self._experts else set()
        if new - self._warned or (new and strict):
            names = unknown_names(new, self._experts)
            messages.append(f"{self._model.name}: experts that the model has not learned from: {names}")
        message = "; ".join(filter(None, messages))
        if message and strict:
            raise UnknownNameError(message)
        if message:
            self._warned.update(new)
            warn_about_data(message)
        elif not new:
            self._accepted = tuple(lists)

    def _fuse_one(self, lists: Mapping[Any, Any], values: str, key: Key, top: int | None) -> dict[Any, float]:
        if self._plain is not None and key is None and values == "score":
            dropped = Dropped()
            fused = self._plain(lists, dropped, top)
            if fused is not None and (not dropped.missing or dropped.of_one_type([fused])):
                dropped.warn(lists)
                return fused
        runs = {
            (expert, ONE): as_item_list(given, f"expert {expert!r}", key, values)
            for expert, given in _by_name(lists).items()
        }
        return self._fuse_item_lists(runs, values, top).get(ONE, {})

    def _fuse_many(
        self, lists: Mapping[Any, Any], values: str, key: Key, top: int | None
    ) -> dict[Any, dict[Any, float]]:
        runs: dict[tuple[str, str], Any] = {}
        own: dict[str, Any] = {}  # queries as they were given, by their text
        for expert, queries in _by_name(lists).items():
            if not isinstance(queries, Mapping):
                raise DataError(
                    f"expert {expert!r}: other experts have {{query: list}}, but this is a list of one query"
                )
            own.update((str(query), query) for query in queries if str(query) not in own)
            for query, listed in unique_names(_without_iterators(queries), f"expert {expert!r}: query").items():
                runs[expert, query] = listed
        fused = self._fuse_plain(runs, top) if key is None and values == "score" else None
        if fused is None:
            named = {
                (expert, query): as_item_list(listed, f"expert {expert!r}, query {query!r}", key, values)
                for (expert, query), listed in runs.items()
            }
            fused = self._fuse_item_lists(named, values, top)
        return {own[query]: fused.get(query, {}) for query in sorted(own, key=natural_key)}

    def _fuse_plain(self, runs: Mapping[tuple[str, str], Any], top: int | None) -> dict[str, dict[Any, float]] | None:
        """The ranking of every query; None where a list is not plain, or ids have several types."""
        if self._plain is None:
            return None
        dropped, fused = Dropped(), {}
        for query, lists in _by_query(runs).items():
            if (ranked := self._plain(lists, dropped, top)) is None or dropped.pairs:
                return None
            fused[query] = ranked
        if not dropped.of_one_type(fused.values()):
            return None
        dropped.warn()
        return fused

    def _fuse_item_lists(
        self, runs: Mapping[tuple[str, str], ItemList], values: str, top: int | None
    ) -> dict[str, dict[Any, float]]:
        """The ranking of every query, in plain Python if the method allows it, else by a Dataset."""
        if self._plain is not None:
            cleaned = clean(runs, uses_scores=self._model.uses_scores, values=values)
            fused = {}
            for query, lists in _by_query(cleaned).items():
                if (ranked := self._plain(lists, Dropped(), top, checked=True)) is None:
                    break
                fused[query] = ranked
            else:
                return fused
            runs, values = as_item_lists(cleaned)  # scores overflow, which a Dataset reports
        fused = rank_by_dataset(runs, self._model, values)
        return {query: dict(islice(ranked.items(), top)) for query, ranked in fused.items()}


def _resolve(model: Aggregator | str | os.PathLike[str], params: Mapping[str, Any]) -> Aggregator:
    """A copy of the method, or that of a name with parameters, or that in a file."""
    if isinstance(model, str) and not PATH_CHARACTERS.intersection(model):
        named = method(model, **params)
        named.check()
        if (weights := params.get("weights")) is not None:
            named.set_params(weights=dict(weights))  # the caller's may be changed later
        return named
    if params:
        raise ParameterError("a model has its parameters already; give a method by name to set them here")
    if isinstance(model, Aggregator):
        return model.snapshot()
    return load(model)


def _plain_way(model: Aggregator) -> PointSums | Combinations | None:
    """How one query is fused in plain Python; None where a method needs a Dataset."""
    by_name = not model.ties_by_appearance
    points = model.as_points() if _is_current(model, "as_points") else None
    if points is not None and points.formula is not None:
        return PointSums(points, by_name=by_name)
    combination = model.as_combination() if _is_current(model, "as_combination") else None
    if combination is None:
        return None
    return Combinations(combination, uses_scores=model.uses_scores, by_name=by_name)


def _is_current(model: Aggregator, declaration: str) -> bool:
    """Whether no subclass of the class with this declaration computes scores in another way."""
    for cls in type(model).__mro__:
        if declaration in vars(cls):
            return True
        if "_scores" in vars(cls) or "_predict" in vars(cls):
            return False
    return False


def _by_query(runs: Mapping[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """The lists of each query, by expert."""
    out: dict[str, dict[str, Any]] = {}
    for (expert, query), listed in runs.items():
        out.setdefault(query, {})[expert] = listed
    return out


def _without_iterators(lists: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The same lists, those that can be read only once as lists of Python."""
    if READ_OFTEN.issuperset(map(type, lists.values())):
        return lists
    return {name: list(listed) if isinstance(listed, Iterator) else listed for name, listed in lists.items()}


def _by_name(lists: Mapping[Any, Any] | Iterable[Any]) -> dict[str, Any]:
    """Lists by the name of their expert, as text."""
    if isinstance(lists, Mapping):
        return unique_names(lists, "expert")
    given = elements_of(lists, "lists", "{expert: list} or a sequence of lists")
    return {str(n): listed for n, listed in enumerate(given, 1)}


def _many_queries(lists: Mapping[str, Any]) -> bool:
    """Whether experts map queries to lists: then the values are no numbers."""
    for listed in lists.values():
        if isinstance(listed, Mapping):
            for value in listed.values():
                return not (value is None or isinstance(value, str) or is_number(value))
    return False
