"""The verdict: use the learned model, stay with RRF, or use the best single expert; as a sentence and as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from juryrank.report import Report, Table, number

LEARNED, RRF, EXPERT = ALTERNATIVES = ("learned", "rrf", "expert")
LOW_JUDGED, JUDGED_APART = 0.5, 0.1  # Judged@10: lower, or further apart, gets a warning
NEGLIGIBLE = 0.002  # an expected gain over RRF that is smaller is not worth a learned model
VISIBLE = 5e-5  # a difference that four digits show
SAME = 1e-12  # differences within rounding error


@dataclass(frozen=True)
class Difference:
    """The mean of a paired difference over held-out queries, and its confidence interval for new queries."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval is above or below 0."""
        return self.low > 0 or self.high < 0

    @property
    def is_zero(self) -> bool:
        """Whether no query tells the two apart."""
        return max(abs(self.low), abs(self.high)) <= SAME

    def __str__(self) -> str:
        mean, low, high = (f"{round(x, 4) + 0.0:+.4f}" for x in (self.mean, self.low, self.high))  # not -0.0000
        return f"{mean}, 95 % interval {low} to {high}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Verdict(Report):
    """Which of three alternatives to use on new queries, and the held-out numbers behind it.

    ``learned`` is the learned method, ``rrf`` reciprocal rank fusion with k = 60, ``expert`` the expert that is best
    on all labelled queries. In ``means`` and ``differences``, the expert is for each held-out query the one that is
    best on the other queries (of the other folds, where there are folds).
    """

    choice: str  # one of ALTERNATIVES
    method: str  # the learned method
    expert: str | None  # the best single expert; None if there are no experts
    metric: str
    n_queries: int  # held out
    means: dict[str, float]  # by alternative
    differences: dict[str, Difference]  # "learned - rrf", "learned - expert", "expert - rrf"; with 2 queries or more
    expected: dict[str, float]  # by alternative: the expected difference to the learned method, which decides
    judged: dict[str, float]  # by alternative: mean Judged@10
    n_condensed: int = 0  # held-out queries in which unjudged items were removed before the metric was computed

    @property
    def name(self) -> str:
        """The choice as a user would say it: the method, RRF, or the name of the expert."""
        return self._name(self.choice)

    def _name(self, alternative: str) -> str:
        return {LEARNED: self.method, RRF: "RRF", EXPERT: f"expert {self.expert!r}"}[alternative]

    @property
    def is_certain(self) -> bool:
        """Whether the intervals of the differences of the choice to the others, if there are any, exclude 0."""
        ours = [d for pair, d in self.differences.items() if self.choice in pair.split(" - ")]
        return bool(ours) and all(d.excludes_zero or d.is_zero for d in ours)

    @property
    def text(self) -> str:
        """The verdict as one sentence, followed by what makes it uncertain."""
        advice = {LEARNED: f"use {self.method}", RRF: "stay with RRF", EXPERT: f"use expert {self.expert!r} alone"}
        head = f"Verdict: {advice[self.choice]}"
        if not self.differences:
            return f"{head}, because there is {'only one' if self.n_queries else 'no'} labelled query."
        shown = [f"it has {self.metric} {self.means[self.choice]:.4f}"]
        for other in (a for a in ALTERNATIVES if a != self.choice and a in self.means):
            name = f"the best expert alone, {self.expert!r}," if other == EXPERT else self._name(other)
            shown.append(f"{name} {self.means[other]:.4f} (difference {self._difference(other)})")
        more = self._reasons() if self.is_certain else [*self._reasons(), "More labels could change this."]
        on = f"on {self.n_queries} held-out queries"
        return " ".join([f"{head}; {on} {', '.join(shown)}.", *more, *self.cautions])

    def _reasons(self) -> list[str]:
        """Why the choice is not what has the highest mean, if it is not."""
        highest = max(self.means, key=lambda name: self.means[name])
        if self.means[highest] - self.means[self.choice] < VISIBLE:
            return []
        if highest == LEARNED:
            return [f"The gain of {self.method} is expected to be too small for a learned model."]
        higher = f"The higher mean of {self._name(highest)} is within what so few queries vary"
        return [f"{higher}; in other collections it was usually lower."]

    def _difference(self, other: str) -> Difference:
        """Of the choice to another alternative."""
        for pair, d in self.differences.items():
            if pair == f"{self.choice} - {other}":
                return d
            if pair == f"{other} - {self.choice}":
                return Difference(0.0 - d.mean, 0.0 - d.high, 0.0 - d.low)  # not -0.0
        raise KeyError(other)

    @property
    def cautions(self) -> list[str]:
        """Warnings about unjudged items: metrics favour the alternative that was judged more."""
        if not self.judged:
            return []
        shown = ", ".join(f"{self._name(a)} {share:.2f}" for a, share in self.judged.items())
        low, high = min(self.judged.values()), max(self.judged.values())
        if self.n_condensed:
            some = "" if self.n_condensed == self.n_queries else f" in {self.n_condensed} queries"
            return [
                f"Few of the top 10 are judged (Judged@10: {shown}), so unjudged items were removed before "
                f"{self.metric} was computed{some}: the values are for this choice, not for reports."
            ]
        if high - low > JUDGED_APART:
            return [f"Caution: Judged@10 differs ({shown}), and unjudged items count as not relevant."]
        if low < LOW_JUDGED:
            return [
                f"Caution: few of the top 10 are judged (Judged@10: {shown}); unjudged items count as not relevant."
            ]
        return []

    def __repr__(self) -> str:
        return f"Verdict({self.name}, {self.metric}, {self.n_queries} held-out queries)"

    def rows(self) -> list[dict[str, Any]]:
        """One row per alternative, with the difference of the choice to it."""
        return [
            {
                "alternative": alternative,
                "name": self._name(alternative),
                "chosen": alternative == self.choice,
                "metric": self.metric,
                "mean": mean,
                "judged": self.judged.get(alternative),
                **self._row(alternative),
            }
            for alternative, mean in self.means.items()
        ]

    def _row(self, alternative: str) -> dict[str, float | None]:
        """The difference of the choice to an alternative, and its interval."""
        names = ("difference", "low", "high")
        if alternative == self.choice or not self.differences:
            return dict.fromkeys(names)
        return dict(zip(names, asdict(self._difference(alternative)).values(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        plain = ("choice", "method", "expert", "metric", "n_queries", "means", "expected", "judged", "n_condensed")
        return {
            **{name: getattr(self, name) for name in plain},
            "differences": {pair: asdict(d) for pair, d in self.differences.items()},
            "certain": self.is_certain,
            "text": self.text,
        }

    def tables(self, percent: bool | None = None) -> list[Table]:
        """One table, with the sentence below it."""
        body = []
        for alternative, mean in self.means.items():
            apart = ["" if v is None else number(v, bool(percent), "+") for v in self._row(alternative).values()]
            share = number(self.judged[alternative]) if alternative in self.judged else ""
            body.append([self._name(alternative), number(mean, bool(percent)), *apart, share])
        columns = ["", self.metric, f"{self.name} minus this", "low", "high", "Judged@10"]
        return [Table("Verdict", columns, body, note=self.text, groups=[1, 3, 1], best=[1])]
