"""What the supervised Markov chains share: expert weights learned through the stationary distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats, Ints, read_only_view
from juryrank.errors import warn_not_converged
from juryrank.kernels.chains import chain_slopes, pair_loss, stationary
from juryrank.learning.gains import truth_of
from juryrank.learning.labelled import LabelledQueries, unjudged_param
from juryrank.learning.target import check_truth
from juryrank.learning.validation import Validation
from juryrank.methods.chains.chain import ListChain, MarkovChain
from juryrank.methods.learned._base import WeightedExperts
from juryrank.methods.lists import sums_at
from juryrank.metrics import parse_metric
from juryrank.params import param
from juryrank.progress import track


@dataclass(frozen=True, eq=False)
class Problem:
    """A batch of labelled queries, with the stationary distribution of the last step."""

    rankings: Rankings
    gains: Floats  # [n_slots] NaN where nothing is known
    list_place: Ints  # [n_lists] the index of each list's expert
    mass: Floats  # [n_slots] the stationary distribution, from which the next iteration starts
    steps: Ints  # [n_queries] of the last iteration

    @classmethod
    def of(cls, queries: LabelledQueries, experts: list[str]) -> Problem:
        """The queries, with the uniform distribution."""
        r, size = queries.rankings, queries.rankings.query_size
        uniform, steps = np.repeat(1.0 / size, size), np.zeros(len(size), np.int64)
        return cls(r, queries.known_gains, queries.list_place(experts), uniform, steps)

    @property
    def scale(self) -> Floats:
        """Items of the query of each slot: masses times this have mean 1, whatever the size of the query."""
        return np.repeat(self.rankings.query_size, self.rankings.query_size).astype(np.float64)


def teleport_param(default: float) -> Any:
    """The parameter ``teleport``; the defaults of the chains were chosen on validation queries of MQ2008-agg."""
    return param(default, "probability of a jump to a random item of the query", above=0, at_most=1)


@dataclass(kw_only=True)
class SupervisedChain(WeightedExperts):
    """A Markov chain with expert weights, whose sum is 1, learned from labels."""

    chain: ClassVar[type[MarkovChain]]

    teleport: float = teleport_param(0.2)
    margin: float = param(3.0, "margin of the hinge loss, in probability mass times the number of items", at_least=0)
    shrink: float = param(0.0001, "regularisation towards equal weights", at_least=0)
    epochs: int = param(30, "passes over the labelled queries", at_least=0)
    batch: int = param(64, "queries per step", at_least=1)
    rate: float = param(0.1, "step size (Adam)", above=0)
    target: str = param("AP", "metric for choosing the best pass on validation queries")  # type: ignore[misc]
    unjudged: str = unjudged_param()
    seed: int = param(0, "random seed of the order of the queries", at_least=0)
    tol: float = param(1e-10, "stop a random walk when a step moves less mass than this", above=0)
    max_iter: int = param(2000, "maximum number of steps of a random walk", at_least=1)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        labelled = self._labelled_queries(data).require(self.name, data)
        self.experts_ = labelled.experts
        rng = np.random.default_rng(self.seed)
        order = rng.permutation(len(labelled))
        batches = [np.sort(order[n : n + self.batch]) for n in range(0, len(order), self.batch)]
        problems = [Problem.of(labelled.take(queries), self.experts_) for queries in batches]
        self.weights_ = softmax(self._descend(problems, self._validation(valid), rng))
        if failed := sum(int((p.steps > self.max_iter).sum()) for p in problems):
            what, advice = f"{failed} of {len(labelled)} training queries", "raise max_iter, tol or teleport"
            warn_not_converged(self.name, what, self.max_iter, advice)

    def _labelled_queries(self, data: Dataset) -> LabelledQueries:
        return LabelledQueries.of(data, self.unjudged).drop_zero_weight_lists()

    def _descend(self, problems: list[Problem], validation: Validation | None, rng: np.random.Generator) -> Floats:
        """Logits after all passes, or after the best of them on the validation queries."""
        logits = np.zeros(len(self.experts_))
        best, highest = logits, -np.inf if validation is None else self._value(validation, logits)
        step = Adam(self.rate, len(logits))
        for epoch in track(range(self.epochs), self.name):
            for b in rng.permutation(len(problems)):
                _, slope = self.objective(logits, problems[b])
                logits = step(logits, slope)
            value = epoch if validation is None else self._value(validation, logits)
            if value > highest:
                best, highest = logits, value
        return best

    def _validation(self, valid: Dataset | None) -> Validation | None:
        if valid is None:
            return None
        if valid.labels is None:
            check_truth(self.name, self.target, valid)
        queries = self._labelled_queries(valid)
        truth = truth_of(queries.data, queries.known_gains)
        return Validation(truth, parse_metric(self.target)) if len(queries) else None

    def _value(self, validation: Validation, logits: Floats) -> float:
        """The mean of the target metric on the validation queries, for these weights."""
        scores = np.zeros(validation.rankings.n_slots)
        self._chain_scores(validation.rankings, softmax(logits), scores)
        return validation.mean(scores)

    def objective(self, logits: Floats, problem: Problem) -> tuple[float, Floats]:
        """Mean loss of the queries of a problem, with the regularisation, and its derivative by the logits."""
        r = problem.rankings
        weight = softmax(logits) * len(logits)
        list_weight = read_only_view(r.list_weight * weight[problem.list_place])
        self._walk(problem, list_weight)
        loss, slope = np.zeros(len(r)), np.empty(r.n_slots)
        scale = problem.scale
        pair_loss(r.slot_ptr, problem.gains, problem.mass * scale, self.margin, loss, slope)
        list_slope = np.zeros(r.n_lists)
        self._slopes(problem, list_weight, slope * scale, list_slope)
        by_weight = sums_at(problem.list_place, list_slope * r.list_weight, len(logits)) / len(r)
        by_logit = weight * (by_weight - (weight * by_weight).sum() / len(logits))
        centred = logits - logits.mean()
        return float(loss.mean() + self.shrink * (centred**2).sum()), by_logit + 2 * self.shrink * centred

    @abstractmethod
    def _walk(self, problem: Problem, list_weight: Floats) -> None:
        """Iterate ``problem.mass`` to the stationary distribution, and write the steps that it took."""

    @abstractmethod
    def _slopes(self, problem: Problem, list_weight: Floats, slope: Floats, out: Floats) -> None:
        """Derivative of the loss by the weight of each list."""

    def _scores(self, rankings: Rankings, out: Floats) -> Any:
        return self._chain_scores(rankings, self.weights_, out)

    def _chain_scores(self, rankings: Rankings, weights: Floats, out: Floats) -> Any:
        """As ``_scores``, with these weights of the experts."""
        by_name = self._with_unknown_experts(rankings, weights)
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
