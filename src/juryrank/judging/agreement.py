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

from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.judging.store import judgements_of
from juryrank.report import Report, Table, number

TAIL = 0.025  # of the 95 % intervals, on each side
NORMAL = 1.959963984540054  # the normal quantile of 1 - TAIL
RESAMPLES, SEED = 2000, 0  # of the interval of α


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


def cohen(first: Floats, second: Floats, *, quadratic: bool) -> tuple[float, float, float]:
    """Cohen's κ of two judges and its 95 % interval, by the variance of Fleiss, Cohen and Everitt (1969)."""
    values, codes = np.unique([first, second], return_inverse=True)
    codes = codes.reshape(2, -1)
    n, size = len(first), len(values)
    table = np.bincount(codes[0] * size + codes[1], minlength=size * size).reshape(size, size) / n
    apart = (values[:, None] - values) ** 2 if quadratic else (values[:, None] != values).astype(np.float64)
    if size == 1:
        return math.nan, math.nan, math.nan
    weights = 1 - apart / apart.max()
    rows, columns = table.sum(1), table.sum(0)
    chance, observed = float(rows @ weights @ columns), float((table * weights).sum())
    kappa = (observed - chance) / (1 - chance)
    if observed == 1:
        return 1.0, _lowest(n, 1 - chance), 1.0
    lean = (weights @ columns)[:, None] + rows @ weights
    spread = (table * (weights - lean * (1 - kappa)) ** 2).sum() - (kappa - chance * (1 - kappa)) ** 2
    half = NORMAL * math.sqrt(max(float(spread), 0.0) / n) / (1 - chance)
    return kappa, max(kappa - half, -1.0), min(kappa + half, 1.0)


def krippendorff(units: list[list[float]]) -> tuple[float, float, float]:
    """Krippendorff's α with squared differences, and its 95 % interval by the bootstrap over items.

    ``units`` has the grades of each item by all its judges, at least two.
    """
    if not units:
        return math.nan, math.nan, math.nan
    size = np.array([len(unit) for unit in units], np.float64)
    total = np.array([math.fsum(unit) for unit in units])
    squares = np.array([math.fsum(value * value for value in unit) for unit in units])
    inside = np.array([sum((a - b) ** 2 for a in unit for b in unit) for unit in units]) / (size - 1)
    parts = np.column_stack([size, total, squares, inside])
    alpha = float(_alpha(np.ones((1, len(units))), parts)[0])
    if math.isnan(alpha):
        return math.nan, math.nan, math.nan
    if alpha == 1:
        values = [value for unit in units for value in unit]
        n, s, q, _ = parts.sum(0)
        expected = 2 * (n * q - s * s) / (n * (n - 1))
        return 1.0, _lowest(len(units), expected / (max(values) - min(values)) ** 2), 1.0
    drawn = np.random.default_rng(SEED).multinomial(len(units), np.full(len(units), 1 / len(units)), RESAMPLES)
    low, high = np.nanquantile(_alpha(drawn.astype(np.float64), parts), [TAIL, 1 - TAIL])
    return alpha, float(low), float(high)


def _alpha(counts: Floats, parts: Floats) -> Floats:
    """α for each row of ``counts``, how often each unit is drawn; NaN where all values are equal."""
    n, total, squares, inside = (counts @ parts).T
    expected = 2 * (n * squares - total**2) / (n * (n - 1))
    observed = inside / n
    out = np.full(len(n), np.nan)
    np.divide(observed, expected, out=out, where=expected > 1e-12 * np.maximum(squares, 1e-300))
    return 1 - out


def _lowest(n: int, chance: float) -> float:
    """The lower end where all ``n`` items agree, which would seem certain: as many may disagree as 2.5 % allow.

    ``chance`` is the disagreement by chance, as a share of the largest disagreement.
    """
    return float(max(1 - (1 - TAIL ** (1 / n)) / chance, -1.0))
