"""The rule of the verdict: held-out values, expectations from other collections, and honest intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.learning.label_survey import NONE, POSITIVES_ONLY
from juryrank.learning.verdict import EXPERT, LEARNED, NEGLIGIBLE, RRF, SAME, Difference, Verdict

PAIRS = ((LEARNED, RRF), (LEARNED, EXPERT), (EXPERT, RRF))
SIMPLEST_LAST = (LEARNED, RRF, EXPERT)  # of alternatives that are equally good, the last one is chosen
LEVEL = 0.95
MOST_FREEDOM = 1000  # degrees of freedom; above, the quantile differs from this one by less than 0.2 %


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


VARIANCE_QUERIES = 10.0


@dataclass(frozen=True)
class Expectations:
    """Of the differences to a learned method: of RRF, and of the best of e experts, whose mean is times log e.

    The more experts there are, the more fusion adds to the best of them.
    """

    rrf: Expectation
    expert: Expectation

    def of_best(self, n_experts: int) -> Expectation:
        """That of the best of so many experts."""
        return replace(self.expert, mean=self.expert.mean * math.log(n_experts))


# The means are those of ``jury`` on test queries of subsets of robust03 and TREC-COVID round 1. The deviations are
# those on robust03, which vary less: with larger ones, draws of other collections lost a little by choosing experts,
# as a regularised method is seldom much worse than its best expert. ``python -m studies verdict`` tests the rule.
REGULARISED = Expectations(Expectation(-0.025, 0.015, 0.008), Expectation(-0.035, 0.03, 0.03))
# Of other methods less is expected, and more is possible: with few labels some are far below RRF.
OTHERS = Expectations(Expectation(-0.02, 0.025, 0.008), Expectation(-0.025, 0.045, 0.03))
# How far a difference between condensed lists is from that between whole lists, if no item of the top 10 is judged: the
# standard deviation over collections and numbers of judgements of a judging plan.
UNJUDGED_DEVIATION = 0.04
FEW_OR_REGULARISED = ("jury", "ridge", "convex", "tuned-rrf")  # methods with few parameters, or with strong penalties


def expectations_of(method: str) -> Expectations:
    """What is expected of the learned method of that name."""
    return REGULARISED if method in FEW_OR_REGULARISED else OTHERS


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
    expectations: Expectations = REGULARISED,
    n_condensed: int = 0,
    labels: str = NONE,
) -> Verdict:
    """The verdict from held-out values by alternative, [n_rows], where row r is the mean over ``counts[r]`` queries.

    ``expert`` is the best expert on all queries, column ``best`` of the values of all ``experts``, [n_rows, n_experts];
    among ``values`` are those of experts that were chosen on other queries. With fewer than two rows, there is no
    evidence for anything but RRF. Values of condensed lists, in ``n_condensed`` queries, are less certain. Where the
    ``labels``, one of ``LABEL_KINDS``, are positives only, values decide nothing, and the learned method stays.
    """
    n = int(counts.sum())
    means = {name: float(counts @ v / n) for name, v in values.items()} if n else {}
    expected, differences = dict.fromkeys(means, 0.0), {}
    if len(counts) > 1:
        unsure = 0.0 if experts is None else _choice_variance(experts[:, best] - values[EXPERT], counts)
        unseen = (UNJUDGED_DEVIATION * (1.0 - min(judged.values())) * n_condensed / n) ** 2 if n_condensed else 0.0
        most = 1.0 if all(v.min() >= 0.0 and v.max() <= 1.0 for v in values.values()) else math.inf
        for a, b in PAIRS:
            if a in means and b in means:
                extra = unseen + unsure * (EXPERT in (a, b))
                differences[f"{a} - {b}"] = _difference(values[a] - values[b], counts, extra, most)
        expected[RRF] = _expected(expectations.rrf, values[RRF] - values[LEARNED], counts, unseen)
        if experts is not None:
            mean, prior = shrunk_mean(experts, best, counts) - means[LEARNED], expectations.of_best(experts.shape[1])
            expected[EXPERT] = _expected(prior, values[EXPERT] - values[LEARNED], counts, unseen + unsure, mean)
    if unknown := labels == POSITIVES_ONLY:
        expected = {}
    return Verdict(
        choice=RRF if not differences else LEARNED if unknown else _best(expected, differences),
        method=method,
        expert=expert,
        metric=metric,
        n_queries=n,
        means=means,
        differences=differences,
        expected=expected,
        judged=dict(judged),
        n_condensed=n_condensed,
        labels=labels,
    )


def _best(expected: Mapping[str, float], differences: Mapping[str, Difference]) -> str:
    """The alternative with the highest expected value; a learned model has to be worth it."""
    gain = {**expected, RRF: expected[RRF] + NEGLIGIBLE}
    if EXPERT in gain and differences[f"{LEARNED} - {EXPERT}"].is_zero:
        gain[EXPERT] += NEGLIGIBLE
    return max(gain, key=lambda name: (gain[name], SIMPLEST_LAST.index(name)))


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


def _difference(values: Floats, counts: Floats, extra: float, most: float) -> Difference:
    """The mean of the values over queries, and its interval for new queries, given a variance to add.

    No difference is larger than ``most``, which matters for two or three queries.
    """
    mean, variance = _mean_and_variance(values, counts)
    spread = t_quantile(LEVEL, len(counts) - 1) * math.sqrt(variance + extra)
    return Difference(mean, max(mean - spread, -most), min(mean + spread, most))


def t_quantile(level: float, freedom: int) -> float:
    """The t that the absolute value of Student's t exceeds with probability 1 - level; infinite without freedom.

    SciPy has it, too, but its import takes longer than a fit.

    >>> round(t_quantile(0.95, 9), 3)
    2.262
    """
    if freedom < 1:
        return math.inf
    low, high = 0.0, math.pi / 2  # t = tan(angle) · √freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _central_probability(middle, min(freedom, MOST_FREEDOM)) < level else (low, middle)
        )
    return math.tan(low) * math.sqrt(min(freedom, MOST_FREEDOM))


def _central_probability(angle: float, freedom: int) -> float:
    """The probability of values up to t = tan(angle) · √freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    cosine, odd = math.cos(angle), freedom % 2
    if freedom == 1:
        return 2 * angle / math.pi
    term = total = cosine if odd else 1.0
    for k in range(1 + odd, freedom - 2, 2):
        term *= cosine * cosine * k / (k + 1)
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total
