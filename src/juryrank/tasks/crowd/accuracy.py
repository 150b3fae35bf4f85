"""How often labels are right on tasks whose truth is known, with the truth hidden from the method."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from juryrank.annotators.answers import Answers
from juryrank.annotators.estimate import Estimate, Limits
from juryrank.annotators.methods import METHODS
from juryrank.data.arrays import Floats

EQUAL = 1e-9  # as in labels.py
SIMPLE = "majority-vote"


@dataclass(frozen=True)
class Accuracy:
    """The share of gold tasks with the right label; of ``tied`` tasks a share counts, as if one were drawn."""

    method: str
    tasks: int
    right: float
    error: float  # standard error
    tied: int


def accuracies(
    name: str, answers: Answers, grades: Floats | None, fitted: Answers, estimate: Estimate
) -> tuple[Accuracy, ...]:
    """The accuracy of a method and of majority vote; nothing without gold tasks."""
    known = np.flatnonzero(answers.gold >= 0)
    if not len(known):
        return ()
    hidden = answers.without_gold()
    if (fitted.gold >= 0).any():
        estimate = METHODS[name](hidden, grades, Limits())
    found = [_accuracy(name, answers, estimate.probability)]
    return tuple(found if name == SIMPLE else [*found, _accuracy(SIMPLE, answers, hidden.shares())])


def _accuracy(name: str, answers: Answers, probability: Floats) -> Accuracy:
    known = np.flatnonzero(answers.gold >= 0)
    leading = probability[known] >= probability[known].max(1, keepdims=True) - EQUAL
    share = leading[np.arange(len(known)), answers.gold[known]] / leading.sum(1)
    right = float(share.mean())
    error = sqrt(right * (1 - right) / len(known))
    return Accuracy(name, len(known), right, error, int((leading.sum(1) > 1).sum()))
