"""fuse: one call from plain Python lists or dicts to one ranking; the serving path.

One query under a method that sums points by rank needs neither frames nor compiled code: it is done right here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any

from juryrank.errors import DataError
from juryrank.methods import Aggregator
from juryrank.methods import method as make_method
from juryrank.methods.positional import Positional


def fuse(
    lists: Mapping[str, Any] | Sequence[Any], method: str | Aggregator = "rrf", *, values: str = "score", **params: Any
) -> dict[Any, Any]:
    """One ranking from the lists of several experts, best first.

    ``lists`` maps each expert to its list: items in order, best first, or ``{item: score}`` (``{item: rank}`` with
    ``values="rank"``); a sequence of lists names the experts "1", "2", …. The answer is ``{item: score}``. Lists of
    many queries are ``{expert: {query: list}}``, and the answer is ``{query: {item: score}}``.

    >>> fuse({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}})
    {'b': 0.0325..., 'a': 0.0163..., 'c': 0.0161...}
    >>> fuse({"bm25": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "a"], "q2": ["c"]}}, "borda")
    {'q1': {'a': 1.0, 'b': 1.0}, 'q2': {'c': 0.0}}
    """
    if values not in ("score", "rank"):
        raise DataError(f"values must be 'score' or 'rank', got {values!r}")
    if not isinstance(lists, Mapping):
        lists = {str(n + 1): listed for n, listed in enumerate(lists)}
    model = method if isinstance(method, Aggregator) else _named(method, params)
    if _many_queries(lists):
        return _by_dataset(lists, model, values)
    if values == "score" and isinstance(model, Positional) and model.additive and model.missing == "ignore":
        fused = _by_points(lists, model)
        if fused is not None:
            return fused
    own = {str(item): item for listed in lists.values() for item in listed}
    alone = {expert: {"one": listed} for expert, listed in lists.items()}
    return {own[item]: score for item, score in _by_dataset(alone, model, values).get("one", {}).items()}


def _named(name: str, params: dict[str, Any]) -> Aggregator:
    return make_method(name, **params) if params else _plain(name)


@cache
def _plain(name: str) -> Aggregator:
    """The method with its default parameters; nothing changes it, so one is enough."""
    return make_method(name)


def _many_queries(lists: Mapping[str, Any]) -> bool:
    """Whether experts map queries to lists: then the values are lists or dicts, not numbers."""
    for listed in lists.values():
        if isinstance(listed, Mapping):
            for value in listed.values():
                return isinstance(value, Mapping | list | tuple)
    return False


def _by_dataset(lists: Mapping[str, Any], model: Aggregator, values: str) -> dict[str, dict[str, float]]:
    from copy import copy

    from juryrank.data.build import from_dicts

    data = from_dicts(lists, values=values)
    fitted = model if getattr(model, "_fitted", False) else copy(model).fit(data)
    return fitted.predict(data).to_dict()


def _by_points(lists: Mapping[str, Any], model: Positional) -> dict[Any, float] | None:
    """The sum of points by rank, or None where a list needs the checks of a Dataset (repeats, odd scores)."""
    curve = _curve(model, max(map(len, lists.values()), default=0))
    weights = model.weights or {}
    total = sum(float(weights.get(expert, 1.0)) for expert in lists if len(lists[expert])) or 1.0
    fused: dict[Any, float] = {}
    get = fused.get
    for expert in sorted(lists, key=_natural) if len(lists) > 2 else lists:
        items, ranks = _ranked(lists[expert], model.ranks == "dense")
        if items is None:
            return None
        divide, multiply = model.weigh(float(weights.get(expert, 1.0)), total)
        if isinstance(ranks, range) and divide == multiply == 1.0:
            points = curve
        else:
            points = [multiply * model.points(rank / (divide or 1.0)) for rank in ranks]
        if not fused:
            fused.update(zip(items, points, strict=False))
            continue
        for item, gained in zip(items, points, strict=False):
            fused[item] = get(item, 0.0) + gained
    try:
        by_name = sorted(fused)  # equal scores stand in the order of the names
    except TypeError:  # names of several types
        by_name = sorted(fused, key=str)
    order = sorted(by_name, key=fused.__getitem__, reverse=True)
    return dict(zip(order, map(fused.__getitem__, order), strict=True))


def _natural(expert: str) -> tuple[bool, int, str]:
    """Experts in the order in which a Dataset keeps them: sums of floats depend on it."""
    name = str(expert)
    number = name.isascii() and name.isdigit() and len(name) <= 18 and (name[0] != "0" or name == "0")
    return (not number, int(name) if number else 0, name)


def _ranked(listed: Any, shared: bool) -> tuple[Sequence[Any] | None, Sequence[float]]:
    """Items and their ranks; tied scores have the smaller rank, or the mean of their places where ``shared``."""
    if not isinstance(listed, Mapping):
        plain = isinstance(listed, list | tuple) and len(set(listed)) == len(listed)
        return (listed if plain else None), range(1, len(listed) + 1)
    try:
        if listed and not isfinite(sum(listed.values())):
            return None, ()
    except TypeError:
        return None, ()
    items = sorted(listed, key=listed.__getitem__, reverse=True)
    if len(set(listed.values())) == len(items):
        return items, range(1, len(items) + 1)
    scores = [listed[item] for item in items]
    first = {score: n for n, score in zip(range(len(scores), 0, -1), reversed(scores), strict=True)}
    if not shared:
        return items, [float(first[score]) for score in scores]
    last = {score: n for n, score in enumerate(scores, 1)}
    return items, [(first[score] + last[score]) / 2 for score in scores]


def _curve(model: Positional, length: int) -> Sequence[float]:
    """Points of the ranks 1, 2, 3, … up to at least ``length``, kept with the parameters they were made for."""
    names, made_for, known = vars(model).get("_serving", ((), None, ()))
    now = [getattr(model, name) for name in names]
    if made_for != now or len(known) < length:
        model._check()
        params = model.params()
        known = [float(model.points(float(rank))) for rank in range(1, length + 1)]
        model._serving = (tuple(params), list(params.values()), known)  # type: ignore[attr-defined]
    return known  # type: ignore[no-any-return]
