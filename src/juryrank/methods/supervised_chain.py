"""What the supervised Markov chains share: expert weights learned through the stationary distribution."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats
from juryrank.errors import DataError
from juryrank.kernels.chain import stationary
from juryrank.kernels.chain_gradient import chain_slopes, pair_loss
from juryrank.learners.gains import slot_gains, truth_of
from juryrank.methods.base import Aggregator, learned
from juryrank.methods.markov import ListChain, MarkovChain, summed
from juryrank.metrics import Truth, parse_metric
from juryrank.params import param
from juryrank.progress import track


@dataclass(frozen=True)
class Problem:
    """A batch of labelled queries: the loss of expert weights, and its derivative."""

    rankings: Rankings
    gains: Floats  # [n_slots] NaN where nothing is known
    mass: Floats  # [n_slots] the last stationary distribution, where the next walk starts

    @property
    def scale(self) -> Floats:
        """Items of the query of each slot: masses times this have mean 1, whatever the size of the query."""
        return np.repeat(self.rankings.query_size, self.rankings.query_size).astype(np.float64)


@dataclass(kw_only=True)
class SupervisedChain(Aggregator):
    """A Markov chain whose lists are chosen by expert weights that were learned from labels."""

    supervised: ClassVar[bool] = True
    chain: ClassVar[type[MarkovChain]]

    teleport: float = param(0.05, "chance of a jump to any item of the query", above=0, at_most=1)
    margin: float = param(3.0, "by how much a better item's mass, times the items, should be ahead", above=0)
    shrink: float = param(0.0001, "pull towards equal weights", at_least=0)
    epochs: int = param(30, "passes over the labelled queries", at_least=0)
    batch: int = param(64, "queries of one step", at_least=1)
    rate: float = param(0.1, "step size (Adam)", above=0)
    select: str = param("AP", "the metric on validation queries that chooses the epoch")
    seed: int = param(0, "order of the batches")
    tol: float = param(1e-10, "stop a walk when a step moves less mass than this", above=0)
    max_iter: int = param(2000, "steps of a walk at most", at_least=1)
    experts_: list[str] = learned()
    weights_: Floats = learned()

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.experts_ = list(data.experts)
        gains = slot_gains(data)
        problems = self._batches(data, gains)
        if not problems:
            raise DataError(f"{self.name}: no query has items with different labels; there is nothing to learn from")
        judge = None if valid is None else Truth(truth_of(valid, slot_gains(valid)))
        logits = np.zeros(len(self.experts_))
        best, best_value = logits, -np.inf
        step = Adam(self.rate, len(logits))
        rng = np.random.default_rng(self.seed)
        for epoch in track(range(self.epochs + 1), self.name):
            if judge is not None and valid is not None:
                self.weights_ = softmax(logits)
                value = self._value(judge, valid)
                if value > best_value:
                    best, best_value = logits, value
            if epoch == self.epochs:
                break
            for b in rng.permutation(len(problems)):
                _, slope = self.objective(logits, problems[b])
                logits = step(logits, slope)
        self.weights_ = softmax(best if judge is not None else logits)

    def _batches(self, data: Dataset, gains: Floats) -> list[Problem]:
        r = data.rankings
        telling = [
            q
            for q in range(len(r))
            if len(np.unique((g := gains[r.slot_ptr[q] : r.slot_ptr[q + 1]])[~np.isnan(g)])) > 1
        ]
        order = np.random.default_rng(self.seed).permutation(np.array(telling, np.int64))
        slot_gain = Dataset(rankings=r, reference=gains)  # carries one number per slot through take
        problems = []
        for start in range(0, len(order), self.batch):
            part = slot_gain.take(np.sort(order[start : start + self.batch]))
            assert part.reference is not None
            size = part.rankings.query_size
            problems.append(Problem(part.rankings, part.reference, np.repeat(1.0 / size, size)))
        return problems

    def _value(self, judge: Truth, valid: Dataset) -> float:
        out = np.zeros(valid.rankings.n_slots)
        self._scores(valid.rankings, out)
        from juryrank.data import Consensus

        values = parse_metric(self.select).per_query(judge.judge(Consensus(valid.rankings, out)))
        return float(np.nanmean(values))

    def objective(self, logits: Floats, problem: Problem) -> tuple[float, Floats]:
        """Mean loss of the queries of a problem, with the pull to equal weights, and its derivative by the logits."""
        r = problem.rankings
        weight = softmax(logits) * len(logits)
        list_weight = r.list_weight * weight[r.list_expert]
        self._walk(problem, list_weight)
        loss, slope = np.zeros(len(r)), np.empty(r.n_slots)
        scale = problem.scale
        pair_loss(r.slot_ptr, problem.gains, problem.mass * scale, self.margin, loss, slope)
        list_slope = np.zeros(r.n_lists)
        self._slopes(problem, list_weight, slope * scale, list_slope)
        by_weight = summed(r.list_expert, list_slope * r.list_weight, len(logits)) / len(r)
        by_logit = weight * (by_weight - (weight * by_weight).sum() / len(logits))
        centred = logits - logits.mean()
        return float(loss.mean() + self.shrink * (centred**2).sum()), by_logit + 2 * self.shrink * centred

    @abstractmethod
    def _walk(self, problem: Problem, list_weight: Floats) -> None:
        """Bring ``problem.mass`` to the stationary distribution."""

    @abstractmethod
    def _slopes(self, problem: Problem, list_weight: Floats, slope: Floats, out: Floats) -> None:
        """Derivative of the loss by the weight of each list."""

    def _scores(self, rankings: Rankings, out: Floats) -> Any:
        known = rankings.places_in(self.experts_)
        weight = np.append(self.weights_, self.weights_.mean())[known]  # -1, a stranger, weighs as the mean expert
        by_name = {name: float(w) for name, w in zip(rankings.experts, weight, strict=True)}
        chain = self.chain(weights=by_name, teleport=self.teleport, tol=self.tol, max_iter=self.max_iter)
        return chain._scores(rankings, out)


class SupervisedListChain(SupervisedChain):
    """A supervised chain whose moves are sums over lists."""

    by_entries: ClassVar[bool] = False  # True where weights are normalised by the entries they reach

    def _walk(self, problem: Problem, list_weight: Floats) -> None:
        r = problem.rankings
        chain = self._chain()
        walk = (chain.strict, self.teleport, self.tol, self.max_iter)
        steps = np.zeros(len(r), np.int64)
        moves = chain.moves(r, list_weight)
        stationary(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, *moves, *walk, steps, problem.mass)

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


def softmax(logits: Floats) -> NDArray[np.float64]:
    """Positive weights that sum to 1."""
    raised: NDArray[np.float64] = np.exp(logits - logits.max())
    return raised / raised.sum()


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
