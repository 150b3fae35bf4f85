"""Labels from the answers of a crowd by Dawid–Skene, next to crowd-kit: the same start, the same number of steps."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies import SHARED_DATA
from studies.crowds import CROWD, crowd_kit, simulated, trec
from studies.speed.clock import Effort, time_call, time_in_turns
from studies.speed.inputs import Inputs
from studies.speed.peers import silent
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import Target, at_least

STEPS, FACTOR, EQUAL = 50, 20.0, 1e-6
PEER = "crowd-kit"


def measure(inputs: Inputs, effort: Effort) -> Results:
    """From a frame of names to probabilities."""
    rows: list[Row] = []
    quick = effort is Effort.QUICK
    tables = {"simulated crowd": simulated(0, n_tasks=1000 if quick else 20_000).answers}
    if (SHARED_DATA / CROWD).exists():
        tables["crowd of TREC 2011"] = trec().answers
    for name, answers in tables.items():
        steps = 5 if quick else STEPS
        rows.append(row(f"Dawid–Skene, {name}, {answers.height:,} answers, {steps} steps", answers, steps))
    targets: list[Target] = at_least(f"≥ {FACTOR:g}× crowd-kit", rows, [r.task for r in rows], PEER, FACTOR)
    return rows, targets


def ours(answers: pl.DataFrame, steps: int) -> Any:
    """The labels after so many steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jr.crowd(answers, max_iter=steps, tol=0)


def row(task: str, answers: pl.DataFrame, steps: int) -> Row:
    """Both in turns, and whether they give the same probabilities."""
    model = crowd_kit("dawid_skene")
    if model is None:
        return skipped_row(task, PEER, time_call(partial(ours, answers, steps))[0])
    import pandas as pd

    frame = pd.DataFrame({name: answers[name].to_list() for name in answers.columns})

    def theirs() -> Any:
        with silent():
            return model(n_iter=steps, tol=-math.inf).fit_predict_proba(frame)

    found, expected = ours(answers, steps), theirs()
    names = found.answers.tasks["item"].to_list()
    apart = float(np.abs(expected.loc[names, list(found.classes)].to_numpy() - found.probability).max())
    mine, other = time_in_turns([partial(ours, answers, steps), theirs], rounds=3)
    return Row(task, PEER, mine, other, f"probabilities differ by at most {apart:.0e}", apart < EQUAL)
