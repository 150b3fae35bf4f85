"""The verdict: use the learned model, stay with RRF, or use the best single expert, and how well that is shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from juryrank.learning.label_survey import NONE as NO_LABELS
from juryrank.learning.label_survey import POSITIVES_ONLY
from juryrank.report import Report, Table, number

LEARNED, RRF, EXPERT = ALTERNATIVES = ("learned", "rrf", "expert")
SHOWN, EXPECTED, NONE = EVIDENCE = ("shown", "expected", "none")
LOW_JUDGED, JUDGED_APART = 0.5, 0.1  # Judged@10: lower, or further apart, gets a warning
NEGLIGIBLE = 0.002  # an expected gain over RRF that is smaller is not worth a learned model
VISIBLE = 5e-5  # a difference that four digits show
SAME = 1e-12  # differences within rounding error
# With nDCG@10; the gains are means over eleven collections.
LABELS_ELSEWHERE = (
    "Elsewhere, such held-out values were right about whether the learned model is better than RRF in 21 of 24 draws "
    "with labels of all relevant items, in 15 with one per query, and in 6 with clicked items; jury with "
    'unjudged="auto" gained 0.031 nDCG@10 over RRF with all, 0.019 with two per query and 0.014 with one.'
)


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
    def reversed(self) -> Difference:
        """The difference the other way round."""
        return Difference(0.0 - self.mean, 0.0 - self.high, 0.0 - self.low)  # not -0.0

    @property
    def is_zero(self) -> bool:
        """Whether no query tells the two apart."""
        return max(abs(self.low), abs(self.high)) <= SAME

    def __str__(self) -> str:
        mean, low, high = (f"{round(x, 4) + 0.0:+.4f}" for x in (self.mean, self.low, self.high))  # not -0.0000
        return f"{mean}, 95 % interval {low} to {high}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Verdict(Report):
    """Which of three alternatives to use on new queries, how well that is shown, and the held-out numbers behind it.

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
    expected: dict[str, float]  # by alternative: the expected difference to the learned method; empty if unknown
    judged: dict[str, float]  # by alternative: mean Judged@10
    n_condensed: int = 0  # held-out queries in which unjudged items were removed before the metric was computed
    labels: str = NO_LABELS  # their kind, one of LABEL_KINDS; none where it is not known

    @property
    def name(self) -> str:
        """The choice as a user would say it: the method, RRF, or the name of the expert."""
        return self.name_of(self.choice)

    def name_of(self, alternative: str) -> str:
        """An alternative as a user would say it."""
        return {LEARNED: self.method, RRF: "RRF", EXPERT: f"expert {self.expert!r}"}[alternative]

    @property
    def others(self) -> dict[str, Difference]:
        """The difference of the choice to each other alternative; empty with fewer than two held-out queries."""
        pairs = {**self.differences, **{_turned(pair): d.reversed for pair, d in self.differences.items()}}
        found = {a: pairs.get(f"{self.choice} - {a}") for a in ALTERNATIVES if a in self.means}
        return {a: d for a, d in found.items() if d is not None}

    @property
    def evidence(self) -> str:
        """How well the choice is shown: one of ``EVIDENCE``.

        ``shown``: the intervals of its differences to the others are above 0. ``expected``: they are not, and it rests
        on what other collections gave. ``none``: held-out values tell nothing, because there are fewer than two
        queries, because labels are of relevant items only, or because no query tells the alternatives apart.
        """
        apart = [d for d in self.others.values() if not d.is_zero]
        if self.labels == POSITIVES_ONLY or not apart:
            return NONE
        return SHOWN if all(d.low > 0 for d in apart) else EXPECTED

    @property
    def headline(self) -> str:
        """What to do now, in words that say how well it is shown."""
        if self.evidence == SHOWN:
            return {LEARNED: f"use {self.method}", RRF: "stay with RRF", EXPERT: f"use {self.name} alone"}[self.choice]
        if self.evidence == EXPECTED:
            alone = " alone" if self.choice == EXPERT else ""
            best = f"{self.name}{alone} is expected to be best"
            return f"not shown, but {'no gain over RRF is expected' if self.choice == RRF else best}"
        if not self.differences:
            few = "only one" if self.n_queries else "no"
            return f"not shown, because there is {few} labelled query: RRF until there are more"
        if self.labels == POSITIVES_ONLY:
            return "not shown, and labels of relevant items only cannot show it: judge other items, too"
        return f"not shown, because no held-out query tells the alternatives apart: {self.name} is the simplest"

    @property
    def text(self) -> str:
        """The headline, what it rests on, and what makes it uncertain, as sentences."""
        return f"Verdict: {self.headline}. {self.details}"

    @property
    def details(self) -> str:
        """What the headline rests on, and what makes it uncertain."""
        if not self.differences:
            return "RRF needs no labels."
        if self.labels == POSITIVES_ONLY:
            values = f"{self._values()} These values decide nothing: an item without a label may be relevant, too."
            until = f"Until other items are judged, {self.method} rests on what other collections gave"
            return f"{values} {LABELS_ELSEWHERE} {until}, not on these labels."
        parts = [self._values(), *self._reasons()]
        if self.evidence == EXPECTED:
            parts += [f"That {self.name} is better than {self.name_of(a)} is shown." for a in self._beaten()]
            parts.append("The choice rests on what other collections gave; more labels could change it.")
        return " ".join([*parts, *self.cautions])

    @property
    def _highest(self) -> str:
        return max(self.means, key=lambda name: self.means[name])

    @property
    def highest(self) -> str:
        """The name of the alternative with the highest held-out mean."""
        return self.name_of(self._highest)

    def _values(self) -> str:
        """The held-out means, and the differences of the choice to the others."""
        values = [f"{self.name} has {self.metric} {self.means[self.choice]:.4f}"]
        for other, difference in self.others.items():
            name = f"the best expert alone, {self.expert!r}," if other == EXPERT else self.name_of(other)
            values.append(f"{name} {self.means[other]:.4f} (difference {difference})")
        return f"On {self.n_queries} held-out queries {', '.join(values)}."

    @property
    def not_shown(self) -> dict[str, Difference]:
        """The difference of the choice to each alternative that it is not shown to be better than."""
        return {a: d for a, d in self.others.items() if not d.is_zero and d.low <= 0}

    def _beaten(self) -> list[str]:
        """The alternatives that the choice is shown to be better than."""
        return [a for a, d in self.others.items() if d.low > 0]

    def _reasons(self) -> list[str]:
        """Why the choice is not what has the highest mean, if it is not."""
        highest = self._highest
        if self.means[highest] - self.means[self.choice] < VISIBLE:
            return []
        if highest == LEARNED:
            return [f"The gain of {self.method} is expected to be too small for a learned model."]
        few = (
            f"of only {self.n_queries} queries" if self.others[highest].high < 0 else "within what so few queries vary"
        )
        return [f"The higher mean of {self.name_of(highest)} is {few}; in other collections it was usually lower."]

    @property
    def cautions(self) -> list[str]:
        """Warnings about unjudged items: metrics favour the alternative that was judged more."""
        if not self.judged:
            return []
        shown = ", ".join(f"{self.name_of(a)} {share:.2f}" for a, share in self.judged.items())
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
        return f"Verdict({self.name}, {self.evidence}, {self.metric}, {self.n_queries} held-out queries)"

    def rows(self) -> list[dict[str, Any]]:
        """One row per alternative, with the difference of the choice to it; the chosen one has the evidence."""
        return [
            {
                "alternative": alternative,
                "name": self.name_of(alternative),
                "chosen": alternative == self.choice,
                "evidence": self.evidence if alternative == self.choice else None,
                "metric": self.metric,
                "mean": mean,
                "judged": self.judged.get(alternative),
                **self._row(alternative),
            }
            for alternative, mean in self.means.items()
        ]

    def _row(self, alternative: str) -> dict[str, float | None]:
        """The difference of the choice to an alternative, and its interval."""
        difference = self.others.get(alternative)
        names = ("difference", "low", "high")
        if difference is None:
            return dict.fromkeys(names)
        return dict(zip(names, asdict(difference).values(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        plain = ("choice", "evidence", "headline", "method", "expert", "metric", "n_queries", "labels")
        numbers = ("means", "expected", "judged", "n_condensed")
        return {
            **{name: getattr(self, name) for name in (*plain, *numbers)},
            "differences": {pair: asdict(d) for pair, d in self.differences.items()},
            "text": self.text,
        }

    def tables(self, percent: bool | None = None) -> list[Table]:
        """One table, with the sentences below it."""
        body = []
        for alternative, mean in self.means.items():
            apart = ["" if v is None else number(v, bool(percent), "+") for v in self._row(alternative).values()]
            share = number(self.judged[alternative]) if alternative in self.judged else ""
            body.append([self.name_of(alternative), number(mean, bool(percent)), *apart, share])
        columns = ["", self.metric, f"{self.name} minus this", "low", "high", "Judged@10"]
        return [Table("Verdict", columns, body, note=self.text, groups=[1, 3, 1], best=[1])]


def _turned(pair: str) -> str:
    """The name of a difference the other way round."""
    return " - ".join(reversed(pair.split(" - ")))
