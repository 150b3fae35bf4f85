"""Labels from the grades of several judges, people or models, with the reliability of each judge."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from juryrank.annotators.combine import CombinedGrades, combine_grades
from juryrank.data import Labels
from juryrank.data.long_table import labels_from_rows
from juryrank.errors import DataError, unknown_names
from juryrank.io import read_labels
from juryrank.io.dataset_frames import labels_frame
from juryrank.io.judgements import read_grades
from juryrank.polars import pl
from juryrank.report import Report, Table, number

SHOWN = 10  # judges at each end of the table


@dataclass(frozen=True)
class JudgeReliability:
    """One judge. All but the first count are of items with several grades or a true grade; NaN where there are none.

    ``agreement`` is the share of grades equal to the most likely true grade, ``bias`` the mean difference to the
    expected one (above 0: too lenient), ``accuracy`` the estimated probability that the judge gives the true grade.
    """

    judge: str
    grades: int
    compared: int
    agreement: float
    bias: float
    accuracy: float


@dataclass(frozen=True, eq=False, repr=False)
class CombinedJudgements(Report):
    """Labels with weights, and the judges, most reliable first."""

    labels: Labels
    items: pl.DataFrame  # query, item, label, label_weight, expected
    judges: tuple[JudgeReliability, ...]
    method: str
    summary: str
    converged: bool

    def __repr__(self) -> str:
        return f"CombinedJudgements({len(self.judges)} judges, {self.labels!r}, {self.method})"

    def to_frame(self) -> pl.DataFrame:
        """One row per item: query, item, label, label_weight, and the expected true grade."""
        return self.items

    def tables(self, percent: bool | None = None) -> list[Table]:
        heads = ["judge", "grades", "compared", "agreement", "bias", "accuracy"]
        rows = [
            [
                each.judge, str(each.grades), str(each.compared), number(each.agreement, bool(percent)),
                number(each.bias, False), number(each.accuracy, bool(percent)),
            ]
            for each in self.judges
        ]  # fmt: skip
        note = f"{self.summary}."
        if (left_out := len(rows) - 2 * SHOWN) > 0:
            rows = [*rows[:SHOWN], ["…", *[""] * (len(heads) - 1)], *rows[-SHOWN:]]
            note += f" {left_out} judges in between are not shown; JSON has all."
        return [Table("Reliability of judges", heads, rows, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(each) for each in self.judges]

    def to_dict(self) -> dict[str, Any]:
        head = {"method": self.method, "summary": self.summary, "converged": self.converged}
        return {**head, "judges": self.rows(), "labels": self.to_frame().rows(named=True)}


def combine_judgements(
    judgements: Any,
    gold: Any = None,
    *,
    trusted: Sequence[str] = (),
    method: str = "dawid-skene",
    labels: str = "most-likely",
) -> CombinedJudgements:
    """One label per item, with a weight, from the grades of several judges.

    ``judgements`` is a file or frame with the columns query, item, judge and grade, or such rows; the last grade that a
    judge gave an item counts. ``gold`` has true labels of some items, as ``read(labels=…)`` takes them; the grades of
    ``trusted`` judges are true, too. True labels tell how far each judge can be trusted, and turn the grades of a judge
    who is too lenient into those that are to be expected.

    With ``method="dawid-skene"``, a label is the most likely true grade, and its weight is the probability of that
    grade; with ``labels="expected"`` it is the expected true grade, and its weight is 1 minus the share of the variance
    of all grades that is left for this item. ``mean`` and ``majority`` have weight 1. If no item has several grades or
    a true one, nothing is known about the judges: labels are the grades, with weight 1.

    >>> grades = {"ann": "021102", "ben": "021112", "cat": "202220"}
    >>> rows = [("q", item, judge, int(grade)) for judge in grades for item, grade in zip("abcdef", grades[judge])]
    >>> found = combine_judgements(rows)
    >>> found.judges[-1].judge, found.judges[-1].agreement
    ('cat', 0.0)
    """
    rows, known = _rows(judgements)
    truths = [frame for frame in (known, _gold_rows(gold)) if frame is not None]
    if trusted:
        if unknown := set(trusted).difference(rows["judge"]):
            raise DataError(f"trusted: no such judge: {unknown_names(unknown, set(rows['judge']))}")
        theirs = rows.filter(pl.col("judge").is_in(list(trusted))).drop_nulls("grade")
        truths.append(theirs.group_by("query", "item").agg(label=pl.col("grade").mean()))
        rows = rows.filter(~pl.col("judge").is_in(list(trusted)))
    truth = pl.concat(truths).unique(["query", "item"], keep="last", maintain_order=True) if truths else None
    combined = combine_grades(rows, truth, method=method, labels=labels)
    estimate, found = combined.estimate, combined.label_rows()
    return CombinedJudgements(
        labels=labels_from_rows(found),
        items=found.with_columns(expected=combined.expected),
        judges=tuple(sorted(_reliabilities(combined), key=_most_reliable_first)),
        method=combined.method,
        summary=combined.summary(),
        converged=estimate is None or estimate.converged,
    )


def _rows(judgements: Any) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    if isinstance(judgements, str | os.PathLike) or hasattr(judgements, "__arrow_c_stream__"):
        return read_grades(judgements)
    try:
        found = [(str(q), str(i), str(j), None if g is None else float(g)) for q, i, j, g in judgements]
    except (TypeError, ValueError):
        raise DataError("judgements are a file, a frame, or rows of query, item, judge and grade") from None
    schema = {"query": pl.String, "item": pl.String, "judge": pl.String, "grade": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row"), None


def _gold_rows(gold: Any) -> pl.DataFrame | None:
    if gold is None:
        return None
    return labels_frame(read_labels(gold)).select("query", "item", "label")


def _reliabilities(combined: CombinedGrades) -> Iterable[JudgeReliability]:
    given, estimate = combined.given, combined.estimate
    probability = given.shares() if estimate is None else estimate.probability
    used = given.compares[given.item]
    likeliest, share = probability.argmax(1), probability.mean(0)
    for n, name in enumerate(combined.judges):
        own = given.judge == n
        here = own & used
        item, grade = given.item[here], given.grade[here]
        compared = len(item)
        yield JudgeReliability(
            judge=name,
            grades=int(own.sum()),
            compared=compared,
            agreement=float((likeliest[item] == grade).mean()) if compared else np.nan,
            bias=float((given.levels[grade] - combined.expected[item]).mean()) if compared else np.nan,
            accuracy=float(share @ estimate.confusion[n].diagonal()) if compared and estimate is not None else np.nan,
        )


def _most_reliable_first(judge: JudgeReliability) -> tuple[float, str]:
    quality = judge.agreement if np.isnan(judge.accuracy) else judge.accuracy
    return (np.inf if np.isnan(quality) else -quality, judge.judge)
