"""Which tasks need one more answer, and which workers to review and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np

from juryrank.annotators.answers import Answers
from juryrank.annotators.estimate import Estimate
from juryrank.data.arrays import Floats, Ints

ENOUGH = 10  # answers, or gold tasks, without which nothing is said about a worker
ONE_LABEL, ELSEWHERE = 0.95, 0.8  # share of one label in the answers of a worker, and at most in the consensus
MARGIN = 0.05  # by which a worker agrees less than others, to be reviewed
UNINFORMATIVE = 0.05  # of the information that a right answer has
NORMAL = 1.959963984540054  # of intervals of shares


@dataclass(frozen=True)
class Worker:
    """One worker; shares are NaN where there is nothing to count.

    ``reliability`` is the estimated share of right answers, ``agreement`` the share of answers equal to the label, of
    the ``compared`` answers to tasks that others answered, too, or whose truth is known; ``information`` is what the
    answers tell about the truth, from 0 (nothing) to 1 (as much as right answers).
    """

    worker: str
    answers: int
    compared: int
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
            "worker": self.worker, "answers": self.answers, "compared": self.compared, "reliability": self.reliability,
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
    right = probability[answers.task, answers.label]
    several = ((answers.votes.sum(1) > 1) | (answers.gold >= 0))[answers.task]
    agreed = (choice[answers.task] == answers.label) & several
    truth = answers.gold[answers.task]
    known, correct = truth >= 0, (truth == answers.label) & (truth >= 0)
    usual = Usual(
        agreement=float(agreed.sum() / max(several.sum(), 1)),
        gold=float(correct.sum() / max(known.sum(), 1)),
        shares=np.bincount(choice, minlength=answers.n_classes) / len(choice),
    )

    def count(which: Any) -> list[float]:
        sums: list[float] = np.bincount(answers.worker, which, len(answers.workers)).tolist()
        return sums

    columns = zip(
        answers.workers, count(np.ones(len(answers))), count(several), count(right), count(agreed), count(known),
        count(correct), _information(answers, probability).tolist(), answers.by_worker, strict=True,
    )  # fmt: skip
    found = []
    for w, (name, n, compared, is_right, agrees, gold, gold_right, told, given) in enumerate(columns):
        agreement = agrees / compared if compared else np.nan
        more = {key: float(values[w]) for key, values in estimate.of_workers.items()}
        worker = Worker(name, int(n), int(compared), is_right / n, agreement, told, int(gold), int(gold_right), more)
        found.append(replace(worker, reasons=usual.reasons(worker, given, answers.classes)))
    return tuple(sorted(found, key=lambda each: (-each.reliability, -each.answers, each.worker)))


def _information(answers: Answers, probability: Floats) -> Floats:
    """[n_workers]: what answers tell about the truth, as a share of what right answers tell.

    To each true class, one answer of the worker's usual labels is added, so that few answers do not tell much.
    """
    usual = answers.by_worker / answers.by_worker.sum(1, keepdims=True)
    counts = answers.sum_by_answer(probability).transpose(0, 2, 1) + usual[:, None]
    matrices = counts / counts.sum(2, keepdims=True)
    shares = probability.mean(0)
    most = float(entropy(shares))
    told = [float(expected_information(shares[None], matrix)[0]) for matrix in matrices]
    return np.array(told) / most if most > 0 else np.full(len(told), np.nan)


@dataclass(frozen=True, eq=False)
class Usual:
    """What is usual in this crowd."""

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
        if worker.compared >= ENOUGH and self._disagrees(worker):
            if worker.information < UNINFORMATIVE:
                found.append("answers tell nearly nothing about the labels, like guesses")
            found.append(f"agrees with {worker.agreement:.0%} of the labels, all workers with {self.agreement:.0%}")
        return tuple(found)

    def _disagrees(self, worker: Worker) -> bool:
        agreed = round(worker.agreement * worker.compared)
        return worker.agreement < self.agreement - MARGIN and upper_bound(agreed, worker.compared) < self.agreement


def upper_bound(right: int, n: int) -> float:
    """The upper end of Wilson's 95 % interval of a share."""
    share, z = right / n, NORMAL
    centre = share + z * z / (2 * n)
    return (centre + z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
