"""``crowd``: one label per task from the answers of many workers, with probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from juryrank.annotators.estimate import Limits
from juryrank.annotators.methods import METHODS
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.io.tables.columns import Columns
from juryrank.polars import pl
from juryrank.tasks.crowd.encoding import SLOT, encode, grades_of
from juryrank.tasks.crowd.reading import read_answers
from juryrank.tasks.crowd.result import CrowdLabels
from juryrank.tasks.crowd.spellings import one_spelling, warn_of_labels

GOLD_USES = ("fit", "check")


def crowd(
    table: Any,
    method: str = "dawid-skene",
    gold: Any = None,
    *,
    columns: Columns = None,
    order: Sequence[Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    ignore: Sequence[Any] = (),
    merge_spellings: bool = False,
    gold_for: str = "fit",
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> CrowdLabels:
    """The label of each task, from the answers of several workers, with probabilities and the workers' reliability.

    ``table`` has the columns task, worker and label (also under usual other names, or as ``columns`` says; numbers if
    there is no header), perhaps query and gold: a file, a frame, ``{task: {worker: label}}``, or rows of task, worker
    and label. Labels are any names. ``method`` is dawid-skene, one-coin, glad, ordinal-dawid-skene or majority-vote.

    ``gold`` (``{task: label}``, ``{(query, task): label}``, or a table with the columns task and gold or label) has
    true labels of some tasks; without it, a column gold is used. They are fixed in the fit, or with
    ``gold_for="check"`` only used to measure accuracy. Rows whose label is in ``ignore`` are left out.

    Labels that differ only in case, blanks or the form of a number (yes and Yes, 1 and 1.0) are different labels, with
    a DataWarning; with ``merge_spellings`` they are one, in the spelling of ``order``, ``grades`` or ``ignore``, else
    in the most frequent.

    The expected grade of a task needs numbers: labels that are numbers, ``grades`` (``{label: number}``), or an
    ``order`` of the labels, lowest first. Iterations end when the mean log likelihood of an answer rises by less than
    ``tol``, or after ``max_iter`` steps with a warning.

    >>> answers = {"ann": "yynny", "ben": "yynnn", "cat": "nnyyn"}
    >>> found = crowd([(f"t{n}", worker, given) for worker in answers for n, given in enumerate(answers[worker])])
    >>> found.to_dict()["labels"][0]["label"], found.tied.tolist()
    ('y', [False, False, False, False, False])
    """
    _check(method, gold_for, max_iter, tol)
    frame = read_answers(table, columns)
    known = frame.select(*SLOT, "gold") if gold is None and "gold" in frame.columns else _gold_rows(gold)
    if merge_spellings:
        golds = [] if known is None else [known["gold"]]
        used = one_spelling([frame["label"], *golds], [*(order or ()), *(grades or ()), *ignore])
        frame = frame.with_columns(pl.col("label").replace(used))
        known = None if known is None else known.with_columns(pl.col("gold").replace(used))
    if ignore:
        left_out = frame["label"].is_in([str(label) for label in ignore])
        frame = frame.filter(~left_out.fill_null(False))
    warn_of_labels(frame["label"], known, graded=order is not None or grades is not None)
    answers = encode(frame, known, order)
    values = grades_of(answers.classes, order, grades)
    seen = answers.without_gold() if gold_for == "check" else answers
    estimate = METHODS[method](seen, values, Limits(max_iter, tol))
    return CrowdLabels(method=method, answers=answers, fitted=seen, estimate=estimate, grades=values)


def _check(method: str, gold_for: str, max_iter: int, tol: float) -> None:
    if method not in METHODS:
        raise UnknownNameError.of("method for a crowd", method, METHODS)
    if gold_for not in GOLD_USES:
        raise ParameterError(f"gold_for must be one of {', '.join(GOLD_USES)}, got {gold_for!r}")
    if not max_iter >= 1:
        raise ParameterError(f"max_iter of crowd must be at least 1, got {max_iter!r}")
    if not tol >= 0:
        raise ParameterError(f"tol of crowd must be at least 0, got {tol!r}")


def _gold_rows(gold: Any) -> pl.DataFrame | None:
    """The true labels: query, item and gold."""
    if gold is None:
        return None
    if isinstance(gold, Mapping) and not any(isinstance(value, list) for value in gold.values()):
        rows = [((ONE_QUERY, task) if not isinstance(task, tuple) else task, label) for task, label in gold.items()]
        if any(len(task) != 2 for task, _ in rows):
            raise DataError("gold must be {task: label} or {(query, task): label}")
        texts = [(str(query), str(task), str(label)) for (query, task), label in rows]
        return pl.DataFrame(texts, schema=[*SLOT, "gold"], orient="row")
    from juryrank.tasks.crowd.reading import read_gold

    return read_gold(gold)
