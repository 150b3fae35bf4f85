"""What the supervised Markov chains share: expert weights learned through the stationary distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juryrank.data import Consensus, Dataset, Rankings
from juryrank.data.rankings import Floats, Ints, read_only
from juryrank.errors import warn_not_converged
from juryrank.kernels.chain import stationary
from juryrank.kernels.chain_gradient import chain_slopes, pair_loss
from juryrank.methods.base import Aggregator
from juryrank.methods.chains._base import ListChain, MarkovChain, summed
from juryrank.methods.learned_fields import Array, Names, learned
from juryrank.metrics import Truth, parse_metric
from juryrank.params import param
from juryrank.progress import track
from juryrank.training.gains import truth_of
from juryrank.training.labelled import Labelled, labelled, labelled_or_error
from juryrank.training.target import check_truth


@dataclass(frozen=True, eq=False)
class Problem:
    """A batch of labelled queries, with the last walk over their items."""

    rankings: Rankings
    gains: Floats  # [n_slots] NaN where nothing is known
    list_place: Ints  # [n_lists] the weight that counts for each list
    mass: Floats  # [n_slots] the stationary distribution, where the next walk starts
    steps: Ints  # [n_queries] of the walk

    @classmethod
    def of(cls, taught: Labelled, experts: list[str]) -> Problem:
        """The queries, with mass spread evenly."""
        size = taught.rankings.query_size
        place = taught.list_place(experts)
        return cls(taught.rankings, taught.gains, place, np.repeat(1.0 / size, size), np.zeros(len(size), np.int64))

    @property
    def scale(self) -> Floats:
        """Items of the query of each slot: masses times this have mean 1, whatever the size of the query."""
        return np.repeat(self.rankings.query_size, self.rankings.query_size).astype(np.float64)


def teleport_param(default: float) -> Any:
    """The parameter ``teleport``; chains differ in what they prefer (chosen on validation queries of MQ2008-agg)."""
    return param(default, "chance of a jump to any item of the query", above=0, at_most=1)


@dataclass(kw_only=True)
class SupervisedChain(Aggregator):
    """A Markov chain whose lists are chosen by expert weights that were learned from labels."""

    supervised: ClassVar[bool] = True
    chain: ClassVar[type[MarkovChain]]

    teleport: float = teleport_param(0.2)
    margin: float = param(3.0, "by how much a better item's mass, times the items, should be ahead", above=0)
    shrink: float = param(0.0001, "pull towards equal weights", at_least=0)
    epochs: int = param(30, "passes over the labelled queries", at_least=0)
    batch: int = param(64, "queries of one step", at_least=1)
    rate: float = param(0.1, "step size (Adam)", above=0)
    target: str = param("AP", "the metric on validation queries that chooses the pass")  # type: ignore[misc]
    unjudged: str = param(
        "irrelevant",
        "irrelevant: an unjudged item has label 0 if it is among RRF's first 1000; ignore: it says nothing",
        choices=("irrelevant", "ignore"),
    )
    seed: int = param(0, "order of the queries", at_least=0)
    tol: float = param(1e-10, "stop a walk when a step moves less mass than this", above=0)
    max_iter: int = param(2000, "steps of a walk at most", at_least=1)
    experts_: list[str] = learned(Names("experts", at_least=1))
    weights_: Floats = learned(Array("experts", at_least=0))  # their sum is 1

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        taught = labelled_or_error(self.name, data, self.unjudged)
        self.experts_ = taught.experts
        rng = np.random.default_rng(self.seed)
        order = rng.permutation(len(taught))
        batches = [np.sort(order[n : n + self.batch]) for n in range(0, len(order), self.batch)]
        problems = [Problem.of(taught.take(queries), self.experts_) for queries in batches]
        self.weights_ = softmax(self._descend(problems, self._watch(valid), rng))
        if failed := sum(int((p.steps > self.max_iter).sum()) for p in problems):
            what, advice = f"{failed} of {len(taught)} training queries", "raise max_iter, tol or teleport"
            warn_not_converged(self.name, what, self.max_iter, advice)

    def _descend(self, problems: list[Problem], watch: Watch | None, rng: np.random.Generator) -> Floats:
        """Logits after all passes, or after the best of them on the validation queries."""
        logits = np.zeros(len(self.experts_))
        best, highest = logits, -np.inf if watch is None else watch.value(self, logits)
        step = Adam(self.rate, len(logits))
        for epoch in track(range(self.epochs), self.name):
            for b in rng.permutation(len(problems)):
                _, slope = self.objective(logits, problems[b])
                logits = step(logits, slope)
            value = epoch if watch is None else watch.value(self, logits)
            if value > highest:
                best, highest = logits, value
        return best

    def _watch(self, valid: Dataset | None) -> Watch | None:
        if valid is None:
            return None
        if valid.labels is None:
            check_truth(self.name, self.target, valid)
        held = labelled(valid, self.unjudged)
        return Watch(held, self.target) if len(held) else None

    def objective(self, logits: Floats, problem: Problem) -> tuple[float, Floats]:
        """Mean loss of the queries of a problem, with the pull to equal weights, and its derivative by the logits."""
        r = problem.rankings
        weight = softmax(logits) * len(logits)
        list_weight = read_only(r.list_weight * weight[problem.list_place])
        self._walk(problem, list_weight)
        loss, slope = np.zeros(len(r)), np.empty(r.n_slots)
        scale = problem.scale
        pair_loss(r.slot_ptr, problem.gains, problem.mass * scale, self.margin, loss, slope)
        list_slope = np.zeros(r.n_lists)
        self._slopes(problem, list_weight, slope * scale, list_slope)
        by_weight = summed(problem.list_place, list_slope * r.list_weight, len(logits)) / len(r)
        by_logit = weight * (by_weight - (weight * by_weight).sum() / len(logits))
        centred = logits - logits.mean()
        return float(loss.mean() + self.shrink * (centred**2).sum()), by_logit + 2 * self.shrink * centred

    @abstractmethod
    def _walk(self, problem: Problem, list_weight: Floats) -> None:
        """Bring ``problem.mass`` to the stationary distribution, and write the steps that it took."""

    @abstractmethod
    def _slopes(self, problem: Problem, list_weight: Floats, slope: Floats, out: Floats) -> None:
        """Derivative of the loss by the weight of each list."""

    def _scores(self, rankings: Rankings, out: Floats) -> Any:
        return self._ranked(rankings, self.weights_, out)

    def _ranked(self, rankings: Rankings, weights: Floats, out: Floats) -> Any:
        known = rankings.places_in(self.experts_)
        weight = np.append(weights, weights.mean())[known]  # -1, a stranger, weighs as the mean expert
        by_name = {name: float(w) for name, w in zip(rankings.experts, weight, strict=True)}
        chain = self.chain(weights=by_name, teleport=self.teleport, tol=self.tol, max_iter=self.max_iter)
        return chain._scores(rankings, out)


class SupervisedListChain(SupervisedChain, ABC):
    """A supervised chain whose moves are sums over lists."""

    by_entries: ClassVar[bool] = False  # True where weights are normalised by the entries they reach

    def _walk(self, problem: Problem, list_weight: Floats) -> None:
        r = problem.rankings
        chain = self._chain()
        walk = (chain.strict, self.teleport, self.tol, self.max_iter, problem.steps, problem.mass)
        moves = chain.moves(r, list_weight)
        stationary(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, *moves, *walk)

    def _slopes(self, problem: Problem, list_weight: Floats, slope: Floats, out: Floats) -> None:
        r = problem.rankings
        chain = self._chain()
        lists = (r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank)
        walk = (chain.strict, self.by_entries, list_weight, self.teleport, self.tol, self.max_iter)
        chain_slopes(*lists, *chain.moves(r, list_weight), *walk, problem.mass, slope, out)

    def _chain(self) -> ListChain:
        chain = self.chain(teleport=self.teleport)
        assert isinstance(chain, ListChain)
        return chain


class Watch:
    """The mean of a metric on the validation queries."""

    def __init__(self, held: Labelled, target: str) -> None:
        self.rankings, self.metric = held.rankings, parse_metric(target)
        self.truth = Truth(truth_of(held.data, held.gains))

    def value(self, model: SupervisedChain, logits: Floats) -> float:
        """The mean over queries, for these weights."""
        scores = np.zeros(self.rankings.n_slots)
        model._ranked(self.rankings, softmax(logits), scores)
        return float(np.nanmean(self.metric.per_query(self.truth.judge(Consensus(self.rankings, scores)))))


def softmax(logits: Floats) -> Floats:
    """Positive weights that sum to 1; none is ever 0, for slopes are divided by them."""
    raised = np.exp(np.maximum(logits - logits.max(), -200.0))
    weights: Floats = raised / raised.sum()
    return weights


class Adam:
    """Adam's step (Kingma, Ba, ICLR 2015)."""

    def __init__(self, rate: float, size: int) -> None:
        self.rate, self.count = rate, 0
        self.mean, self.square = np.zeros(size), np.zeros(size)

    def __call__(self, at: Floats, slope: Floats) -> Floats:
        self.count += 1
        self.mean = 0.9 * self.mean + 0.1 * slope
        self.square = 0.999 * self.square + 0.001 * slope**2
        mean, square = self.mean / (1 - 0.9**self.count), self.square / (1 - 0.999**self.count)
        return at - self.rate * mean / (np.sqrt(square) + 1e-8)
