"""GLAD: the ability of workers and the difficulty of tasks; Whitehill, Ruvolo, Wu, Bergsma, Movellan, NIPS 2009.

A worker of ability a gives the true label of a task with probability σ(a e^b), where a small b means a difficult task,
and each other label with the same probability. Abilities and b have normal priors of mean 1 and variance 1, classes
are equally likely. Given the probabilities of the classes, all abilities are independent, and given those all b: each
has steps of Fisher scoring of its own, which add up to O(answers).
"""

from __future__ import annotations

import numpy as np

from juryrank.annotators.answers import Answers
from juryrank.annotators.estimate import Estimate, Limits, confusion_of, posterior
from juryrank.data.arrays import Floats
from juryrank.errors import warn_not_converged

MEAN = 1.0  # of the priors
LONGEST = 1.0  # step of an ability or of b: the curvature is an approximation
SWEEPS = 5  # steps of abilities and b, in turn, between two estimates of the classes
SURE = 30.0  # the odds of a right answer are at most exp(SURE)


def glad(answers: Answers, grades: Floats | None, limits: Limits) -> Estimate:
    """Ability of workers and difficulty of tasks by EM."""
    ability, easiness = np.full(len(answers.workers), MEAN), np.full(answers.n_tasks, MEAN)
    before, value, step, rise = -np.inf, -np.inf, 0, np.inf
    probability = answers.shares()
    while step < limits.max_iter and rise >= limits.tol:
        probability, value = class_probabilities(answers, ability, easiness)
        value -= 0.5 * float(((ability - MEAN) ** 2).sum() + ((easiness - MEAN) ** 2).sum())
        step, rise, before = step + 1, (value - before) / len(answers), value
        right = probability[answers.task, answers.label]
        for _ in range(SWEEPS):
            ability, easiness = improve(answers, right, ability, easiness)
    if not (converged := rise < limits.tol):
        warn_not_converged("glad", "the abilities and difficulties", limits.max_iter)
    probability, value = class_probabilities(answers, ability, easiness)
    return Estimate(
        probability, confusion_of(answers, probability), step, converged, value,
        of_workers={"ability": ability}, of_tasks={"difficulty": np.exp(-easiness)},
    )  # fmt: skip


def log_odds(answers: Answers, ability: Floats, easiness: Floats) -> Floats:
    """[n]: the log odds that each answer is right."""
    odds: Floats = np.clip(ability[answers.worker] * np.exp(easiness[answers.task]), -SURE, SURE)
    return odds


def class_probabilities(answers: Answers, ability: Floats, easiness: Floats) -> tuple[Floats, float]:
    """The probabilities of the classes of each task, and the log likelihood of all answers."""
    size, odds = answers.n_classes, log_odds(answers, ability, easiness)
    wrong = -np.logaddexp(0.0, odds) - np.log(max(size - 1, 1))
    gain = odds + np.log(max(size - 1, 1))  # by which the label given is more likely if it is the true one
    cell = answers.task * size + answers.label
    given = np.bincount(cell, gain, minlength=answers.n_tasks * size).reshape(-1, size).astype(np.float64)
    all_wrong = np.bincount(answers.task, wrong, minlength=answers.n_tasks)[:, None]
    return posterior(answers, given + all_wrong - np.log(size))


def improve(answers: Answers, right: Floats, ability: Floats, easiness: Floats) -> tuple[Floats, Floats]:
    """One step of all abilities, then one of all b; ``right`` is the probability that each answer is right."""
    task, worker = answers.task, answers.worker
    scale = np.exp(easiness)[task]
    chance = 1 / (1 + np.exp(-log_odds(answers, ability, easiness)))
    slope = np.bincount(worker, (right - chance) * scale, len(ability)) - (ability - MEAN)
    curve = np.bincount(worker, chance * (1 - chance) * scale * scale, len(ability)) + 1.0
    ability = ability + np.clip(slope / curve, -LONGEST, LONGEST)
    odds = log_odds(answers, ability, easiness)
    chance = 1 / (1 + np.exp(-odds))
    slope = np.bincount(task, (right - chance) * odds, len(easiness)) - (easiness - MEAN)
    curve = np.bincount(task, chance * (1 - chance) * odds * odds, len(easiness)) + 1.0
    return ability, easiness + np.clip(slope / curve, -LONGEST, LONGEST)
