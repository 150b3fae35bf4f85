"""When to stop judging: the held-out gain so far, and what more judgements can be expected to add."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.judging.plan import require_count
from juryrank.methods.learned.jury import Jury
from juryrank.metrics import Truth, parse_metric
from juryrank.models import labelled_dataset
from juryrank.report import Report, Table, number
from juryrank.training.labelled_queries import LabelledQueries
from juryrank.training.solvers.position_curves import Limits, QueryParts, Statistics
from juryrank.training.solvers.rrf_prior import RRFPriorSolver
from juryrank.training.verdict import LEARNED, NEGLIGIBLE, RRF, Difference, Verdict

UNJUDGED = "unknown"  # how unjudged items are used: judgements are shallow
FEWEST_QUERIES = 10  # with which it can be measured what half of the queries would give
SPLITS = 4  # of the queries into halves, at random
IN_HALVES = Limits(held_out_work=0.0, fewest_parts=2)
# What twice as many judgements add to nDCG@10: mean and standard deviation over collections and numbers of judgements,
# and the variance over queries of the measured difference. From ``python -m studies judging``.
DOUBLING_MEAN, DOUBLING_DEVIATION, QUERY_VARIANCE = 0.004, 0.005, 0.005
VARIANCE_QUERIES = 10.0  # queries that this variance counts as: that of a few queries is itself uncertain


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgingAdvice(Report):
    """Whether to go on judging, and the numbers behind it."""

    n_judged: int  # ranked items with labels
    n_queries: int  # with labels that can be learned from
    gain: Difference | None  # of the learned model over RRF, on held-out queries; None with fewer than two
    more: int
    added: Difference | None  # what ``more`` judgements can be expected to add to the gain; None if it cannot be said
    verdict: Verdict | None  # None if there is nothing to learn from

    @property
    def enough(self) -> bool:
        """Whether more judgements are not worth their effort: they are expected to add less than 0.002."""
        return self.added is not None and self.added.mean < NEGLIGIBLE

    @property
    def text(self) -> str:
        """The advice in plain sentences."""
        return " ".join([f"{'Enough' if self.enough else 'Go on'}: {self._so_far()}", self._next(), *self._cautions()])

    def _so_far(self) -> str:
        if self.gain is None or self.verdict is None:
            return f"{self.n_judged} judgements in {self.n_queries} queries that can be learned from are too few."
        on = f"after {self.n_judged} judgements, on {self.verdict.n_queries} held-out queries"
        unsure = "" if self.gain.excludes_zero else " That it is above 0 is not certain yet."
        return f"{on}, {self.verdict.method} has a gain over RRF of {self.gain} ({self.verdict.metric}).{unsure}"

    def _next(self) -> str:
        if self.added is None:
            needed = f"{FEWEST_QUERIES} queries in which a relevant item was found"
            return f"What {self.more} more would add cannot be said before there are {needed}."
        return f"{self.more} more judgements can be expected to add {self.added}."

    def _cautions(self) -> list[str]:
        return [] if self.gain is None or self.verdict is None else self.verdict.cautions

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
            "judged": self.n_judged,
            "queries": self.n_queries,
            "gain": None if self.gain is None else asdict(self.gain),
            "more": self.more,
            "added": None if self.added is None else asdict(self.added),
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "text": self.text,
        }

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = [
            [row[""], *(number(row[key], bool(percent), "+") for key in ("mean", "low", "high"))] for row in self.rows()
        ]
        return [Table("Judging advice", ["", "mean", "low", "high"], body, note=self.text)]


def judging_advice(data: Any, labels: Any = None, more: int = 50) -> JudgingAdvice:
    """Whether to go on judging: the held-out gain over RRF so far, and what ``more`` judgements can be expected to add.

    ``data`` and ``labels`` are as in ``judging_plan``. The gain is that of ``jury``, each query held out in turn, with
    its 95 % interval. What more judgements add is estimated from what is lost if ``jury`` learns from half of the
    queries: the distance to the best possible gain is taken to be proportional to 1 / judgements. As that is uncertain
    with few queries, it is combined with what twice as many judgements added in other collections.

    >>> runs = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "c", "a"]}}
    >>> print(judging_advice(runs, labels={"q": {"a": 1}}).text)
    Go on: 1 judgements in 1 queries that can be learned from are too few. What 50 more would add cannot be said ...
    """
    require_count("more", more)
    found = labelled_dataset(data, labels)
    judged = np.zeros(0, bool) if found.labels is None else ~np.isnan(found.slot_labels)
    n_judged = int((judged & (found.rankings.slot_lists > 0)[: len(judged)]).sum())
    jury = Jury(unjudged=UNJUDGED)
    queries = LabelledQueries.of(found, jury.unjudged) if n_judged else None
    n_queries = len(queries) if queries is not None else 0
    verdict = jury.fit(found).verdict() if n_queries else None
    return JudgingAdvice(
        n_judged=n_judged,
        n_queries=n_queries,
        gain=None if verdict is None else verdict.differences.get(f"{LEARNED} - {RRF}"),
        more=int(more),
        added=expected_addition(queries, n_judged, int(more)) if queries and n_queries >= FEWEST_QUERIES else None,
        verdict=verdict,
    )


def expected_addition(queries: LabelledQueries, n_judged: int, more: int) -> Difference:
    """What ``more`` judgements can be expected to add to nDCG@10, with a 95 % interval.

    If the distance to the best possible value is c / n after n judgements, then n were c / n better than n / 2, and
    ``more`` judgements add that times more / (n + more).
    """
    lost = _held_out(queries, None) - np.mean([_held_out(queries, seed) for seed in range(SPLITS)], axis=0)
    lost = lost[~np.isnan(lost)]
    n = len(lost)
    squares = float(((lost - lost.mean()) ** 2).sum()) if n else 0.0
    variance = (VARIANCE_QUERIES * QUERY_VARIANCE + squares) / (VARIANCE_QUERIES + n) / max(n, 1)
    weight = DOUBLING_DEVIATION**2 / (DOUBLING_DEVIATION**2 + variance) if n else 0.0
    mean = weight * float(lost.mean() if n else 0.0) + (1 - weight) * DOUBLING_MEAN
    half = 1.96 * DOUBLING_DEVIATION * math.sqrt(1 - weight)
    share = more / (n_judged + more)
    return Difference(share * mean, share * (mean - half), share * (mean + half))


def _held_out(queries: LabelledQueries, seed: int | None) -> Floats:
    """nDCG@10 of jury in each query: fitted to all other queries, or to the other half of a random split."""
    jury = Jury(unjudged=UNJUDGED)
    solver = RRFPriorSolver(jury.shrink, jury.anchor, jury.prior)
    order = np.arange(len(queries)) if seed is None else np.random.default_rng(seed).permutation(len(queries))
    mixed = queries.take(order)
    curves = solver.curves(mixed.rankings.entry_rank)[:, : solver.n_curves]
    layout = Statistics.empty(solver.n_curves, mixed.rankings.experts)
    parts = QueryParts(mixed, curves, layout, None if seed is None else IN_HALVES)
    scores = parts.held_out_scores(parts.total(), solver)
    truth: Dataset = mixed.truth
    values = np.empty(len(queries))
    values[order] = parse_metric(jury.target).per_query(Truth(truth).judge(Consensus(mixed.rankings, scores)))
    return values
