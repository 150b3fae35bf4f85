"""Parameters as fields of dataclasses: default, meaning and bounds are declared once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, fields
from functools import cache
from math import isfinite
from numbers import Integral, Real
from typing import Any

from juryrank.errors import ParameterError

LARGEST_WEIGHT = 1e50  # of a list or an expert: products and squares of such weights are finite


def param(
    default: Any,
    doc: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """A dataclass field with a meaning and bounds; ``None`` is allowed if it is the default."""
    bounds = {"above": above, "at_least": at_least, "at_most": at_most, "choices": choices}
    return field(default=default, metadata={"doc": doc, **bounds})


def parameters(owner: Any) -> tuple[Field[Any], ...]:
    """The fields of a class or instance that are parameters."""
    return _parameters_of_class(owner if isinstance(owner, type) else type(owner))


@cache
def _parameters_of_class(cls: Any) -> tuple[Field[Any], ...]:
    return tuple(f for f in fields(cls) if "doc" in f.metadata)


def value_of(text: str) -> Any:
    """The value of a text: parsed as JSON if it is JSON, otherwise the text itself.

    >>> value_of("10"), value_of("last")
    (10, 'last')
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def check_parameters(owner: Any) -> None:
    """Raise a ParameterError for the first parameter of ``owner`` that is out of its bounds."""
    for f in parameters(owner):
        value = getattr(owner, f.name)
        if value is None and f.default is None:
            continue
        if complaint := _complaint(f, value):
            raise ParameterError(f"{f.name} of {type(owner).__name__} must be {complaint}, got {value!r}")


def check_weights(weights: Mapping[Any, Any]) -> None:
    """Raise a ParameterError for the first expert whose weight is not a finite number >= 0."""
    for expert, weight in weights.items():
        if not (_is_number(weight) and _is_finite(weight) and weight >= 0):
            raise ParameterError(f"weight of expert {expert!r} must be a finite number >= 0, got {weight!r}")
        if float(weight) > LARGEST_WEIGHT:
            raise ParameterError(f"weight of expert {expert!r} must be at most {LARGEST_WEIGHT:g}, got {weight!r}")
    if len(set(map(str, weights))) < len(weights):
        raise ParameterError(f"weights name an expert twice, as text and as a number: {list(weights)}")


def plain(default: Any, value: Any) -> Any:
    """A checked value as a plain Python value of the type of its default.

    So models with numbers of numpy can be saved, and kernels get the types that the library has (``tol=1`` as 1.0).
    """
    if isinstance(value, Mapping):
        as_is = all(type(name) is str and type(number) in (int, float) for name, number in value.items())
        return value if as_is and type(value) is dict else {str(name): float(w) for name, w in value.items()}
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral) and not isinstance(default, float):
        return int(value)
    return int(float(value)) if isinstance(default, int) else float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)  # numbers of numpy are Real


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _complaint(f: Field[Any], value: Any) -> str | None:
    bounds = f.metadata
    if bounds["choices"] is not None:
        known = isinstance(value, str) and value in bounds["choices"]
        return None if known else "one of " + ", ".join(bounds["choices"])
    if isinstance(f.default, bool):
        return None if isinstance(value, bool) else "true or false"
    bounded = any(bounds[b] is not None for b in ("above", "at_least", "at_most"))
    if isinstance(f.default, str):
        return None if isinstance(value, str) else "text"
    if not bounded and not isinstance(f.default, int | float):
        return None
    if not _is_number(value):
        return "a number"
    if not _is_finite(value):
        return "a finite number"
    if isinstance(f.default, int) and value != int(value):
        return "a whole number"
    if bounds["above"] is not None and not value > bounds["above"]:
        return f"> {bounds['above']}"
    if bounds["at_least"] is not None and not value >= bounds["at_least"]:
        return f">= {bounds['at_least']}"
    if bounds["at_most"] is not None and not value <= bounds["at_most"]:
        return f"<= {bounds['at_most']}"
    return None
