"""How far judges agree about the items that several of them have graded, beyond what chance would give.

Per pair of judges: the share of equal grades, Cohen's κ, and κ with quadratic weights (a difference of two grades
counts four times as much as a difference of one). Over all judges: Krippendorff's α with the same weights, which for
two judges is close to the weighted κ, and which does not require that all judges grade the same items. Both are 1 where
judges always agree and 0 where they agree as often as by chance. They are undefined (NaN) if all grades are equal.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from juryrank.annotators.agreement import cohen, krippendorff
from juryrank.errors import DataError
from juryrank.report import Report, Table, number
from juryrank.tasks.judge.store import judgements_of


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two judges about the items that both graded; ``low`` and ``high`` are of the weighted κ."""

    judge: str
    other: str
    items: int
    equal: float
    kappa: float
    weighted_kappa: float
    low: float
    high: float

    @property
    def values(self) -> tuple[float, ...]:
        """The share of equal grades, κ, the weighted κ and its interval."""
        return self.equal, self.kappa, self.weighted_kappa, self.low, self.high

    def __str__(self) -> str:
        if math.isnan(self.weighted_kappa):
            return f"{self.judge} and {self.other}: κ is undefined, all grades of {self.items} common items are equal"
        return (
            f"{self.judge} and {self.other}: weighted κ {self.weighted_kappa:.2f} (95 % interval {self.low:.2f} to "
            f"{self.high:.2f}), {self.equal:.0%} equal grades of {self.items} common items"
        )


@dataclass(frozen=True, repr=False)
class Agreement(Report):
    """The agreement of judges, per pair and of all; ``alpha`` is Krippendorff's, with its interval."""

    pairs: tuple[PairAgreement, ...]
    judges: tuple[str, ...]
    items: int  # that at least two judges graded
    alpha: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"Agreement({len(self.judges)} judges, {self.items} common items, α {self.alpha:.3f})"

    def tables(self, percent: bool | None = None) -> list[Table]:
        heads = ["judge", "other", "items", "equal", "κ", "weighted κ", "low", "high"]
        rows = [
            [pair.judge, pair.other, str(pair.items), *(number(value, bool(percent)) for value in pair.values)]
            for pair in self.pairs
        ]
        return [Table("Agreement of judges", heads, rows, n_names=2, note=self.note())]

    def note(self) -> str:
        """The agreement of all, and what is undefined."""
        if not self.items:
            return f"No item has been graded by two of the {len(self.judges)} judges, so agreement is unknown."
        if math.isnan(self.alpha):
            return f"All grades of the {self.items} common items are equal: κ and α are undefined."
        return (
            f"All judges: Krippendorff's α {self.alpha:.3f}, 95 % interval {self.low:.3f} to {self.high:.3f}, from "
            f"{self.items} items with two or more judges. low, high: 95 % interval of the weighted κ."
        )

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(pair) for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        whole = {"alpha": self.alpha, "low": self.low, "high": self.high, "items": self.items}
        return {"judges": list(self.judges), **whole, "pairs": self.rows()}


def agreement(judgements: Any) -> Agreement:
    """How far judges agree, from a file or frame with the columns query, item, judge and grade, or such rows.

    The last grade that a judge gave an item counts. Items with the grades of one judge only are left out.

    >>> rows = [("q", item, judge, grade) for judge, grades in {"ann": "0112", "ben": "0122"}.items()
    ...         for item, grade in zip("abcd", map(int, grades))]
    >>> found = agreement(rows)
    >>> round(found.pairs[0].kappa, 3), round(found.pairs[0].weighted_kappa, 3), round(found.alpha, 3)
    (0.636, 0.8, 0.821)
    """
    by_item: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    judges = set()
    for each in judgements_of(judgements):
        if each.grade is not None:
            by_item[each.key][each.judge] = each.grade
            judges.add(each.judge)
    if not judges:
        raise DataError("there are no grades, so there is no agreement to compute")
    common = {key: grades for key, grades in by_item.items() if len(grades) > 1}
    found = (_pair(one, other, common.values()) for one, other in combinations(sorted(judges), 2))
    alpha, low, high = krippendorff([list(grades.values()) for grades in common.values()])
    return Agreement(tuple(p for p in found if p is not None), tuple(sorted(judges)), len(common), alpha, low, high)


def _pair(one: str, other: str, grades: Iterable[Mapping[str, float]]) -> PairAgreement | None:
    both = np.array([(each[one], each[other]) for each in grades if one in each and other in each])
    if not len(both):
        return None
    kappa, _, _ = cohen(both[:, 0], both[:, 1], quadratic=False)
    weighted, low, high = cohen(both[:, 0], both[:, 1], quadratic=True)
    equal = float((both[:, 0] == both[:, 1]).mean())
    return PairAgreement(one, other, len(both), equal, kappa, weighted, low, high)
