"""One label for each item from the grades of several judges, with a weight that says how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.annotators.dawid_skene import Estimate, Judgements, Regularisation, dawid_skene
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, UnknownNameError, warn_not_converged
from juryrank.polars import pl

METHODS = {
    "dawid-skene": "the most likely true grade, given how reliable each judge is; its probability is the weight",
    "mean": "the mean of the grades",
    "majority": "the most frequent grade; the mean of several that are equally frequent",
}
LABELS = {
    "most-likely": "the most likely true grade, with its probability as weight",
    "expected": "the expected true grade; its weight is 1 minus the share of the variance of all grades that is left",
}
DIGITS = 9  # of probabilities, so that rounding errors do not decide which grade is most likely
MOST_LEVELS = 20  # different grades up to which a confusion matrix makes sense
SLOT = ["query", "item"]


@dataclass(frozen=True, eq=False)
class CombinedGrades:
    """Labels made of grades, and what they were made of."""

    items: pl.DataFrame  # query, item: those with a grade or a true grade
    judges: tuple[str, ...]
    method: str
    given: Judgements
    label: Floats  # [n_items]
    weight: Floats  # [n_items]
    expected: Floats  # [n_items] the expected true grade
    estimate: Estimate | None  # by dawid-skene; None if another method was used, or no item compares judges

    @property
    def n_compared(self) -> int:
        """The number of items with several grades, or with one and a true grade."""
        return int(self.given.compares.sum())

    def label_rows(self) -> pl.DataFrame:
        """One row per item: query, item, label, label_weight."""
        return self.items.with_columns(label=self.label, label_weight=self.weight)

    def summary(self) -> str:
        """How many judges, grades and items there are, and how they were combined."""
        several, gold = int((self.given.n_grades > 1).sum()), int((self.given.true_grade >= 0).sum())
        who = f"{len(self.judges)} judge{'s' if len(self.judges) != 1 else ''}"
        known = f", {gold} of them with a trusted grade" if gold else ""
        counts = f"{who} gave {len(self.given.grade)} grades, labels are of {self.given.n_items} items{known}"
        return f"{counts}; {several} items have several grades, combined by {self.method}"


def combine_grades(
    rows: pl.DataFrame,
    gold: pl.DataFrame | None = None,
    *,
    method: str = "dawid-skene",
    labels: str = "most-likely",
    source: str = "judgements",
    prior: Regularisation = Regularisation(),  # noqa: B008
) -> CombinedGrades:
    """One label per item from rows of query, item, judge and grade; ``gold`` has rows of query, item and label.

    The last row of a judge about an item counts; if it has no grade, the judge has none. Where no item has several
    grades or a true one, nothing is known about judges: labels are the grades, with weight 1. With more than 20
    different grades, the mean is used in place of dawid-skene.
    """
    for name, chosen, known in (("way to combine grades", method, METHODS), ("kind of label", labels, LABELS)):
        if chosen not in known:
            raise UnknownNameError.of(name, chosen, known)
    last = rows.unique([*SLOT, "judge"], keep="last", maintain_order=True).drop_nulls("grade")
    items, judges, given = _judgements(last, gold, source)
    if method == "dawid-skene" and len(given.levels) > MOST_LEVELS:
        method = "mean"
    estimate, label, weight = None, _plain_labels(given, method), np.ones(given.n_items)
    expected = label
    if method == "dawid-skene" and given.compares.any():
        estimate = dawid_skene(given, prior)
        expected, sure = expected_grades(estimate.probability, given.levels)
        label, weight = (expected, sure) if labels == "expected" else most_likely(estimate.probability, given.levels)
        if not estimate.converged:
            warn_not_converged("dawid-skene", "the reliability of judges", prior.max_iter, "the last estimate is used")
    return CombinedGrades(items, judges, method, given, label, weight, expected, estimate)


def most_likely(probability: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """The most likely grade of each item (of several, the lowest), and its probability."""
    rounded = probability.round(DIGITS)
    place = rounded.argmax(1)
    return levels[place], rounded[np.arange(len(place)), place]


def expected_grades(probability: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """The expected grade of each item, and its weight: 1 minus the share of the variance of all grades that is left.

    Below 0 it is 0. But for that, the mean weight is the share of the variance of the true grades that is explained.
    """
    mean, overall = probability @ levels, probability.mean(0)
    left = probability @ levels**2 - mean**2
    total = float(overall @ levels**2 - (overall @ levels) ** 2)
    weight: Floats = np.clip(1.0 - left / total, 0.0, 1.0) if total > 0 else np.ones(len(mean))
    return mean, weight


def _judgements(
    rows: pl.DataFrame, gold: pl.DataFrame | None, source: str
) -> tuple[pl.DataFrame, tuple[str, ...], Judgements]:
    """The items, the names of the judges, and the rows with numbers in place of names."""
    known = pl.DataFrame(schema={"query": pl.String, "item": pl.String, "label": pl.Float64}) if gold is None else gold
    if not rows.height and not known.height:
        raise DataError(f"{source}: there are no grades")
    items = pl.concat([rows.select(SLOT), known.select(SLOT)]).unique().sort(SLOT)
    judges = rows["judge"].unique().sort()
    numbered = items.with_row_index("row")
    names = pl.DataFrame({"judge": judges}).with_row_index("who")
    values = np.concatenate([rows["grade"].to_numpy(), known["label"].to_numpy()]).astype(np.float64)
    levels, place = np.unique(values, return_inverse=True)
    true_grade = np.full(items.height, -1, np.int64)
    true_grade[_numbers(known, numbered, SLOT, "row")] = place[rows.height :]
    given = Judgements(
        item=_numbers(rows, numbered, SLOT, "row"),
        judge=_numbers(rows, names, ["judge"], "who"),
        grade=place[: rows.height].astype(np.int64),
        levels=levels,
        true_grade=true_grade,
        n_judges=len(judges),
    )
    return items, tuple(judges.to_list()), given


def _numbers(rows: pl.DataFrame, names: pl.DataFrame, keys: list[str], number: str) -> Ints:
    return rows.join(names, on=keys, how="left", maintain_order="left")[number].to_numpy().astype(np.int64)


def _plain_labels(given: Judgements, method: str) -> Floats:
    """The mean or the most frequent of the grades of each item; the true grade where it is known."""
    shares = given.shares()
    if method == "majority":
        most = shares >= shares.max(1, keepdims=True) * (1 - 1e-12)
        shares = most / most.sum(1, keepdims=True)
    labels: Floats = shares @ given.levels
    return labels
