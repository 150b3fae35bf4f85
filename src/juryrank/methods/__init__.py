"""The catalogue of methods: one file each, one line here."""

from typing import Any

from juryrank.errors import ParameterError, UnknownNameError
from juryrank.methods.auto import Auto
from juryrank.methods.base import Aggregator
from juryrank.methods.blend import Blend
from juryrank.methods.borda import Borda
from juryrank.methods.borda_fuse import BordaFuse
from juryrank.methods.bradley_terry import BradleyTerry
from juryrank.methods.combanz import CombANZ
from juryrank.methods.combgmnz import CombGMNZ
from juryrank.methods.combmax import CombMAX
from juryrank.methods.combmed import CombMED
from juryrank.methods.combmin import CombMIN
from juryrank.methods.combmnz import CombMNZ
from juryrank.methods.combsum import CombSUM
from juryrank.methods.condorcet import Condorcet
from juryrank.methods.copeland import Copeland
from juryrank.methods.cps import CPS
from juryrank.methods.crf import CRF
from juryrank.methods.crowd_bt import CrowdBT
from juryrank.methods.dowdall import Dowdall
from juryrank.methods.elo import Elo
from juryrank.methods.generalised_mallows import GeneralisedMallows
from juryrank.methods.hodge_rank import HodgeRank
from juryrank.methods.isr import ISR
from juryrank.methods.jury import Jury
from juryrank.methods.kemeny import Kemeny
from juryrank.methods.lambdarank import LambdaRank
from juryrank.methods.log_isr import LogISR
from juryrank.methods.majority_vote import MajorityVote
from juryrank.methods.mallows import Mallows
from juryrank.methods.mc1 import MC1
from juryrank.methods.mc2 import MC2
from juryrank.methods.mc3 import MC3
from juryrank.methods.mc4 import MC4
from juryrank.methods.mean_rank import MeanRank
from juryrank.methods.median_rank import MedianRank
from juryrank.methods.monotone_retargeting import MonotoneRetargeting
from juryrank.methods.mpm import MPM
from juryrank.methods.outranking import Outranking
from juryrank.methods.plackett_luce import PlackettLuce
from juryrank.methods.plackett_luce_gamma import PlackettLuceGamma
from juryrank.methods.rank_centrality import RankCentrality
from juryrank.methods.rbc import RBC
from juryrank.methods.retargeting import Retargeting
from juryrank.methods.ridge import Ridge
from juryrank.methods.rra import RRA
from juryrank.methods.rrf import RRF
from juryrank.methods.supervised_borda import SupervisedBorda
from juryrank.methods.supervised_mc1 import SupervisedMC1
from juryrank.methods.supervised_mc2 import SupervisedMC2
from juryrank.methods.supervised_mc3 import SupervisedMC3
from juryrank.methods.supervised_mc4 import SupervisedMC4
from juryrank.methods.svd_lambdarank import SVDLambdaRank
from juryrank.methods.svp import SVP
from juryrank.methods.theta_cps import ThetaCPS
from juryrank.methods.theta_mpm import ThetaMPM
from juryrank.methods.thurstone import Thurstone
from juryrank.methods.trueskill import TrueSkill
from juryrank.methods.weng_lin import WengLin
from juryrank.params import parameters

__all__ = [
    "CPS",
    "CRF",
    "ISR",
    "MC1",
    "MC2",
    "MC3",
    "MC4",
    "METHODS",
    "MPM",
    "RBC",
    "RRA",
    "RRF",
    "SVP",
    "Aggregator",
    "Auto",
    "Blend",
    "Borda",
    "BordaFuse",
    "BradleyTerry",
    "CombANZ",
    "CombGMNZ",
    "CombMAX",
    "CombMED",
    "CombMIN",
    "CombMNZ",
    "CombSUM",
    "Condorcet",
    "Copeland",
    "CrowdBT",
    "Dowdall",
    "Elo",
    "GeneralisedMallows",
    "HodgeRank",
    "Jury",
    "Kemeny",
    "LambdaRank",
    "LogISR",
    "MajorityVote",
    "Mallows",
    "MeanRank",
    "MedianRank",
    "MonotoneRetargeting",
    "Outranking",
    "PlackettLuce",
    "PlackettLuceGamma",
    "RankCentrality",
    "Retargeting",
    "Ridge",
    "SVDLambdaRank",
    "SupervisedBorda",
    "SupervisedMC1",
    "SupervisedMC2",
    "SupervisedMC3",
    "SupervisedMC4",
    "ThetaCPS",
    "ThetaMPM",
    "Thurstone",
    "TrueSkill",
    "WengLin",
    "consensus_methods",
    "method",
]

METHODS: dict[str, type[Aggregator]] = {
    cls.name: cls
    for cls in (
        Auto,
        Blend,
        Borda,
        BordaFuse,
        BradleyTerry,
        CombANZ,
        CombGMNZ,
        CombMAX,
        CombMED,
        CombMIN,
        CombMNZ,
        CombSUM,
        Condorcet,
        Copeland,
        CPS,
        CRF,
        CrowdBT,
        Dowdall,
        Elo,
        GeneralisedMallows,
        HodgeRank,
        ISR,
        Jury,
        Kemeny,
        LambdaRank,
        LogISR,
        MajorityVote,
        Mallows,
        MC1,
        MC2,
        MC3,
        MC4,
        MeanRank,
        MedianRank,
        MonotoneRetargeting,
        MPM,
        Outranking,
        PlackettLuce,
        PlackettLuceGamma,
        RankCentrality,
        RBC,
        Retargeting,
        Ridge,
        RRA,
        RRF,
        SupervisedBorda,
        SupervisedMC1,
        SupervisedMC2,
        SupervisedMC3,
        SupervisedMC4,
        SVDLambdaRank,
        SVP,
        ThetaCPS,
        ThetaMPM,
        Thurstone,
        TrueSkill,
        WengLin,
    )
}

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
