"""fuse: one call from plain Python lists or dicts to one ranking; the serving path.

One query under a method that sums points by rank needs neither frames nor compiled code: it is done right here.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, count
from math import isfinite
from operator import gt, is_
from typing import Any

import numpy as np

from juryrank.data.names import natural_key
from juryrank.data.rankings import Floats
from juryrank.errors import DataError, ParameterError
from juryrank.methods import Aggregator
from juryrank.methods import method as make_method

Curve = tuple[list[float], Floats]  # points of the ranks 1, 2, 3, …, twice: to loop over, and to add as an array

BY_POSITION = (("rank",), ("place",))  # what points may depend on for the short way
MANY = 400  # entries from which arrays are faster than dicts
NO_CURVE: Curve = ([], np.empty(0))
FIRST = 128  # positions of a curve that are made at once; deeper ones when they are needed


def fuse(
    lists: Mapping[str, Any] | Sequence[Any],
    method: str | Aggregator = "rrf",
    *,
    model: Aggregator | str | os.PathLike[str] | None = None,
    values: str = "score",
    **params: Any,
) -> dict[Any, Any]:
    """One ranking from the lists of several experts, best first.

    ``lists`` maps each expert to its list: items in order, best first, or ``{item: score}`` (``{item: rank}`` with
    ``values="rank"``); a sequence of lists names the experts "1", "2", …. The answer is ``{item: score}``. Lists of
    many queries are ``{expert: {query: list}}``, and the answer is ``{query: {item: score}}``. ``model`` is a fitted
    method, or the path of a saved one, in place of ``method`` and its parameters.

    >>> fuse({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}})
    {'b': 0.0325..., 'a': 0.0163..., 'c': 0.0161...}
    >>> fuse({"bm25": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "a"], "q2": ["c"]}}, "borda")
    {'q1': {'a': 1.0, 'b': 1.0}, 'q2': {'c': 0.0}}
    """
    if values not in ("score", "rank"):
        raise DataError(f"values must be 'score' or 'rank', got {values!r}")
    if type(lists) is not dict and not isinstance(lists, Mapping):
        lists = {str(n + 1): listed for n, listed in enumerate(lists)}
    chosen = _chosen(method, params) if model is None else _given(model, method, params)
    if _many_queries(lists):
        return _by_dataset(lists, chosen, values)
    if values == "score":
        by, curves = _serving(chosen)
        if by in BY_POSITION and (gained := _gained(lists, chosen, curves, shared=by == ("place",))) is not None:
            items, points = gained
            few = sum(map(len, items)) < MANY
            fused = _summed_one_by_one(items, points) if few else _summed_at_once(items, points)
            if fused is not None:
                return fused
    own = {str(item): item for listed in lists.values() for item in listed}
    alone = {expert: {"one": listed} for expert, listed in lists.items()}
    return {own[item]: score for item, score in _by_dataset(alone, chosen, values).get("one", {}).items()}


def _chosen(named: str | Aggregator, params: dict[str, Any]) -> Aggregator:
    chosen = named if isinstance(named, Aggregator) else make_method(named, **params) if params else _plain(named)
    if chosen.supervised and not getattr(chosen, "_fitted", False):
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


def _many_queries(lists: Mapping[str, Any]) -> bool:
    """Whether experts map queries to lists: then the values are lists or dicts, not numbers."""
    for listed in lists.values():
        if type(listed) is not list and isinstance(listed, Mapping):
            for value in listed.values():
                return isinstance(value, Mapping | list | tuple)
    return False


def _by_dataset(lists: Mapping[str, Any], model: Aggregator, values: str) -> dict[str, dict[str, float]]:
    from copy import copy

    from juryrank.data.build import from_dicts

    data = from_dicts(lists, values=values)
    fitted = model if getattr(model, "_fitted", False) else copy(model).fit(data)
    return fitted.predict(data).to_dict()


def _gained(
    lists: Mapping[str, Any], model: Aggregator, curves: dict[str, Curve], *, shared: bool
) -> tuple[list[Sequence[Any]], list[Curve]] | None:
    """The items of each list and, at least, as many points; None where a list needs the checks of a Dataset."""
    all_items, all_points = [], []
    for expert in _in_order(tuple(lists)) if len(lists) > 2 else lists:
        items, ranks = lists[expert], None
        if type(items) is not list:
            items, ranks = _ranked(items, shared)
            if items is None:
                return None
        name = expert if type(expert) is str else str(expert)
        points = curves.get(name, NO_CURVE)
        if len(points[0]) < len(items):
            points = curves[name] = _curve(model, name, np.arange(1.0, max(FIRST, 2 * len(items)) + 1))
        all_items.append(items)
        all_points.append(_curve(model, name, np.array(ranks)) if ranks else points)
    return all_items, all_points


def _curve(model: Aggregator, expert: str, ranks: Floats) -> Curve:
    points = model.points_of(expert, ranks)
    return points.tolist(), points


def _summed_one_by_one(lists: list[Sequence[Any]], points: list[Curve]) -> dict[Any, float] | None:
    """Sums of points, best first; None where an item stands twice in a list."""
    fused: dict[Any, float] = {}
    get = fused.get
    for items, (worth, _) in zip(lists, points, strict=True):
        if not fused:
            fused.update(zip(items, worth, strict=False))
            if len(fused) < len(items):
                return None
            continue
        if len(set(items)) < len(items):
            return None
        for item, gained in zip(items, worth, strict=False):
            fused[item] = get(item, 0.0) + gained
    order: Any = fused
    if len(set(fused.values())) < len(fused):
        order = _by_name(fused)  # equal scores stand in the order of the names
    order = sorted(order, key=fused.__getitem__, reverse=True)
    return dict(zip(order, map(fused.__getitem__, order), strict=True))


def _summed_at_once(lists: list[Sequence[Any]], points: list[Curve]) -> dict[Any, float] | None:
    """The same for many entries: items become numbers, and numpy adds in the same order."""
    sizes = list(map(len, lists))
    code: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, chain.from_iterable(lists)), np.int64, sum(sizes))
    of_list = np.repeat(np.arange(len(lists)) * len(code), sizes)
    if np.bincount(codes + of_list).max() > 1:
        return None
    worth = [array[:size] for (_, array), size in zip(points, sizes, strict=True)]
    scores = np.bincount(codes, np.concatenate(worth))
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    names = list(map(list(code).__getitem__, order.tolist()))
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) + 1
    if len(ends) < len(scores):
        starts = np.append(0, ends[:-1])
        tied = ends - starts > 1
        for start, end in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
            names[start:end] = _by_name(names[start:end])
    return dict(zip(names, scores.tolist(), strict=True))


def _by_name(items: Iterable[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # names of several types
        return sorted(items, key=str)


@lru_cache(maxsize=128)
def _in_order(experts: tuple[Any, ...]) -> list[Any]:
    """The order in which points are added, so that sums do not depend on the order of the lists."""
    return sorted(experts, key=natural_key)


def _ranked(listed: Any, shared: bool) -> tuple[Sequence[Any] | None, Sequence[float] | None]:
    """Items, and their ranks: nothing for 1, 2, 3, … of different items, None where items may repeat.

    Tied scores have the smaller rank, or the mean of their places where ``shared``.
    """
    if not isinstance(listed, Mapping):
        return (listed if isinstance(listed, list | tuple) else None), None
    items, scores = list(listed), list(listed.values())
    try:
        falling = all(map(gt, scores, scores[1:]))  # most come in order, without ties
        if not falling:
            items.sort(key=listed.__getitem__, reverse=True)
            scores = list(map(listed.__getitem__, items))
            falling = all(map(gt, scores, scores[1:]))
        if scores and not (isfinite(scores[0]) and isfinite(scores[-1]) and (falling or isfinite(sum(scores)))):
            return None, None
    except TypeError:
        return None, None
    if falling:
        return items, ()
    first = {score: n for n, score in zip(range(len(scores), 0, -1), reversed(scores), strict=True)}
    if not shared:
        return items, [float(first[score]) for score in scores]
    last = {score: n for n, score in enumerate(scores, 1)}
    return items, [(first[score] + last[score]) / 2 for score in scores]


def _serving(model: Aggregator) -> tuple[tuple[str, ...], dict[str, Curve]]:
    """What points depend on, and those of the ranks 1, 2, 3, … by expert.

    Kept with the parameters and learned values that they were made for.
    """
    state = vars(model)
    names, made_for, kept = state.get("_serving", ((), (), None))
    if kept is None or not all(map(is_, map(state.get, names), made_for)):
        model._check()
        names = tuple(name for name in state if not name.startswith("_"))
        kept = (model.points_by, {})
        model._serving = (names, tuple(map(state.get, names)), kept)  # type: ignore[attr-defined]
    return kept  # type: ignore[no-any-return]
