"""What a Fuser is made of: the method, and how it fuses one query in plain Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from juryrank.errors import ParameterError
from juryrank.methods import Aggregator, method
from juryrank.models import load
from juryrank.tasks.fuse.combinations import Combinations
from juryrank.tasks.fuse.exploration import Weighting
from juryrank.tasks.fuse.sums import PointSums

PATH_CHARACTERS = frozenset("./\\")  # a text with one of these is a path; no method has them in its name


def resolve(model: Aggregator | str | os.PathLike[str], params: Mapping[str, Any]) -> Aggregator:
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


def plain_way(model: Aggregator, weighting: Weighting | None = None) -> PointSums | Combinations | None:
    """How one query is fused in plain Python; None where a method needs a Dataset.

    With ``weighting``, the weights of the experts have these factors; None also where there are no weights.
    """
    by_name = not model.ties_by_appearance
    points = model.as_points() if _is_current(model, "as_points") else None
    if points is not None and points.formula is not None:
        return PointSums(points if weighting is None else weighting.points(points), by_name=by_name)
    combination = model.as_combination() if _is_current(model, "as_combination") else None
    if combination is not None and weighting is not None:
        weighted = combination.rule in ("sum", "mean") or "weights" in model.params()
        combination = weighting.combination(combination) if weighted else None
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
