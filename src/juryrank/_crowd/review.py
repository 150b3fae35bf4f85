"""Which tasks need one more answer, and which workers to review and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from juryrank._crowd.answers import Answers
from juryrank._crowd.estimate import Estimate
from juryrank.data.arrays import Floats, Ints

ENOUGH = 10  # answers, or gold tasks, without which nothing is said about a worker
ONE_LABEL, ELSEWHERE = 0.95, 0.8  # share of one label in the answers of a worker, and at most in the consensus
UNINFORMATIVE = 0.05  # of the information that a right answer has
NORMAL = 1.959963984540054  # of intervals of shares


@dataclass(frozen=True)
class Worker:
    """One worker; shares are NaN where there is nothing to count.

    ``reliability`` is the estimated share of right answers, ``agreement`` the share of answers equal to the consensus,
    ``information`` what the answers tell about the truth, from 0 (nothing) to 1 (as much as right answers).
    """

    worker: str
    answers: int
    reliability: float
    agreement: float
    information: float
    gold_tasks: int
    gold_right: int
    more: dict[str, float] = field(default_factory=dict)  # further columns of the method
    reasons: tuple[str, ...] = ()  # to review the worker

    @property
    def gold_accuracy(self) -> float:
        return self.gold_right / self.gold_tasks if self.gold_tasks else np.nan

    def to_dict(self) -> dict[str, Any]:
        """The worker as plain values."""
        return {
            "worker": self.worker, "answers": self.answers, "reliability": self.reliability,
            "agreement": self.agreement, "information": self.information, "gold_tasks": self.gold_tasks,
            "gold_accuracy": self.gold_accuracy if self.gold_tasks else None, **self.more,
            "review": "; ".join(self.reasons) or None,
        }  # fmt: skip


def average_confusion(answers: Answers, probability: Floats) -> Floats:
    """[true class, label given]: the confusion matrix of all answers together, with one answer of each added."""
    counts = answers.sum_by_answer(probability).sum(0).T + 1.0 / answers.n_classes
    shares: Floats = counts / counts.sum(1, keepdims=True)
    return shares


def entropy(share: Floats) -> Floats:
    """The entropy in bits, over the last axis."""
    bits: Floats = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(-1)
    return np.maximum(bits, 0.0)


def expected_information(probability: Floats, confusion: Floats) -> Floats:
    """Bits that an answer with this confusion matrix is expected to tell about classes with these probabilities."""
    told = entropy(probability @ confusion) - probability @ entropy(confusion)
    return np.maximum(told, 0.0)


def workers_of(answers: Answers, probability: Floats, choice: Ints, estimate: Estimate) -> tuple[Worker, ...]:
    """All workers, most reliable first."""
    n, rows = len(answers.workers), answers.worker
    count = np.bincount(rows, minlength=n)
    right = probability[answers.task, answers.label]
    agreed = (choice[answers.task] == answers.label).astype(np.float64)
    truth = answers.gold[answers.task]
    known, correct = truth >= 0, (truth == answers.label) & (truth >= 0)
    shares = probability.mean(0)
    most = entropy(shares)
    told = np.array([_informed(shares, matrix, float(most)) for matrix in _smoothed(answers, probability)])
    columns = {
        "reliability": np.bincount(rows, right, n) / count,
        "agreement": np.bincount(rows, agreed, n) / count,
        "gold_tasks": np.bincount(rows, known, n),
        "gold_right": np.bincount(rows, correct, n),
    }
    expected = Expected(
        reliability=float(right.mean()),
        agreement=float(agreed.mean()),
        gold=float(correct.sum() / max(known.sum(), 1)),
        shares=np.bincount(choice, minlength=answers.n_classes) / len(choice),
    )
    found = []
    for w, name in enumerate(answers.workers):
        worker = Worker(
            name, int(count[w]), float(columns["reliability"][w]), float(columns["agreement"][w]), float(told[w]),
            int(columns["gold_tasks"][w]), int(columns["gold_right"][w]),
            {key: float(values[w]) for key, values in estimate.of_workers.items()},
        )  # fmt: skip
        reasons = expected.reasons(worker, answers.by_worker[w], answers.classes)
        found.append(Worker(**{**vars(worker), "reasons": reasons}))
    return tuple(sorted(found, key=lambda each: (-each.reliability, -each.answers, each.worker)))


def _smoothed(answers: Answers, probability: Floats) -> Floats:
    """Confusion matrices with one answer of the worker's usual labels added to each true class."""
    usual = answers.by_worker / answers.by_worker.sum(1, keepdims=True)
    counts = answers.sum_by_answer(probability).transpose(0, 2, 1) + usual[:, None]
    matrices: Floats = counts / counts.sum(2, keepdims=True)
    return matrices


def _informed(shares: Floats, matrix: Floats, most: float) -> float:
    return float(expected_information(shares[None], matrix)[0] / most) if most > 0 else np.nan


@dataclass(frozen=True, eq=False)
class Expected:
    """What is usual in this crowd."""

    reliability: float
    agreement: float
    gold: float
    shares: Floats  # of the consensus labels

    def reasons(self, worker: Worker, given: Ints, classes: tuple[str, ...]) -> tuple[str, ...]:
        """Why this worker should be reviewed; nothing about a worker with few answers."""
        found = []
        if worker.gold_tasks >= ENOUGH and upper_bound(worker.gold_right, worker.gold_tasks) < self.gold:
            found.append(
                f"right on {worker.gold_right} of {worker.gold_tasks} gold tasks, all workers on {self.gold:.0%}"
            )
        if worker.answers < ENOUGH:
            return tuple(found)
        top = int(given.argmax())
        share = float(given[top] / worker.answers)
        if share >= ONE_LABEL and self.shares[top] <= ELSEWHERE:
            found.append(f"{share:.0%} of the answers are {classes[top]!r}, {self.shares[top]:.0%} of the labels")
        agreed = round(worker.agreement * worker.answers)
        if upper_bound(agreed, worker.answers) < self.agreement:
            if worker.information < UNINFORMATIVE:
                found.append("answers tell nearly nothing about the labels, like guesses")
            found.append(f"agrees with {worker.agreement:.0%} of the labels, all workers with {self.agreement:.0%}")
        return tuple(found)


def upper_bound(right: int, n: int) -> float:
    """The upper end of Wilson's 95 % interval of a share."""
    share, z = right / n, NORMAL
    centre = share + z * z / (2 * n)
    return (centre + z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
