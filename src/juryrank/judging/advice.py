"""When to stop judging: the held-out gain so far, and what more judgements can be expected to add."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.judging.plan import count, require_count
from juryrank.methods.learned.jury import solver_of
from juryrank.metrics import Truth, parse_metric
from juryrank.models import labelled_dataset
from juryrank.report import Report, Table, number
from juryrank.training import verdict
from juryrank.training.held_out_values import judged_share
from juryrank.training.label_survey import FEW_ZEROS, NONE, POSITIVES_ONLY, LabelSurvey
from juryrank.training.labelled_queries import AUTO, LabelledQueries
from juryrank.training.rrf_baseline import rrf_scores
from juryrank.training.solvers.position_curves import Limits, QueryParts, Statistics
from juryrank.training.solvers.rrf_prior import RRFPriorSolver
from juryrank.training.student_t import t_quantile
from juryrank.training.verdict import NEGLIGIBLE, Difference
from juryrank.training.verdict_rule import LEVEL, UNJUDGED_DEVIATION

FEWEST_QUERIES = 10  # with which it can be measured what half of the queries would give
SPLITS = 4  # of the queries into halves, at random
IN_HALVES = Limits(held_out_work=0.0, fewest_parts=2)
# What twice as many judgements add to nDCG@10: mean and standard deviation over collections, draws and numbers of
# judgements, and the variance over queries of the measured difference. From ``python -m studies judging``.
DOUBLING_MEAN, DOUBLING_DEVIATION, QUERY_VARIANCE = 0.004, 0.013, 0.005
VARIANCE_QUERIES = 10.0  # queries that this variance counts as: that of a few queries is itself uncertain


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgingAdvice(Report):
    """Whether to go on judging, and the numbers behind it."""

    n_judged: int  # ranked items with labels
    n_queries: int  # with labels that can be learned from
    gain: Difference | None  # of jury over RRF, on held-out queries, judged items only; None with fewer than two
    more: int
    added: Difference | None  # what ``more`` judgements can be expected to add to the gain; None if it cannot be said
    labels: str = NONE  # their kind, one of LABEL_KINDS; with positives only, neither of the two can be said

    @property
    def enough(self) -> bool:
        """Whether more judgements are not worth their effort: they are expected to add less than 0.002."""
        return self.added is not None and self.added.mean < NEGLIGIBLE

    @property
    def evidence(self) -> str:
        """How well the gain is shown, as ``Verdict.evidence``: ``none`` where nothing can be said of it."""
        if self.gain is None or self.gain.is_zero:
            return verdict.NONE
        return verdict.SHOWN if self.gain.low > 0 else verdict.EXPECTED

    @property
    def text(self) -> str:
        """The advice in plain sentences."""
        return f"{'Enough' if self.enough else 'Go on'}: {self._so_far()} {self._next()}"

    @property
    def outlook(self) -> str:
        """Whether to go on, and what more judgements can be expected to add; the advice without the gain so far."""
        return f"{'Enough' if self.enough else 'Go on'}: {self._next()}"

    def _so_far(self) -> str:
        if self.gain is None:
            return f"{count(self.n_judged, 'judgement')} so far, {count(self.n_queries, 'query')} to learn from."
        on = f"after {count(self.n_judged, 'judgement')}, on {count(self.n_queries, 'held-out query')}"
        unsure = "" if self.gain.excludes_zero else " That it is not 0 is not shown yet."
        return f"{on}, jury has a gain over RRF of {self.gain} (nDCG@10 of the judged items).{unsure}"

    def _next(self) -> str:
        if self.n_queries < FEWEST_QUERIES:
            needed = f"{FEWEST_QUERIES} queries in which a relevant item was found"
            return f"What {self.more} more would add cannot be said before there are {needed}."
        if self.added is None:
            rare = (
                f"fewer than {100 * FEW_ZEROS:.0f} % of the labels are 0, and an item without one may be relevant, too"
            )
            return f"What jury gains cannot be said: {rare}. Judge items that are not relevant, as a judging plan does."
        return f"{self.more} more judgements can be expected to add {self.added}."

    def __repr__(self) -> str:
        return (
            f"JudgingAdvice({'enough' if self.enough else 'go on'}, {self.n_judged} judged, {self.n_queries} queries)"
        )

    def rows(self) -> list[dict[str, Any]]:
        """The gain, and what is expected to be added."""
        found = {"gain over RRF": self.gain, f"{self.more} more judgements": self.added}
        none = dict.fromkeys(("mean", "low", "high"))
        return [{"": name, **(none if d is None else asdict(d))} for name, d in found.items()]

    def to_dict(self) -> dict[str, Any]:
        return {
            "enough": self.enough,
            "evidence": self.evidence,
            "judged": self.n_judged,
            "queries": self.n_queries,
            "gain": None if self.gain is None else asdict(self.gain),
            "more": self.more,
            "added": None if self.added is None else asdict(self.added),
            "labels": self.labels,
            "text": self.text,
        }

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = [
            [row[""], *(number(row[key], bool(percent), "+") for key in ("mean", "low", "high"))] for row in self.rows()
        ]
        return [Table("Judging advice", ["", "mean", "low", "high"], body, note=self.text)]


def judging_advice(data: Any, labels: Any = None, more: int = 50) -> JudgingAdvice:
    """Whether to go on judging: the held-out gain over RRF so far, and what ``more`` judgements can be expected to add.

    ``data`` and ``labels`` are as in ``judging_plan``. The gain is that of ``jury``, each
    query held out in turn, with its 95 % interval. Only judged items count in it: as the first items of RRF are judged
    first, RRF would have an advantage otherwise. What more judgements add is estimated from what is lost if ``jury``
    learns from half of the queries: the distance to the best possible gain is taken to be proportional to 1 /
    judgements. As that is uncertain, it is combined with what twice as many judgements added in other collections.

    Where labels are of relevant items only (gold passages, clicks), neither can be said, and the advice is to judge
    other items, too.

    >>> runs = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "c", "a"]}}
    >>> print(judging_advice(runs, labels={"q": {"a": 1}}).text)
    Go on: 1 judgement so far, 1 query to learn from. What 50 more would add cannot be said before there are 10 ...
    """
    require_count("more", more)
    found = labelled_dataset(data, labels)
    n_judged = int(judged_slots(found).sum())
    queries = LabelledQueries.of(found, AUTO) if n_judged else None
    n_queries = len(queries) if queries is not None else 0
    survey = LabelSurvey.of(found)
    kind, solver = survey.kind, solver_of(survey)
    known = queries if kind != POSITIVES_ONLY and n_queries > 1 else None
    return JudgingAdvice(
        n_judged=n_judged,
        n_queries=n_queries,
        gain=None if known is None else held_out_gain(known, solver),
        more=int(more),
        added=expected_addition(known, solver, n_judged, int(more)) if known and n_queries >= FEWEST_QUERIES else None,
        labels=kind,
    )


def judged_slots(data: Dataset) -> NDArray[np.bool_]:
    """Whether each slot is a judgement: a ranked item with a label."""
    r = data.rankings
    return np.zeros(r.n_slots, bool) if data.labels is None else ~np.isnan(data.slot_labels) & (r.slot_lists > 0)


def held_out_gain(queries: LabelledQueries, solver: RRFPriorSolver) -> Difference:
    """The gain of jury over RRF, each query held out in turn, judged items only.

    The 95 % interval includes how far a gain of the judged items may be from that of all items.
    """
    ours = _held_out(queries, solver, None)
    apart = ours.values - _values(queries, rrf_scores(queries.rankings)).values
    mean, error = float(apart.mean()), float(apart.std(ddof=1)) / math.sqrt(len(apart))
    half = t_quantile(LEVEL, len(apart) - 1) * math.hypot(error, ours.deviation)
    return Difference(mean, mean - half, mean + half)


def expected_addition(queries: LabelledQueries, solver: RRFPriorSolver, n_judged: int, more: int) -> Difference:
    """What ``more`` judgements can be expected to add to nDCG@10, with a 95 % interval.

    If the distance to the best possible value is c / n after n judgements, then n were c / n better than n / 2, and
    ``more`` judgements add the share more / (n + more) of that. The variance is taken to have the same share.
    """
    whole = _held_out(queries, solver, None)
    lost = whole.values - np.mean([_held_out(queries, solver, seed).values for seed in range(SPLITS)], axis=0)
    n = len(lost)
    squares = float(((lost - lost.mean()) ** 2).sum())
    variance = (VARIANCE_QUERIES * QUERY_VARIANCE + squares) / (VARIANCE_QUERIES + n) / n + whole.deviation**2
    weight = DOUBLING_DEVIATION**2 / (DOUBLING_DEVIATION**2 + variance)
    mean = weight * float(lost.mean()) + (1 - weight) * DOUBLING_MEAN
    share = more / (n_judged + more)
    half = 1.96 * DOUBLING_DEVIATION * math.sqrt((1 - weight) * share)
    return Difference(share * mean, share * mean - half, share * mean + half)


@dataclass(frozen=True, eq=False)
class _Values:
    """nDCG@10 of the judged items in each query, and how far its mean may be from that of all items."""

    values: Floats
    deviation: float


def _held_out(queries: LabelledQueries, solver: RRFPriorSolver, seed: int | None) -> _Values:
    """The values of jury in each query: fitted to all other queries, or to the other half of a random split."""
    order = np.arange(len(queries)) if seed is None else np.random.default_rng(seed).permutation(len(queries))
    mixed = queries.take(order)
    curves = solver.curves(mixed.rankings.entry_rank)[:, : solver.n_curves]
    layout = Statistics.empty(solver.n_curves, mixed.rankings.experts)
    parts = QueryParts(mixed, curves, layout, None if seed is None else IN_HALVES)
    found = _values(mixed, parts.held_out_scores(parts.total(), solver))
    values = np.empty(len(queries))
    values[order] = found.values
    return _Values(values, found.deviation)


def _values(queries: LabelledQueries, scores: Floats) -> _Values:
    consensus = Consensus(queries.rankings, scores)
    judged = float(judged_share(Truth(queries.truth).judge(consensus)).mean())
    values = parse_metric("nDCG@10").per_query(Truth(queries.truth, "ignore").judge(consensus))
    return _Values(np.nan_to_num(values), UNJUDGED_DEVIATION * (1.0 - judged))
