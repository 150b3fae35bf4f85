"""GLAD: the abilities and difficulties found are a maximum of the posterior, by a slow version of it."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

import juryrank as jr
from peers import peer
from tasks.crowd.simulated_crowds import simulate


def log_posterior(found: Any, ability: np.ndarray, easiness: np.ndarray) -> float:
    """The logarithm of the likelihood of all answers times the priors, one task at a time."""
    answers, size = found.answers, len(found.classes)
    value = -0.5 * float(((ability - 1) ** 2).sum() + ((easiness - 1) ** 2).sum())
    for t in range(answers.n_tasks):
        total = 0.0
        for c in range(size):
            joint = 1 / size
            for n in np.flatnonzero(answers.task == t):
                right = 1 / (1 + math.exp(-ability[answers.worker[n]] * math.exp(easiness[t])))
                joint *= right if answers.label[n] == c else (1 - right) / (size - 1)
            total += joint
        value += math.log(total)
    return value


def test_no_ability_or_difficulty_can_be_improved() -> None:
    table, _, _ = simulate(60, 10, 3, 5, 0)
    found = jr.crowd(table, "glad", tol=1e-13)
    ability, easiness = found.estimate.of_workers["ability"], -np.log(found.estimate.of_tasks["difficulty"])
    best, step = log_posterior(found, ability, easiness), 1e-3
    for place in range(10):
        for change in (step, -step):
            moved = ability.copy()
            moved[place] += change
            assert log_posterior(found, moved, easiness) < best
    for place in range(0, 60, 7):
        for change in (step, -step):
            moved = easiness.copy()
            moved[place] += change
            assert log_posterior(found, ability, moved) < best


def test_labels_of_a_simulation_are_those_of_crowd_kit() -> None:
    pandas = pytest.importorskip("pandas")
    table, _, _ = simulate(120, 12, 3, 7, 1, accuracy=(0.6, 0.95))
    frame = pandas.DataFrame({column: table[column].to_list() for column in table.columns})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = peer("crowdkit.aggregation.classification.glad").GLAD(n_iter=10, silent=True)
        theirs = model.fit_predict(frame).to_dict()
    ours = jr.crowd(table, "glad").labels
    assert np.mean([ours[task] == label for task, label in theirs.items()]) > 0.95


def test_difficult_tasks_are_found() -> None:
    rows = [(f"easy{t}", f"w{w}", "a" if t % 2 else "b") for t in range(20) for w in range(6)]
    rows += [(f"hard{t}", f"w{w}", "a" if w % 2 else "b") for t in range(5) for w in range(6)]
    found = jr.crowd(rows, "glad").to_frame()
    easy, hard = (found.filter(found["item"].str.starts_with(kind))["difficulty"] for kind in ("easy", "hard"))
    assert easy.max() < hard.min()
