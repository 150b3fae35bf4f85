"""The catalogue of methods: one file each, one line here.

A method is imported when it is first used, so that serving one does not load them all, and ``import juryrank``, which
reads this catalogue, loads none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any

from juryrank.errors import JuryrankWarning, ParameterError, PluginError, UnknownNameError, warn_user
from juryrank.methods.plugins import Plugins

if TYPE_CHECKING:
    from juryrank.methods.base import Aggregator

# The method "mean-rank" is the class MeanRank in the file positional/mean_rank.py.
CLASSES = {
    "anti-plurality": "elections.AntiPlurality",
    "approval": "elections.Approval",
    "auto": "learned.Auto",
    "baldwin": "elections.Baldwin",
    "black": "elections.Black",
    "blend": "learned.Blend",
    "boosted": "learned.Boosted",
    "borda": "positional.Borda",
    "borda-fuse": "learned.BordaFuse",
    "bradley-terry": "strengths.BradleyTerry",
    "bucklin": "elections.Bucklin",
    "combanz": "scores.CombANZ",
    "combgmnz": "scores.CombGMNZ",
    "combmax": "scores.CombMAX",
    "combmed": "scores.CombMED",
    "combmin": "scores.CombMIN",
    "combmnz": "scores.CombMNZ",
    "combsum": "scores.CombSUM",
    "condorcet": "pairwise.Condorcet",
    "convex": "learned.Convex",
    "coombs": "elections.Coombs",
    "copeland": "pairwise.Copeland",
    "cps": "pairwise.CPS",
    "crf": "learned.CRF",
    "crowd-bt": "strengths.CrowdBT",
    "dowdall": "positional.Dowdall",
    "elo": "ratings.Elo",
    "generalised-mallows": "pairwise.GeneralisedMallows",
    "hodge-rank": "strengths.HodgeRank",
    "irv": "elections.IRV",
    "isr": "positional.ISR",
    "jury": "learned.Jury",
    "kemeny": "pairwise.Kemeny",
    "kernel": "learned.Kernel",
    "lambdarank": "learned.LambdaRank",
    "log-isr": "positional.LogISR",
    "majority-judgement": "elections.MajorityJudgement",
    "majority-vote": "scores.MajorityVote",
    "mallows": "pairwise.Mallows",
    "mc1": "chains.MC1",
    "mc2": "chains.MC2",
    "mc3": "chains.MC3",
    "mc4": "chains.MC4",
    "mean-rank": "positional.MeanRank",
    "median-rank": "positional.MedianRank",
    "minimax": "elections.Minimax",
    "monotone-retargeting": "features.MonotoneRetargeting",
    "mpm": "strengths.MPM",
    "nanson": "elections.Nanson",
    "outranking": "pairwise.Outranking",
    "plackett-luce": "strengths.PlackettLuce",
    "plackett-luce-gamma": "strengths.PlackettLuceGamma",
    "plurality": "elections.Plurality",
    "rank-centrality": "strengths.RankCentrality",
    "ranked-pairs": "elections.RankedPairs",
    "rbc": "positional.RBC",
    "retargeting": "features.Retargeting",
    "ridge": "learned.Ridge",
    "rra": "positional.RRA",
    "rrf": "positional.RRF",
    "schulze": "elections.Schulze",
    "smith-irv": "elections.SmithIRV",
    "star": "elections.STAR",
    "stv": "elections.STV",
    "supervised-borda": "learned.SupervisedBorda",
    "supervised-mc1": "learned.SupervisedMC1",
    "supervised-mc2": "learned.SupervisedMC2",
    "supervised-mc3": "learned.SupervisedMC3",
    "supervised-mc4": "learned.SupervisedMC4",
    "svd-lambdarank": "learned.SVDLambdaRank",
    "svp": "strengths.SVP",
    "theta-cps": "learned.ThetaCPS",
    "theta-mpm": "learned.ThetaMPM",
    "thurstone": "strengths.Thurstone",
    "trueskill": "ratings.TrueSkill",
    "tuned-rrf": "learned.TunedRRF",
    "weng-lin": "ratings.WengLin",
}

__all__ = [
    "METHODS",
    "Aggregator",
    "consensus_methods",
    "load_plugin",
    "method",
    "register",
    "usable_methods",
    *(place.partition(".")[2] for place in CLASSES.values()),
]


def module_of(name: str) -> str:
    """The module of a method below this package.

    >>> module_of("mean-rank")
    'positional.mean_rank'
    """
    return f"{CLASSES[name].partition('.')[0]}.{name.replace('-', '_')}"


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


PLUGINS = Plugins({*CLASSES, *ALIASES})
register, load_plugin = PLUGINS.register, PLUGINS.load_file


class Catalogue(Mapping[str, "type[Aggregator]"]):
    """Classes of methods by name: the built-in ones, each imported when it is looked up, and those of plugins."""

    def __getitem__(self, name: str) -> type[Aggregator]:
        if name not in CLASSES:
            return PLUGINS[name]
        module = import_module(f"{__name__}.{module_of(name)}")
        cls: type[Aggregator] = getattr(module, CLASSES[name].partition(".")[2])
        return cls

    def __contains__(self, name: object) -> bool:
        return name in CLASSES or name in PLUGINS

    def __iter__(self) -> Iterator[str]:
        return iter([*CLASSES, *PLUGINS.names()])

    def __len__(self) -> int:
        return len(CLASSES) + len(PLUGINS)


METHODS = Catalogue()


def __getattr__(name: str) -> Any:
    if name == "Aggregator":
        return import_module(f"{__name__}.base").Aggregator
    for method_name, place in CLASSES.items():
        if place.endswith(f".{name}"):
            return METHODS[method_name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def consensus_methods() -> list[str]:
    """The names of the methods that need nothing but lists, with scores or without."""
    return [name for name, cls in usable_methods() if not (cls.supervised or cls.needs_features or cls.needs_scores)]


def usable_methods() -> Iterator[tuple[str, type[Aggregator]]]:
    """Every method with its class; those of a package that cannot be loaded are left out, with a warning."""
    for name in METHODS:
        try:
            cls = METHODS[name]
        except PluginError as error:
            warn_user(f"{error}; the method is left out", JuryrankWarning)
        else:
            yield name, cls


def method(name: str, **params: Any) -> Aggregator:
    """The method with this name, or with its name in another library, and these parameters.

    >>> method("dowdall", ranks="given")
    Dowdall(weights=None, missing='ignore', ranks='given')
    >>> method("bordafuse").name
    'borda'
    """
    from juryrank.params import parameters  # dataclasses would double the time of ``import juryrank``

    if not isinstance(name, str):
        raise ParameterError(f"a method is a name such as 'rrf' or an object such as RRF(), got {shortened(name)}")
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
