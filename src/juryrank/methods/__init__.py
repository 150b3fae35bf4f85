"""The catalogue of methods: one file each, one line here.

A method is imported when it is first asked for, so that serving one does not load them all.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from juryrank.errors import ParameterError, UnknownNameError
from juryrank.methods.base import Aggregator
from juryrank.params import parameters

# The method "mean-rank" is the class MeanRank in the file mean_rank.py.
CLASSES = {
    "auto": "Auto",
    "blend": "Blend",
    "boosted": "Boosted",
    "borda": "Borda",
    "borda-fuse": "BordaFuse",
    "bradley-terry": "BradleyTerry",
    "combanz": "CombANZ",
    "combgmnz": "CombGMNZ",
    "combmax": "CombMAX",
    "combmed": "CombMED",
    "combmin": "CombMIN",
    "combmnz": "CombMNZ",
    "combsum": "CombSUM",
    "condorcet": "Condorcet",
    "copeland": "Copeland",
    "cps": "CPS",
    "crf": "CRF",
    "crowd-bt": "CrowdBT",
    "dowdall": "Dowdall",
    "elo": "Elo",
    "generalised-mallows": "GeneralisedMallows",
    "hodge-rank": "HodgeRank",
    "isr": "ISR",
    "jury": "Jury",
    "kemeny": "Kemeny",
    "kernel": "Kernel",
    "lambdarank": "LambdaRank",
    "log-isr": "LogISR",
    "majority-vote": "MajorityVote",
    "mallows": "Mallows",
    "mc1": "MC1",
    "mc2": "MC2",
    "mc3": "MC3",
    "mc4": "MC4",
    "mean-rank": "MeanRank",
    "median-rank": "MedianRank",
    "monotone-retargeting": "MonotoneRetargeting",
    "mpm": "MPM",
    "outranking": "Outranking",
    "plackett-luce": "PlackettLuce",
    "plackett-luce-gamma": "PlackettLuceGamma",
    "rank-centrality": "RankCentrality",
    "rbc": "RBC",
    "retargeting": "Retargeting",
    "ridge": "Ridge",
    "rra": "RRA",
    "rrf": "RRF",
    "supervised-borda": "SupervisedBorda",
    "supervised-mc1": "SupervisedMC1",
    "supervised-mc2": "SupervisedMC2",
    "supervised-mc3": "SupervisedMC3",
    "supervised-mc4": "SupervisedMC4",
    "svd-lambdarank": "SVDLambdaRank",
    "svp": "SVP",
    "theta-cps": "ThetaCPS",
    "theta-mpm": "ThetaMPM",
    "thurstone": "Thurstone",
    "trueskill": "TrueSkill",
    "weng-lin": "WengLin",
}

__all__ = ["METHODS", "Aggregator", "consensus_methods", "method", *CLASSES.values()]


class Catalogue(Mapping[str, type[Aggregator]]):
    """Classes of methods by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Aggregator]:
        class_name = CLASSES[name]
        cls: type[Aggregator] = getattr(import_module(f"{__name__}.{name.replace('-', '_')}"), class_name)
        return cls

    def __contains__(self, name: object) -> bool:
        return name in CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)


METHODS = Catalogue()


def __getattr__(name: str) -> Any:
    for method_name, class_name in CLASSES.items():
        if class_name == name:
            return METHODS[method_name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Names that other libraries use (ranx first), and the parameters that give the same result.
ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    "anz": ("combanz", {}),
    "bordafuse": ("borda", {"missing": "mean"}),
    "condorcet-fuse": ("condorcet", {}),
    "gmnz": ("combgmnz", {}),
    "logn-isr": ("log-isr", {"sigma": 0.01}),
    "max": ("combmax", {}),
    "med": ("combmed", {}),
    "min": ("combmin", {}),
    "mnz": ("combmnz", {}),
    "sum": ("combsum", {}),
    "w-bordafuse": ("borda", {"missing": "mean"}),
    "w-condorcet": ("condorcet", {}),
    "wmnz": ("combmnz", {}),
    "wsum": ("combsum", {}),
}


def consensus_methods() -> list[str]:
    """The names of the methods that need nothing but lists."""
    return [name for name, cls in METHODS.items() if not cls.supervised and not cls.needs_features]


def method(name: str, **params: Any) -> Aggregator:
    """The method of that name, or of another library's name for it, with these parameters.

    >>> method("dowdall", ranks="given")
    Dowdall(weights=None, missing='ignore', ranks='given')
    >>> method("bordafuse").name
    'borda'
    """
    spelled = name.replace("_", "-").lower()
    known, preset = ALIASES.get(spelled, (spelled, {}))
    if known not in METHODS:
        raise UnknownNameError.of("method", name, METHODS)
    cls = METHODS[known]
    allowed = [f.name for f in parameters(cls)]
    for param in params:
        if param not in allowed:
            raise ParameterError(f"{known} has no parameter {param!r}; it has {', '.join(allowed) or 'none'}")
    return cls(**{**preset, **params})
