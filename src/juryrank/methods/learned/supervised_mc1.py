"""Supervised Markov chain MC1."""

from dataclasses import dataclass

from juryrank.methods.chains.mc1 import MC1
from juryrank.methods.learned._chain import SupervisedListChain, teleport_param


@dataclass(kw_only=True)
class SupervisedMC1(SupervisedListChain):
    """Supervised MC1: the chain MC1 with expert weights learned from labels, as in supervised-mc2.

    Liu, Liu, Qin, Ma, Li, WWW 2007.
    """

    name = "supervised-mc1"
    chain = MC1
    by_entries = True
    teleport: float = teleport_param(0.05)
