"""Supervised Markov chain MC1."""

from dataclasses import dataclass

from juryrank.methods.chains.mc1 import MC1
from juryrank.methods.learned._chain import SupervisedListChain, teleport_param


@dataclass(kw_only=True)
class SupervisedMC1(SupervisedListChain):
    """Supervised MC1: the chain MC1 with expert weights learned from labels.

    The weights sum to 1 and minimise the squared hinge loss of the stationary distribution over pairs of items with
    different labels, by implicit differentiation. Unranked items of a list are tied below it; an unknown expert has
    the mean weight.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = SupervisedMC1().fit(from_dicts(lists, labels={"q": {"a": 1, "c": 0}}))
    >>> dict(zip(model.experts_, model.weights_ > 0.5))
    {'bad': np.False_, 'good': np.True_}

    Liu, Liu, Qin, Ma, Li, WWW 2007.
    """

    name = "supervised-mc1"
    chain = MC1
    by_entries = True
    teleport: float = teleport_param(0.05)
