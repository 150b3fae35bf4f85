"""The catalogue of methods: one file each, one line here."""

from typing import Any

from juryrank.errors import ParameterError, UnknownNameError
from juryrank.methods.base import Aggregator
from juryrank.methods.borda import Borda
from juryrank.methods.condorcet import Condorcet
from juryrank.methods.copeland import Copeland
from juryrank.methods.dowdall import Dowdall
from juryrank.methods.isr import ISR
from juryrank.methods.log_isr import LogISR
from juryrank.methods.mc1 import MC1
from juryrank.methods.mc2 import MC2
from juryrank.methods.mc3 import MC3
from juryrank.methods.mc4 import MC4
from juryrank.methods.mean_rank import MeanRank
from juryrank.methods.median_rank import MedianRank
from juryrank.methods.rbc import RBC
from juryrank.methods.rrf import RRF
from juryrank.params import parameters

__all__ = [
    "ISR",
    "MC1",
    "MC2",
    "MC3",
    "MC4",
    "METHODS",
    "RBC",
    "RRF",
    "Aggregator",
    "Borda",
    "Condorcet",
    "Copeland",
    "Dowdall",
    "LogISR",
    "MeanRank",
    "MedianRank",
    "method",
]

METHODS: dict[str, type[Aggregator]] = {
    cls.name: cls
    for cls in (
        Borda,
        Condorcet,
        Copeland,
        Dowdall,
        ISR,
        LogISR,
        MC1,
        MC2,
        MC3,
        MC4,
        MeanRank,
        MedianRank,
        RBC,
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
