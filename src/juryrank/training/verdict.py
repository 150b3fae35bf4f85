"""The verdict: use the learned model, stay with RRF, or use the best single expert, from held-out values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.report import Report, Table, number
from juryrank.training.student_t import t_quantile

LEARNED, RRF, EXPERT = ALTERNATIVES = ("learned", "rrf", "expert")
PAIRS = ((LEARNED, RRF), (LEARNED, EXPERT), (EXPERT, RRF))
SIMPLEST_LAST = (LEARNED, RRF, EXPERT)  # of alternatives that are equally good, the last one is chosen
LEVEL = 0.95
LOW_JUDGED, JUDGED_APART = 0.5, 0.1  # Judged@10: lower, or further apart, gets a warning

NEGLIGIBLE = 0.002  # an expected gain over RRF that is smaller is not worth a learned model
VISIBLE = 5e-5  # a difference that four digits show
SAME = 1e-12  # differences within rounding error


@dataclass(frozen=True)
class Expectation:
    """What is known of a difference before any query is held out: a normal prior, and a typical variance of queries."""

    mean: float
    deviation: float
    query_variance: float

    def update(self, mean: float, variance: float, n_queries: int) -> float:
        """The expected difference, given its held-out mean and the variance of that.

        The variance of a few queries is itself uncertain, so the typical one counts as ``VARIANCE_QUERIES`` more.
        """
        seen = VARIANCE_QUERIES * self.query_variance + (n_queries - 1) * n_queries * variance
        regularised = seen / (VARIANCE_QUERIES + n_queries - 1) / n_queries
        weight = self.deviation**2 / (self.deviation**2 + regularised)
        return weight * mean + (1 - weight) * self.mean


# The difference to the learned model of RRF, and of the best of e experts (its mean times log e: the more experts, the
# more fusion adds). The means are those on test queries of subsets of robust03 and TREC-COVID round 1, the deviations
# those on robust03, which vary less: a learned model that is regularised is seldom much worse than its best expert.
# ``python -m studies verdict`` tests the rule, on two other collections as well.
VARIANCE_QUERIES = 10.0
RRF_EXPECTATION = Expectation(mean=-0.025, deviation=0.015, query_variance=0.008)
EXPERT_EXPECTATION = Expectation(mean=-0.035, deviation=0.03, query_variance=0.03)


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
            return f"{head}, because {'only one' if self.n_queries else 'no'} query could be held out."
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
                return Difference(-d.mean, -d.high, -d.low)
        raise KeyError(other)

    @property
    def cautions(self) -> list[str]:
        """Warnings about unjudged items: metrics favour the alternative that was judged more."""
        if not self.judged:
            return []
        shown = ", ".join(f"{self._name(a)} {share:.2f}" for a, share in self.judged.items())
        low, high = min(self.judged.values()), max(self.judged.values())
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
        """One row per alternative."""
        return [
            {
                "alternative": alternative,
                "name": self._name(alternative),
                "chosen": alternative == self.choice,
                "metric": self.metric,
                "mean": mean,
                "judged": self.judged.get(alternative),
                **({f"choice - this: {k}": v for k, v in self._row(alternative).items()}),
            }
            for alternative, mean in self.means.items()
        ]

    def _row(self, alternative: str) -> dict[str, float | None]:
        if alternative == self.choice or not self.differences:
            return dict.fromkeys(("mean", "low", "high"))
        return asdict(self._difference(alternative))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        plain = ("choice", "method", "expert", "metric", "n_queries", "means", "expected", "judged")
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
            row = self._row(alternative)
            apart = [number(row[k], bool(percent), "+") if row[k] is not None else "" for k in ("mean", "low", "high")]
            share = number(self.judged[alternative]) if alternative in self.judged else ""
            body.append([self._name(alternative), number(mean, bool(percent)), *apart, share])
        columns = ["", self.metric, f"{self.name} minus this", "low", "high", "Judged@10"]
        return [Table("Verdict", columns, body, note=self.text, groups=[1, 3, 1], best=[1])]


def decide(
    values: Mapping[str, Floats],
    counts: Floats,
    *,
    method: str,
    metric: str,
    judged: Mapping[str, float],
    expert: str | None = None,
    best: int = 0,
    experts: Floats | None = None,
) -> Verdict:
    """The verdict from held-out values by alternative, [n_rows], where row r is the mean over ``counts[r]`` queries.

    ``expert`` is the best expert on all queries, column ``best`` of the values of all ``experts``, [n_rows, n_experts];
    among ``values`` are those of experts that were chosen on other queries. With fewer than two rows, there is no
    evidence for anything but RRF.
    """
    n = int(counts.sum())
    means = {name: float(counts @ v / n) for name, v in values.items()} if n else {}
    expected, differences = dict.fromkeys(means, 0.0), {}
    if len(counts) > 1:
        unsure = 0.0 if experts is None else _choice_variance(experts[:, best] - values[EXPERT], counts)
        for a, b in PAIRS:
            if a in means and b in means:
                differences[f"{a} - {b}"] = _difference(values[a] - values[b], counts, unsure * (EXPERT in (a, b)))
        expected[RRF] = _expected(RRF_EXPECTATION, values[RRF] - values[LEARNED], counts)
        if experts is not None:
            prior = replace(EXPERT_EXPECTATION, mean=EXPERT_EXPECTATION.mean * math.log(experts.shape[1]))
            mean = shrunk_mean(experts, best, counts) - means[LEARNED]
            expected[EXPERT] = _expected(prior, values[EXPERT] - values[LEARNED], counts, unsure, mean)
    gain = {**expected, RRF: expected.get(RRF, 0.0) + NEGLIGIBLE}
    if EXPERT in gain and differences and differences[f"{LEARNED} - {EXPERT}"].is_zero:
        gain[EXPERT] += NEGLIGIBLE
    return Verdict(
        choice=max(gain, key=lambda name: (gain[name], SIMPLEST_LAST.index(name))) if differences else RRF,
        method=method,
        expert=expert,
        metric=metric,
        n_queries=n,
        means=means,
        differences=differences,
        expected=expected,
        judged=dict(judged),
    )


def _expected(
    prior: Expectation, apart: Floats, counts: Floats, extra: float = 0.0, mean: float | None = None
) -> float:
    """The expected difference of an alternative to the learned model; 0 if no held-out query tells them apart."""
    if (np.abs(apart) <= SAME).all():
        return 0.0
    held_out, variance = _mean_and_variance(apart, counts)
    return prior.update(held_out if mean is None else mean, variance + extra, int(counts.sum()))


def shrunk_mean(experts: Floats, best: int, counts: Floats) -> float:
    """The mean of the best expert, shrunk towards that of all experts by the share of their differences that is noise.

    This empirical Bayes estimate has the smallest error of those that correct the optimism of the choice (the others
    are: to choose on other queries, or to subtract a bootstrap estimate of it).
    """
    n, (rows, n_experts) = counts.sum(), experts.shape
    means = counts @ experts / n
    if n_experts < 2:
        return float(means[best])
    rest = experts - means - experts.mean(axis=1, keepdims=True) + means.mean()
    noise = float(((counts[:, None] * rest) ** 2).sum() / n**2 * rows / (rows - 1) / (n_experts - 1))
    spread = float(means.var(ddof=1))
    weight = max(spread - noise, 0.0) / spread if spread > SAME else 1.0
    return float(weight * means[best] + (1 - weight) * means.mean())


def _mean_and_variance(values: Floats, counts: Floats) -> tuple[float, float]:
    """The mean over queries, and the variance of that mean."""
    n, rows = counts.sum(), len(counts)
    mean = float(counts @ values / n)
    return mean, float(((counts * (values - mean)) ** 2).sum() / n**2 * rows / (rows - 1))


def _choice_variance(apart: Floats, counts: Floats) -> float:
    """The variance from the choice of the expert: held-out values are those of several experts, only one is used.

    ``apart`` is the difference between that expert and the chosen ones. Its mean is its optimism, its variance what is
    not known of it; both are 0 if the same expert was always chosen.
    """
    mean, variance = _mean_and_variance(apart, counts)
    return variance + mean**2


def _difference(values: Floats, counts: Floats, extra: float) -> Difference:
    """The mean of the values over queries, and its interval for new queries, given a variance to add."""
    mean, variance = _mean_and_variance(values, counts)
    spread = t_quantile(LEVEL, len(counts) - 1) * math.sqrt(variance + extra)
    return Difference(mean, mean - spread, mean + spread)
