"""fuse: one call from plain Python lists or dicts to one ranking; the serving path.

One query under a method that sums points by rank is done in plain Python (``serving``); all else by a Dataset.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import numpy as np

from juryrank.data.names import natural_key
from juryrank.data.shapes import Key, Listed, as_listed, as_texts, elements_of, is_number, unique_names
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError, unknown_names
from juryrank.methods import Aggregator
from juryrank.methods import method as make_method
from juryrank.serving import Served, add_points, cleaned, served

ONE = "one"  # the name of the only query


def fuse(
    lists: Mapping[Any, Any] | Iterable[Any],
    method: str | Aggregator = "rrf",
    *,
    model: Aggregator | str | os.PathLike[str] | None = None,
    values: str = "score",
    key: Key = None,
    top: int | None = None,
    strict: bool = False,
    **params: Any,
) -> dict[Any, Any]:
    """One ranking from the lists of several experts, best first.

    ``lists`` maps each expert to its list; a sequence of lists names the experts "1", "2", …. A list is any of these,
    also as a generator, array or series:

    * items in order, best first;
    * ``{item: score}``, or pairs ``(item, score)``, in any order (``values="rank"`` where the numbers are ranks);
    * objects with ``.id`` or dicts with ``"id"``, with their ``score`` where they have one, else in order;
    * objects whose id ``key`` gives: a function, or the name of an attribute; pairs of an object and a score, too.

    The answer is ``{item: score}``, the best ``top`` items or all. Lists of many queries are ``{expert: {query:
    list}}``, and the answer is ``{query: {item: score}}``. Equal scores stand in the natural order of the names, 9
    before 10. ``model`` is a fitted method, or the path of a saved one, in place of ``method`` and its parameters.
    Experts in ``weights`` without a list, and experts that a model has not learned from, are named in a warning;
    with ``strict`` they are an error.

    >>> fuse({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}})
    {'b': 0.0325..., 'a': 0.0163..., 'c': 0.0161...}
    >>> fuse([["a", "b"], [("b", 0.9), ("c", 0.8)]], top=1)
    {'b': 0.0325...}
    >>> fuse({"bm25": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "a"], "q2": ["c"]}}, "borda")
    {'q1': {'a': 1.0, 'b': 1.0}, 'q2': {'c': 0.0}}
    """
    if values not in ("score", "rank"):
        raise DataError(f"values must be 'score' or 'rank', got {values!r}")
    if top is not None and (not isinstance(top, int | np.integer) or top < 1):
        raise ParameterError(f"top must be a whole number >= 1, or None for all items, got {top!r}")
    if type(lists) is not dict:
        lists = _by_name(lists)
    chosen = _chosen(method, params) if model is None else _given(model, method, params)
    of_model = served(chosen)
    if of_model.named:
        lists = _by_name(lists)
        _look_for_unknown_experts(chosen, of_model, lists, strict)
    if _many_queries(lists):
        fused = _fuse_many(lists, chosen, of_model, values, key)
        return fused if top is None else {query: dict(islice(of.items(), top)) for query, of in fused.items()}
    one = _fuse_one(lists, chosen, of_model, values, key)
    return one if top is None else dict(islice(one.items(), top))


def _by_name(lists: Mapping[Any, Any] | Iterable[Any]) -> dict[str, Any]:
    """Lists by the name of their expert, as text."""
    if isinstance(lists, Mapping):
        return unique_names(lists, "expert")
    given = elements_of(lists, "lists", "{expert: list} or a sequence of lists")
    return {str(n): listed for n, listed in enumerate(given, 1)}


def _chosen(named: str | Aggregator, params: dict[str, Any]) -> Aggregator:
    chosen = named if isinstance(named, Aggregator) else make_method(named, **params) if params else _plain(named)
    if chosen.supervised and not chosen.is_fitted:
        raise DataError(f"{chosen.name} learns from labels: fit it first, then give it as model=")
    return chosen


@cache
def _plain(name: str) -> Aggregator:
    """The method with its default parameters; nothing changes it, so one is enough."""
    return make_method(name)


def _given(model: Aggregator | str | os.PathLike[str], named: str | Aggregator, params: dict[str, Any]) -> Aggregator:
    if params or named != "rrf":
        raise ParameterError("a model has its method and parameters already; give model= or method=, not both")
    if isinstance(model, Aggregator):
        return _chosen(model, {})
    try:
        found = os.stat(model)
    except OSError as error:
        raise DataError(f"{model}: cannot be read: {error.strerror or error}") from None
    return _loaded(os.fspath(model), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _loaded(path: str, changed: int, size: int) -> Aggregator:
    """The model in a file, read again only when the file changes."""
    from juryrank.models import load

    return load(path)


def _look_for_unknown_experts(model: Aggregator, of_model: Served, lists: Mapping[str, Any], strict: bool) -> None:
    """Warn of experts that have a weight and no list, and once of each that the model has not learned from."""
    messages = [model.unknown_weights(lists)]
    new = lists.keys() - of_model.seen if of_model.seen else set()
    if new - of_model.warned or (new and strict):
        known = unknown_names(new, of_model.seen)
        messages.append(f"{model.name}: experts that the model has not learned from: {known}")
    message = "; ".join(filter(None, messages))
    if message and strict:
        raise UnknownNameError(message)
    if message:
        of_model.warned.update(new)
        warnings.warn(message, DataWarning, stacklevel=3)


def _many_queries(lists: Mapping[str, Any]) -> bool:
    """Whether experts map queries to lists: then the values are no numbers."""
    for listed in lists.values():
        if type(listed) is not list and isinstance(listed, Mapping):
            for value in listed.values():
                return not (value is None or isinstance(value, str) or is_number(value))
    return False


def _fuse_one(lists: Mapping[str, Any], model: Aggregator, of_model: Served, values: str, key: Key) -> dict[Any, float]:
    by_position = values == "score" and of_model.points is not None and of_model.points.formula is not None
    if by_position and key is None and (fused := add_points(lists, of_model)) is not None:
        return fused
    listed = {expert: as_listed(given, f"expert {expert!r}", key, values) for expert, given in _by_name(lists).items()}
    if by_position:
        fused = add_points(cleaned(listed), of_model, checked=True)
        assert fused is not None
        return fused
    return _by_dataset({expert: {ONE: of} for expert, of in listed.items()}, model, values).get(ONE, {})


def _fuse_many(
    lists: Mapping[str, Any], model: Aggregator, of_model: Served, values: str, key: Key
) -> dict[Any, dict[Any, float]]:
    runs: dict[str, dict[str, Listed]] = {}
    own: dict[str, Any] = {}
    for expert, queries in _by_name(lists).items():
        if not isinstance(queries, Mapping):
            raise DataError(f"expert {expert!r}: other experts have {{query: list}}, but this is a list of one query")
        own.update((str(query), query) for query in queries if str(query) not in own)
        runs[expert] = {
            query: as_listed(listed, f"expert {expert!r}, query {query!r}", key, values)
            for query, listed in unique_names(queries, f"expert {expert!r}: query").items()
        }
    if model.ties_by_appearance and values == "score" and of_model.points is not None:
        by_query = {query: {expert: of[query] for expert, of in runs.items() if query in of} for query in own}
        fused = {query: _fuse_one(given, model, of_model, values, None) for query, given in by_query.items()}
    else:
        fused = _by_dataset(runs, model, values)
    return {own[query]: fused[query] for query in sorted(own, key=natural_key)}


def _by_dataset(runs: dict[str, dict[str, Listed]], model: Aggregator, values: str) -> dict[str, dict[Any, float]]:
    """The ranking of every query, also of one without a single item."""
    from copy import copy

    from juryrank.data.build import from_heads, warn_of_lists_without_scores

    own = as_texts([item for queries in runs.values() for listed in queries.values() for item in listed.items])[1]
    if own is not None:
        runs = {e: {q: Listed(list(map(str, of.items)), of.numbers) for q, of in qs.items()} for e, qs in runs.items()}
    if model.uses_scores and values == "score":
        warn_of_lists_without_scores([listed for queries in runs.values() for listed in queries.values()])
    data = from_heads([(e, query, listed) for e, queries in runs.items() for query, listed in queries.items()], values)
    here = model.for_experts(data.experts)
    fused = (here if here.is_fitted else copy(here).fit(data)).predict(data, warn_unknown=False).to_dict()
    for queries in runs.values():
        for query in queries:
            fused.setdefault(query, {})
    if model.ties_by_appearance:
        fused = {query: _by_appearance(scores, query, runs, values) for query, scores in fused.items()}
    if own is None:
        return fused
    return {query: {own[item]: score for item, score in scores.items()} for query, scores in fused.items()}


def _by_appearance(
    scores: dict[str, float], query: str, runs: dict[str, dict[str, Listed]], values: str
) -> dict[str, float]:
    """The same scores, equal ones in the order in which the lists, as they are given, have them."""
    seen: dict[str, None] = {}
    for queries in runs.values():
        items, numbers = queries.get(query, ([], None))
        if numbers is not None:
            order = sorted(range(len(items)), key=numbers.__getitem__, reverse=values == "score")
            items = [items[n] for n in order]
        seen.update(dict.fromkeys(items))
    order_of_scores = sorted((item for item in seen if item in scores), key=scores.__getitem__, reverse=True)
    return {item: scores[item] for item in order_of_scores}
