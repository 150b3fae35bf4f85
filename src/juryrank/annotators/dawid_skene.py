"""True grades and the reliability of judges, from the grades that several judges gave: ordinal Dawid–Skene by EM.

Each judge has a confusion matrix: the probability of each grade, given the true one. Few judgements of one judge are
not enough for it, so it is regularised towards that of the average judge, and that towards a matrix in which grades
further from the true one are less likely. Only items with several grades, or with a known true grade, tell something
about judges; the others have no influence on the matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats, Ints

SMALLEST = 1e-9  # so that no grade is impossible


@dataclass(frozen=True, eq=False)
class Judgements:
    """Grades of items by judges: one row for each item and judge."""

    item: Ints  # [n]
    judge: Ints  # [n]
    grade: Ints  # [n] place of the grade among the levels
    levels: Floats  # [n_levels] all grades, ascending
    true_grade: Ints  # [n_items] place of the true grade among the levels; -1 if it is unknown
    n_judges: int

    @property
    def n_items(self) -> int:
        return len(self.true_grade)

    @property
    def n_grades(self) -> Ints:
        """The number of grades of each item."""
        return np.bincount(self.item, minlength=self.n_items)

    @property
    def compares(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether an item compares judges: it has several grades, or one and a true grade."""
        known: np.ndarray[tuple[int], np.dtype[np.bool_]] = self.n_grades + (self.true_grade >= 0) > 1
        return known

    def shares(self) -> Floats:
        """[n_items, n_levels]: the share of each grade among the grades of an item; the true one where it is known."""
        size = len(self.levels)
        votes = np.bincount(self.item * size + self.grade, minlength=self.n_items * size).reshape(-1, size)
        return self.with_true_grades(votes / np.maximum(votes.sum(1, keepdims=True), 1))

    def with_true_grades(self, probability: Floats) -> Floats:
        """The probabilities of the grades of each item, certain where the true grade is known."""
        known = self.true_grade >= 0
        probability[known] = np.eye(len(self.levels))[self.true_grade[known]]
        return probability


@dataclass(frozen=True)
class Regularisation:
    """How many judgements of each true grade the priors count as; chosen in simulations, not on real judgements."""

    judge: float = 5.0  # the average judge, in the matrix of one judge
    average: float = 5.0  # the ordinal matrix, in that of the average judge
    share: float = 5.0  # items with the grades given, in the shares of the true grades
    step: float = 0.25  # how much less likely a grade is than the one before it, on the way from the true grade
    calibration: float = 5.0  # no change, in the map from estimated to true grades
    max_iter: int = 1000
    tol: float = 1e-3  # of probabilities


USUAL = Regularisation()


@dataclass(frozen=True, eq=False)
class Estimate:
    """What EM found."""

    probability: Floats  # [n_items, n_levels] of each true grade
    confusion: Floats  # [n_judges, true grade, grade given]
    calibration: Floats  # [estimated grade, true grade]: how far estimates without true grades can be trusted
    steps: int
    converged: bool


def ordinal_matrix(n_levels: int, step: float) -> Floats:
    """Each row a distribution that falls by the factor ``step`` with each grade further from the true one."""
    apart = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels)))
    matrix: Floats = step**apart / (step**apart).sum(1, keepdims=True)
    return matrix


def dawid_skene(given: Judgements, prior: Regularisation = USUAL) -> Estimate:
    """The probabilities of the true grades, and the confusion matrix of each judge.

    EM from the shares of the grades. Deterministic; the order of items, judges and rows does not matter.
    """
    used, probability = given.compares, given.shares()
    marginal = np.bincount(given.grade, minlength=len(given.levels)) + 1.0
    marginal *= prior.share / marginal.sum()
    step, change = 0, np.inf
    while step < prior.max_iter and change >= prior.tol:
        step, before = step + 1, probability
        counts = _counts(given, probability)
        log_share = np.log((probability[used].sum(0) + marginal) / (used.sum() + prior.share))
        evidence = np.log(_matrices(counts, prior))[given.judge, :, given.grade]
        estimate = _posterior(given, evidence, log_share)
        probability = given.with_true_grades(estimate.copy())
        change = float(np.abs(probability - before)[used].max(initial=0.0))
    honest = _posterior(given, _evidence_without_own(given, evidence, counts, prior), log_share)
    calibration = _calibrate(given, honest, prior)
    probability = given.with_true_grades(estimate @ calibration)
    return Estimate(probability, _matrices(counts, prior), calibration, step, change < prior.tol)


def _counts(given: Judgements, probability: Floats) -> Floats:
    """[judge, true grade, grade given]: how often, on items that compare judges."""
    rows = given.compares[given.item]
    size, weight = len(given.levels), probability[given.item[rows]]
    cell = given.judge[rows] * size + given.grade[rows]
    sums = [np.bincount(cell, column, minlength=given.n_judges * size).reshape(-1, size) for column in weight.T]
    return np.stack(sums, 1)


def _matrices(counts: Floats, prior: Regularisation) -> Floats:
    """The confusion matrices: the counts of a judge with those of the average judge."""
    total = counts.sum(0) + prior.average * ordinal_matrix(counts.shape[1], prior.step)
    average = total / total.sum(1, keepdims=True)
    mixed = counts + prior.judge * average
    matrices: Floats = mixed / mixed.sum(2, keepdims=True)
    return matrices


def _evidence_without_own(given: Judgements, evidence: Floats, counts: Floats, prior: Regularisation) -> Floats:
    """The evidence of each row, of items with a true grade by matrices that are estimated without that row."""
    rows = np.flatnonzero(given.true_grade[given.item] >= 0)
    judge, grade, truth = given.judge[rows], given.grade[rows], given.true_grade[given.item[rows]]
    total = counts.sum(0) + prior.average * ordinal_matrix(counts.shape[1], prior.step)
    average = (total[truth, grade] - 1.0) / (total.sum(1)[truth] - 1.0)
    mixed = counts[judge, truth, grade] - 1.0 + prior.judge * average
    out = evidence.copy()
    out[rows, truth] = np.log(mixed / (counts.sum(2)[judge, truth] - 1.0 + prior.judge))
    return out


def _posterior(given: Judgements, evidence: Floats, log_share: Floats) -> Floats:
    """[n_items, n_levels]: the probability of each true grade, from the evidence of all grades of an item."""
    logs = np.stack([np.bincount(given.item, column, minlength=given.n_items) for column in evidence.T], 1) + log_share
    odds = np.exp(logs - logs.max(1, keepdims=True))
    posterior: Floats = odds / odds.sum(1, keepdims=True)
    return posterior


def _calibrate(given: Judgements, estimate: Floats, prior: Regularisation) -> Floats:
    """The map from estimated to true grades that makes the known true grades most likely, by EM.

    Judges who err together make estimates surer than they should be, and all may be too lenient; the true grades tell.
    """
    size, known = len(given.levels), (given.true_grade >= 0) & (given.n_grades > 0)
    if not known.any():
        return np.eye(size)
    matrix, change = ordinal_matrix(size, prior.step), np.inf
    here, truth = estimate[known], np.eye(size)[given.true_grade[known]]
    for _ in range(prior.max_iter):
        if change < prior.tol / 10:
            break
        joint = here * (truth @ matrix.T)
        counts = (joint / joint.sum(1, keepdims=True)).T @ truth + prior.calibration * np.eye(size) + SMALLEST
        before, matrix = matrix, counts / counts.sum(1, keepdims=True)
        change = float(np.abs(matrix - before).max())
    return matrix
