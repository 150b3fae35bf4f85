"""What a method finds about a crowd, and the EM loop of all methods that have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from juryrank.annotators.answers import Answers
from juryrank.data.arrays import Floats
from juryrank.errors import warn_not_converged

SMALLEST = 1e-10  # so that no probability is 0; also that of crowd-kit


@dataclass(frozen=True)
class Limits:
    """When an iteration ends."""

    max_iter: int = 1000
    tol: float = 1e-6  # rise of the log likelihood per answer and step


@dataclass(frozen=True, eq=False)
class Estimate:
    """The probabilities of the classes of each task, and what the method found about workers and tasks."""

    probability: Floats  # [n_tasks, n_classes]
    confusion: Floats  # [n_workers, true class, label given]
    steps: int = 0
    converged: bool = True
    log_likelihood: float = np.nan  # of all answers; NaN where the method has no likelihood
    of_workers: Mapping[str, Floats] = field(default_factory=dict)  # further columns, [n_workers] each
    of_tasks: Mapping[str, Floats] = field(default_factory=dict)  # [n_tasks] each


def posterior(answers: Answers, evidence: Floats) -> tuple[Floats, float]:
    """The probabilities of the classes, from the logarithms of joint probabilities; and the log likelihood.

    Where the truth is known, it is certain, and the likelihood is that of the known class.
    """
    by_class = np.ascontiguousarray(evidence.T)  # sums over the first axis are several times as fast
    top = by_class.max(0)
    by_class -= top
    np.exp(by_class, out=by_class)
    total = by_class.sum(0)
    by_class /= total
    value, known = top + np.log(total), np.flatnonzero(answers.gold >= 0)
    value[known] = evidence[known, answers.gold[known]]
    return answers.with_gold(np.ascontiguousarray(by_class.T)), float(value.sum())


def class_shares(probability: Floats) -> Floats:
    """The mean probability of each class."""
    shares: Floats = np.ones(len(probability)) @ probability / len(probability)
    return shares


def confusion_of(answers: Answers, probability: Floats) -> Floats:
    """[worker, true class, label given]: the share of each label, given the true class, by these probabilities.

    A worker who never met a class has equal shares there of the labels that he uses.
    """
    counts = answers.sum_by_answer(probability).transpose(0, 2, 1)
    counts = np.where((answers.by_worker > 0)[:, None], np.maximum(counts, SMALLEST), 0.0)
    shares: Floats = counts / counts.sum(2, keepdims=True)
    return shares


def class_evidence(answers: Answers, matrices: Floats, shares: Floats) -> Floats:
    """[n_tasks, n_classes]: the logarithm of the joint probability of a class and of all answers to the task."""
    logs = np.log(np.maximum(matrices, np.finfo(np.float64).tiny)).transpose(0, 2, 1)  # 0: a label never given
    evidence: Floats = answers.sum_by_task(np.ascontiguousarray(logs)) + np.log(np.maximum(shares, SMALLEST))
    return evidence


def expectation_maximisation(
    name: str, answers: Answers, matrices_of: Callable[[Answers, Floats], Floats], limits: Limits
) -> Estimate:
    """EM from the shares of the votes; ``matrices_of`` makes confusion matrices of the probabilities of classes.

    The order of rows, tasks and workers does not matter.
    """
    probability, before, value, step, rise = answers.shares(), -np.inf, -np.inf, 0, np.inf
    while step < limits.max_iter and rise >= limits.tol:
        matrices = matrices_of(answers, probability)
        probability, value = posterior(answers, class_evidence(answers, matrices, class_shares(probability)))
        step, rise, before = step + 1, (value - before) / len(answers), value
    converged = rise < limits.tol
    if not converged:
        warn_not_converged(name, "the probabilities of the labels", limits.max_iter)
    return Estimate(probability, matrices_of(answers, probability), step, converged, value)
