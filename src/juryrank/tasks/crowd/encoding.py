"""A table of answers as arrays: names become numbers, and what is dropped is counted and reported."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from juryrank.annotators.answers import Answers
from juryrank.data.arrays import Floats, Ints
from juryrank.data.entries import codes
from juryrank.data.names import sort_naturally
from juryrank.errors import DataError, unknown_names, warn_about_data
from juryrank.polars import pl
from juryrank.report import counted

SLOT = ["query", "item"]
MOST_CLASSES = 1000  # a confusion matrix of more makes no sense


def encode(frame: pl.DataFrame, gold: pl.DataFrame | None, order: Sequence[Any] | None) -> Answers:
    """The answers in a table with the columns query, item, worker and label; ``gold`` has query, item and gold."""
    frame = _complete(frame)
    classes = class_names(frame["label"], order)
    queries, items, workers = (sort_naturally(frame[name]) for name in (*SLOT, "worker"))
    slot = codes(frame["query"], queries) * len(items) + codes(frame["item"], items)
    worker = codes(frame["worker"], workers)
    rows = _last_answers(slot * len(workers) + worker)
    slot, worker = slot[rows], worker[rows]
    first = np.concatenate([[True], slot[1:] != slot[:-1]])
    of_task = slot[first]
    tasks = pl.DataFrame({"query": queries.gather(of_task // len(items)), "item": items.gather(of_task % len(items))})
    return Answers(
        tasks=tasks,
        workers=tuple(workers.to_list()),
        classes=classes,
        task=np.cumsum(first) - 1,
        worker=worker,
        label=codes(frame["label"], pl.Series(classes, dtype=pl.String))[rows],
        gold=_gold_places(gold, tasks.with_row_index("task"), classes),
    )


def _complete(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with a task, a worker and a label."""
    rows = frame.drop_nulls([*SLOT, "worker", "label"])
    if lost := frame.height - rows.height:
        which = "has no task, worker or label; it is" if lost == 1 else "have no task, worker or label; they are"
        warn_about_data(f"{lost} of {counted(frame.height, 'row')} {which} left out")
    if not rows.height:
        raise DataError("there are no answers: no row has a task, a worker and a label")
    return rows


def _last_answers(key: Ints) -> Ints:
    """The rows in the order of their keys (task, then worker), of equal keys only the last."""
    order = np.argsort(key, kind="stable")
    last = np.concatenate([key[order][1:] != key[order][:-1], [True]])
    if again := len(key) - int(last.sum()):
        answers = counted(again, "answer is", "answers are")
        warn_about_data(f"{answers} repeated by the same worker for the same task; the last counts")
    rows: Ints = order[last]
    return rows


def class_names(labels: pl.Series, order: Sequence[Any] | None) -> tuple[str, ...]:
    """The classes: in the order given, by value where all are numbers, else in natural order of the names."""
    names = sort_naturally(labels).to_list()
    if len(names) > MOST_CLASSES:
        raise DataError(
            f"there are {len(names)} different labels, such as {names[0]!r}, and at most {MOST_CLASSES} are possible; "
            "is this the right column? For scores of any value use the mean, or round them"
        )
    if order is not None:
        wanted = [str(name) for name in order]
        if len(set(wanted)) < len(wanted):
            raise DataError(f"order= has a label twice: {', '.join(wanted)}")
        if unknown := set(names).difference(wanted):
            raise DataError(f"order= lacks labels of the data: {unknown_names(unknown, wanted)}")
        return tuple(wanted)
    values = [as_number(name) for name in names]
    return tuple(sorted(names, key=float)) if not any(map(math.isnan, values)) else tuple(names)


def as_number(text: str) -> float:
    """The finite number that a text is, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def grades_of(classes: Sequence[str], order: Sequence[Any] | None, grades: Mapping[Any, float] | None) -> Floats | None:
    """[n_classes] the grade of each class: as given, the places in an order, the numbers that they are, or None."""
    if grades is not None:
        known = {str(name): float(value) for name, value in grades.items()}
        if unknown := set(known).difference(classes):
            raise DataError(f"grades= has labels that are not in the data: {unknown_names(unknown, classes)}")
        if lacking := set(classes).difference(known):
            raise DataError(f"grades= lacks labels of the data: {unknown_names(lacking, known)}")
        return np.array([known[name] for name in classes])
    if order is not None and any(math.isnan(as_number(name)) for name in classes):
        return np.arange(len(classes), dtype=np.float64)
    values = np.array([as_number(name) for name in classes])
    return None if np.isnan(values).any() else values


def _gold_places(gold: pl.DataFrame | None, tasks: pl.DataFrame, classes: Sequence[str]) -> Ints:
    """[n_tasks] the place of the true class among the classes; -1 where it is unknown."""
    out = np.full(tasks.height, -1, np.int64)
    if gold is None:
        return out
    gold = gold.drop_nulls().unique(maintain_order=True)
    twice = gold.height - gold.select(SLOT).n_unique()
    if twice:
        tasks_with = counted(twice, "task has", "tasks have")
        raise DataError(f"{tasks_with} several different gold labels; give each one, or none")
    found = gold.join(tasks, on=SLOT, how="left", maintain_order="left")
    if elsewhere := found["task"].null_count():
        which = "is of a task without answers; it is" if elsewhere == 1 else "are of tasks without answers; they are"
        warn_about_data(f"{elsewhere} of {counted(gold.height, 'gold label')} {which} left out")
    found = found.drop_nulls("task")
    strange = found.filter(~pl.col("gold").is_in(list(classes)))
    if strange.height:
        values = ", ".join(repr(name) for name in sort_naturally(strange["gold"]).to_list()[:5])
        warn_about_data(
            f"gold labels of {counted(strange.height, 'task')} ({values}) are not among the labels that workers gave; "
            f"{'this task counts' if strange.height == 1 else 'these tasks count'} as without gold"
        )
        found = found.filter(pl.col("gold").is_in(list(classes)))
    out[found["task"].to_numpy()] = codes(found["gold"], pl.Series(classes, dtype=pl.String))
    return out
