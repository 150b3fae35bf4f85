"""The methods: majority vote, Dawid–Skene with full, one-coin and ordinal confusion matrices, and GLAD."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juryrank.annotators.answers import Answers
from juryrank.annotators.dawid_skene import Judgements, Regularisation
from juryrank.annotators.dawid_skene import dawid_skene as ordinal_estimate
from juryrank.annotators.estimate import SMALLEST, Estimate, Limits, confusion_of, expectation_maximisation
from juryrank.annotators.glad import glad
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, warn_not_converged

SUMMARIES = {
    "dawid-skene": "each worker has a confusion matrix, by maximum likelihood (EM); Dawid and Skene 1979",
    "one-coin": "each worker has one probability to be right, whatever the class; errors are equally likely",
    "glad": "each worker has an ability and each task a difficulty; Whitehill et al. 2009",
    "ordinal-dawid-skene": "confusion matrices regularised towards errors by few grades; classes need an order",
    "majority-vote": "the most frequent label; ties are told",
}


def majority_vote(answers: Answers, grades: Floats | None, limits: Limits) -> Estimate:
    """The shares of the labels."""
    probability = answers.shares()
    return Estimate(probability, confusion_of(answers, probability))


def dawid_skene(answers: Answers, grades: Floats | None, limits: Limits) -> Estimate:
    """Confusion matrices of maximum likelihood."""
    return expectation_maximisation("dawid-skene", answers, confusion_of, limits)


def one_coin(answers: Answers, grades: Floats | None, limits: Limits) -> Estimate:
    """One probability to be right per worker."""
    return expectation_maximisation("one-coin", answers, one_coin_matrices, limits)


def one_coin_matrices(answers: Answers, probability: Floats) -> Floats:
    """[worker, true class, label given]: the same probability on the diagonal, the rest equal."""
    size = answers.n_classes
    right = np.einsum("wkk->w", answers.sum_by_answer(probability)) / answers.by_worker.sum(1)
    wrong = (1 - right) / max(size - 1, 1)
    matrices = np.where(np.eye(size, dtype=bool), right[:, None, None], wrong[:, None, None])
    clipped: Floats = np.clip(matrices, SMALLEST, 1 - SMALLEST)
    return clipped


def ordinal_dawid_skene(answers: Answers, grades: Floats | None, limits: Limits) -> Estimate:
    """The regularised ordinal model that also combines the grades of judges."""
    if grades is None:
        raise DataError(
            "ordinal-dawid-skene needs an order of the labels, and these are not numbers: "
            f"{', '.join(map(repr, answers.classes[:8]))}; use order=[lowest, …, highest]"
        )
    order = np.argsort(grades, kind="stable")
    place = np.argsort(order, kind="stable")
    gold = np.where(answers.gold >= 0, place[answers.gold], -1)
    given = Judgements(
        item=answers.task, judge=answers.worker, grade=place[answers.label], levels=grades[order],
        true_grade=gold, n_judges=len(answers.workers),
    )  # fmt: skip
    found = ordinal_estimate(given, Regularisation(max_iter=limits.max_iter))
    if not found.converged:
        warn_not_converged("ordinal-dawid-skene", "the probabilities of the labels", limits.max_iter)
    probability = answers.with_gold(found.probability[:, place])
    return Estimate(probability, found.confusion[:, place][:, :, place], found.steps, found.converged)


Method = Callable[[Answers, Floats | None, Limits], Estimate]

METHODS: dict[str, Method] = {
    "dawid-skene": dawid_skene,
    "one-coin": one_coin,
    "glad": glad,
    "ordinal-dawid-skene": ordinal_dawid_skene,
    "majority-vote": majority_vote,
}
