"""Supervised Markov chain MC2."""

from __future__ import annotations

from dataclasses import dataclass

from juryrank.data import Dataset
from juryrank.errors import JuryrankWarning, warn_user
from juryrank.methods.chains.mc2 import MC2
from juryrank.methods.learned._chain import SupervisedListChain
from juryrank.methods.learned.relaxation import cvxpy, relaxation
from juryrank.params import param
from juryrank.progress import track

LONG = 10.0  # seconds; a longer run is announced


@dataclass(kw_only=True)
class SupervisedMC2(SupervisedListChain):
    """Supervised MC2: the chain MC2 with expert weights learned from labels.

    The weights sum to 1 and minimise the squared hinge loss of the stationary distribution over pairs of items with
    different labels, by implicit differentiation. Unranked items of a list are tied below it; an unknown expert has
    the mean weight.

    ``solver="sdp"`` is the semidefinite program of the paper, for comparison: it replaces the stationary distribution
    by a bound and relaxes the rest; both are loose, so the weights differ little. It uses at most ``queries``
    labelled queries and ``pairs`` pairs of each, sampled with ``seed``, and gives a warning.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = SupervisedMC2().fit(from_dicts(lists, labels={"q": {"a": 1, "c": 0}}))
    >>> dict(zip(model.experts_, model.weights_ > 0.5))
    {'bad': np.False_, 'good': np.True_}

    Liu, Liu, Qin, Ma, Li, WWW 2007.
    """

    name = "supervised-mc2"
    chain = MC2
    solver: str = param(
        "gradient",
        "gradient: the loss of the stationary distribution; sdp: the paper's relaxation, needs juryrank[sdp]",
        choices=("gradient", "sdp"),
    )
    queries: int = param(10, "sdp: maximum number of labelled queries", at_least=1)
    pairs: int = param(100, "sdp: maximum number of labelled pairs per query", at_least=1)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        if self.solver == "gradient":
            super()._learn(data, valid)
            return
        cvxpy()
        labelled = self._labelled_queries(data).require(self.name, data)
        self.experts_ = labelled.experts
        program = relaxation(labelled, self.experts_, self.margin, self.queries, self.pairs, self.seed)
        program.check_size(self.name)
        used, pairs = sum(len(q.better) for q in program.queries), sum(q.n_pairs for q in program.queries)
        sample = f"{len(program.queries)} of {len(labelled)} labelled queries and {used} of their {pairs} pairs"
        text = f"{self.name} by sdp: {sample}, {program.size:,} numbers, about {program.seconds:.0f} s"
        if len(program.queries) < len(labelled) or used < pairs or program.seconds > LONG:
            warn_user(text, JuryrankWarning)
        for one in track([program], text):
            self.weights_, _ = one.solve(self.name)
