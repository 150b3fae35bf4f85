"""Qdrant: the weights of a model for its RRF, the exact points of a model as a formula, and fusion of lists of points.

``NearestRRF`` and ``ExactFormula`` are prepared once and turn the prefetches of a query, by expert, into the arguments
``prefetch`` and ``query`` of ``client.query_points``; ``fuse_points`` fuses the answers of separate queries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from juryrank.data.shapes import by_name
from juryrank.errors import DataError, MissingExtraError, UnknownNameError, unknown_names, warn_about_data
from juryrank.methods import Aggregator
from juryrank.models import as_method, labelled_dataset
from juryrank.tasks.export.engines import nearest_rrf
from juryrank.tasks.export.qdrant_formula import formula_query
from juryrank.tasks.export.requests import measured
from juryrank.tasks.export.table import position_table
from juryrank.tasks.fuse import Fuser

try:
    from qdrant_client import models
except ImportError as error:
    raise MissingExtraError.of("qdrant", "juryrank.integrations.qdrant needs qdrant-client") from error

__all__ = ["ExactFormula", "NearestRRF", "fuse_points"]

Model = Aggregator | str | os.PathLike[str]
DEFAULT_LIMIT = 10  # of a prefetch, in Qdrant
RANKS = models.RrfQuery(rrf=models.Rrf(k=1))  # of a single list: scores are 1 / rank


class NearestRRF:
    """The weighted RRF of Qdrant that is closest to a model over the lists of ``data``.

    ``data`` and ``labels``, which measure the loss, are what ``fit`` takes. ``weights`` and ``k`` are what the request
    has, ``measured`` is how much of the model is left. ``experts`` names those that may have a weight; by default, all.
    """

    def __init__(self, model: Model, data: Any, *, labels: Any = None, experts: Sequence[str] | None = None) -> None:
        found = nearest_rrf(as_method(model, {}), labelled_dataset(data, labels), "qdrant", experts=experts)
        self.weights: dict[str, float] = found.by_name()
        self.k: int = found.constant
        self.measured: dict[str, Any] = measured(found)
        self._known = found.experts

    def __repr__(self) -> str:
        return f"NearestRRF(k={self.k}, weights={self.weights})"

    def request(self, prefetches: Mapping[str, Any]) -> dict[str, Any]:
        """``prefetch`` and ``query`` for ``query_points``; prefetches of experts with weight 0 are left out."""
        if unknown := prefetches.keys() - set(self._known):
            raise UnknownNameError(f"prefetches of experts without a weight: {unknown_names(unknown, self._known)}")
        if missing := [name for name in self.weights if name not in prefetches]:
            raise DataError(
                f"every expert with a weight needs a prefetch, and there is none for {', '.join(missing)}; give it, or "
                "fit the weights of the others alone with experts="
            )
        rrf = models.Rrf(k=self.k, weights=list(self.weights.values()))
        return {"prefetch": [prefetches[name] for name in self.weights], "query": models.RrfQuery(rrf=rrf)}


class ExactFormula:
    """The exact points of a model as a formula query, for collections of one shard.

    Each prefetch is wrapped in an RRF of its own with k = 1, whose scores are 1 / rank; the formula computes the points
    from them. In a collection of several shards, ranks would be those within a shard.
    """

    def __init__(self, model: Model) -> None:
        self._model = as_method(model, {})
        formula = self._model.formula()
        if formula is None or formula.points is None:
            raise DataError(
                f"{self._model.name} with these parameters is not a sum of points by rank alone, so no formula gives "
                "its scores; use fuse_points"
            )
        self._formulas: dict[tuple[tuple[str, ...], int], Any] = {}
        self._warned: set[str] = set()

    def __repr__(self) -> str:
        return f"ExactFormula({self._model!r})"

    def request(self, prefetches: Mapping[str, Any]) -> dict[str, Any]:
        """``prefetch`` and ``query`` for ``query_points``."""
        if not prefetches:
            raise DataError("a formula needs the prefetch of at least one expert")
        self._warn_of_unknown(prefetches)
        limits = [prefetch.limit or DEFAULT_LIMIT for prefetch in prefetches.values()]
        nested = [
            models.Prefetch(prefetch=[prefetch], query=RANKS, limit=limit)
            for prefetch, limit in zip(prefetches.values(), limits, strict=True)
        ]
        return {"prefetch": nested, "query": self._formula(tuple(prefetches), max(limits))}

    def _formula(self, names: tuple[str, ...], depth: int) -> Any:
        if (known := self._formulas.get((names, depth))) is not None:
            return known
        table = position_table(self._model, names, depth)
        rows = [table.points[table.experts.index(name)] for name in names]
        return self._formulas.setdefault((names, depth), models.FormulaQuery(**formula_query(rows)))

    def _warn_of_unknown(self, names: Iterable[str]) -> None:
        known = self._model.experts_seen()
        if known and (new := set(names) - known - self._warned):
            self._warned |= new
            warn_about_data(
                f"{self._model.name}: experts that the model has not learned from: {unknown_names(new, known)}"
            )


def fuse_points(
    lists: Mapping[str, Any] | Sequence[Any], model: Fuser | Model = "rrf", *, top: int | None = None, **params: Any
) -> list[Any]:
    """The points of several answers of Qdrant in one list, each with its fused score.

    ``lists`` maps experts to lists of ``ScoredPoint`` or to what ``query_points`` returns; a sequence of these has
    experts "1", "2", …. ``model`` is what ``Fuser`` takes, or a Fuser. The order of each list counts, as in Qdrant's
    RRF; scores only if the method uses them. A point that several lists contain is that of the first such list.
    """
    fuser = model if isinstance(model, Fuser) else Fuser(model, **params)
    answers = {name: _points_of(name, answer) for name, answer in by_name(lists).items()}
    points: dict[Any, Any] = {}
    for listed in answers.values():
        for point in listed:
            points.setdefault(point.id, point)
    given = {name: _as_list(name, listed, fuser.uses_scores) for name, listed in answers.items()}
    return [points[name].model_copy(update={"score": score}) for name, score in fuser(given, top=top).items()]


def _points_of(name: str, answer: Any) -> list[Any]:
    points = getattr(answer, "points", answer)
    if not isinstance(points, list | tuple) or not all(hasattr(point, "id") for point in points):
        raise DataError(
            f"expert {name!r}: a list of points, or what query_points returns, is needed, got {type(answer).__name__}"
        )
    return list(points)


def _as_list(name: str, points: list[Any], with_scores: bool) -> list[Any]:
    if not with_scores:
        return [point.id for point in points]
    if any(after.score > before.score for before, after in pairwise(points)):
        raise DataError(
            f"expert {name!r}: scores grow along the list, as distances do; for a method that uses scores, search with "
            "the distance Cosine or Dot, whose scores are larger for better points"
        )
    return [(point.id, point.score) for point in points]
