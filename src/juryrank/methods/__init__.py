"""The catalogue of methods: one file each, one line here."""

from typing import Any

from juryrank.errors import ParameterError, UnknownNameError
from juryrank.methods.base import Aggregator
from juryrank.methods.rrf import RRF
from juryrank.params import parameters

__all__ = [
    "METHODS",
    "RRF",
    "Aggregator",
    "method",
]

METHODS: dict[str, type[Aggregator]] = {
    cls.name: cls
    for cls in (
        RRF,
    )
}

ALIASES: dict[str, str] = {}


def method(name: str, **params: Any) -> Aggregator:
    """The method of that name with these parameters.

    >>> method("rrf", k=10)
    RRF(weights=None, missing='ignore', ranks='given', k=10)
    """
    known = ALIASES.get(name, name).replace("_", "-")
    if known not in METHODS:
        raise UnknownNameError.of("method", name, METHODS)
    cls = METHODS[known]
    allowed = [f.name for f in parameters(cls)]
    for param in params:
        if param not in allowed:
            raise ParameterError(f"{known} has no parameter {param!r}; it has {', '.join(allowed) or 'none'}")
    return cls(**params)
