"""Supervised Markov chain MC3."""

from dataclasses import dataclass

from juryrank.methods.chains.mc3 import MC3
from juryrank.methods.learned._chain import SupervisedListChain


@dataclass(kw_only=True)
class SupervisedMC3(SupervisedListChain):
    """Supervised MC3: the chain MC3 with expert weights learned from labels, as in supervised-mc2.

    Liu, Liu, Qin, Ma, Li, WWW 2007.
    """

    name = "supervised-mc3"
    chain = MC3
