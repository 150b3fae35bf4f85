"""Held-out values of a learned model, next to those of RRF and of each expert alone, in rows that can be added."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from juryrank.data import Consensus
from juryrank.data.arrays import Floats
from juryrank.learning import verdict
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.expert_lists import experts_alone
from juryrank.learning.label_survey import NONE, POSITIVES_ONLY
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.verdict import Verdict
from juryrank.learning.verdict_rule import decide, expectations_of
from juryrank.metrics import JudgedConsensus, Metric, Truth, parse_metric
from juryrank.metrics.truth import condense

JUDGED = parse_metric("Judged@10")
MOST_ROWS = 256  # that a model stores; of more queries, neighbours share a row
WELL_JUDGED = 0.9  # Judged@10 of the model and of RRF; with less, values are those of condensed lists
SPLITS, PARTS = 20, 3  # of the rows, to choose experts on some and evaluate them on others
LEARNED, RRF, EXPERTS = 0, 1, 2  # columns: the model, RRF, and from here on the experts


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOutValues:
    """A metric of the model, of RRF and of each expert alone; one row per query, or per few queries if there are many.

    An expert has the value 0 in a query that it does not rank, so that experts which others lack can be added. If few
    of the first items are judged, unjudged items are removed before the metric is computed (condensed lists): if they
    counted as not relevant, the ranking whose first items were judged would look best. With labels of relevant items
    only, they stay.
    """

    experts: tuple[str, ...]
    counts: Floats  # [n_rows] queries of each row
    values: Floats  # [n_rows, 2 + n_experts] means over the queries of the row
    judged: Floats  # [2 + n_experts] Judged@10, summed over all queries
    n_condensed: int = 0  # queries with the values of condensed lists

    @classmethod
    def empty(cls, experts: Sequence[str]) -> HeldOutValues:
        """No queries yet."""
        width = EXPERTS + len(experts)
        return cls(experts=tuple(experts), counts=np.zeros(0), values=np.zeros((0, width)), judged=np.zeros(width))

    @classmethod
    def of(cls, queries: LabelledQueries, scores: Floats, metric: Metric, labels: str = NONE) -> HeldOutValues:
        """The values of the labelled queries, given the held-out scores of their slots and the kind of labels."""
        judged = JudgedAlternatives.of(queries, scores, queries.experts)
        shares = judged.shares()
        condensed = are_condensed(shares, labels)
        return cls.from_queries(queries.experts, shares, judged.values(metric, condensed=condensed), condensed)

    @classmethod
    def from_queries(cls, experts: Sequence[str], shares: Floats, values: Floats, condensed: bool) -> HeldOutValues:
        """Judged@10 and the metric of each alternative in each query, [2 + n_experts, n_queries]."""
        known = ~np.isnan(values[:EXPERTS]).any(axis=0)
        rows = values[:, known].T
        return cls(
            experts=tuple(experts),
            counts=np.ones(len(rows)),
            values=np.ascontiguousarray(rows),
            judged=shares[:, known].sum(axis=1),
            n_condensed=len(rows) if condensed else 0,
        )

    @property
    def n_queries(self) -> int:
        return int(self.counts.sum())

    def sums(self) -> Floats:
        """The number of queries, and the sums of the gain over RRF, of its square, of the metric, and of RRF's."""
        own, rrf = self.values[:, :EXPERTS].T
        gain = own - rrf
        return np.array([len(gain), gain.sum(), (gain**2).sum(), own.sum(), rrf.sum()])

    def add(self, other: HeldOutValues, experts: Sequence[str], most_rows: int = MOST_ROWS) -> HeldOutValues:
        """The rows of both, with columns for these experts."""
        parts = [part.with_experts(experts) for part in (self, other)]
        counts, values = (np.concatenate([getattr(p, name) for p in parts]) for name in ("counts", "values"))
        while len(counts) > most_rows:
            counts, values = _join_neighbours(counts, values)
        return HeldOutValues(
            experts=tuple(experts),
            counts=counts,
            values=values,
            judged=parts[0].judged + parts[1].judged,
            n_condensed=self.n_condensed + other.n_condensed,
        )

    def with_experts(self, experts: Sequence[str]) -> HeldOutValues:
        """The same rows with columns for these experts, which include all that have values."""
        place = {name: EXPERTS + n for n, name in enumerate(experts)}
        at = np.array([LEARNED, RRF, *(place[name] for name in self.experts)], np.int64)
        values = np.zeros((len(self.counts), EXPERTS + len(experts)))
        judged = np.full(EXPERTS + len(experts), float(self.n_queries))
        values[:, at], judged[at] = self.values, self.judged
        return replace(self, experts=tuple(experts), values=values, judged=judged)

    def best_expert(self) -> int | None:
        """The expert with the highest mean over all queries, of equal ones the first by name; None without experts."""
        if not self.experts or not len(self.counts):
            return None
        return self._best(self.counts @ self.values[:, EXPERTS:])

    def expert_chosen_on_others(self) -> Floats:
        """For each row, the value of the expert that is best on other rows, [n_rows].

        The rows are split into thirds at random, and each third has the values of the expert that is best on the other
        two; the mean over ``SPLITS`` such splits. Leaving out single rows has the same mean, but a larger variance:
        whenever two experts are nearly equal, it chooses the one that is worse on the row.
        """
        alone = self.values[:, EXPERTS:]
        weighted = self.counts[:, None] * alone
        total, out = weighted.sum(axis=0), np.zeros(len(alone))
        rng = np.random.default_rng(0)
        in_order = np.lexsort(self.values[:, [RRF, LEARNED]].T)  # not by arrival
        for _ in range(SPLITS):
            for part in np.array_split(in_order[rng.permutation(len(alone))], min(PARTS, len(alone))):
                out[part] += alone[part, self._best(total - weighted[part].sum(axis=0))]
        return out / SPLITS

    def _best(self, sums: Floats) -> int:
        """The expert with the highest sum; sums are rounded, so that the order of additions does not decide."""
        by_name = np.argsort(np.array(self.experts, object), kind="stable")
        return int(by_name[np.argmax(np.round(sums[by_name], 12))])

    def verdict(self, method: str, metric: str, labels: str = NONE) -> Verdict:
        """What to use on new queries, given the kind of labels."""
        values = {verdict.LEARNED: self.values[:, LEARNED], verdict.RRF: self.values[:, RRF]}
        columns, best = {verdict.LEARNED: LEARNED, verdict.RRF: RRF}, self.best_expert()
        if best is not None:
            values[verdict.EXPERT] = self.expert_chosen_on_others()
            columns[verdict.EXPERT] = EXPERTS + best
        n = self.n_queries
        return decide(
            values,
            self.counts,
            method=method,
            metric=metric,
            judged={name: float(self.judged[c] / n) for name, c in columns.items() if n},
            n_condensed=self.n_condensed,
            labels=labels,
            expert=None if best is None else self.experts[best],
            best=best or 0,
            experts=None if best is None else self.values[:, EXPERTS:],
            expectations=expectations_of(method),
        )


@dataclass(frozen=True, eq=False)
class JudgedAlternatives:
    """The model, RRF and each expert alone, matched with the labels of some queries."""

    fused: list[JudgedConsensus]  # the model, RRF
    alone: list[JudgedConsensus]  # each expert

    @classmethod
    def of(
        cls,
        queries: LabelledQueries,
        scores: Floats,
        experts: Sequence[str],
        *,
        several: Collection[str] | None = None,
        by_rank: bool = False,
    ) -> JudgedAlternatives:
        """Given the held-out scores of the slots.

        Of a batch of more queries, ``several`` are the experts with several lists in a query, and ``by_rank`` says
        whether the scores of lists contradict their ranks, in any batch.
        """
        truth, r = Truth(queries.truth), queries.rankings
        alone = experts_alone(replace(r, entry_score=None) if by_rank else r, several)
        return cls(
            [truth.judge(Consensus(r, each)) for each in (scores, rrf_scores(r))],
            [truth.judge(alone[name], warn_unranked=False) for name in experts],
        )

    def shares(self) -> Floats:
        """Judged@10 of each, [2 + n_experts, n_queries]; of an expert 1 in queries that it does not rank."""
        return np.array([judged_share(one) for one in (*self.fused, *self.alone)])

    def values(self, metric: Metric, *, condensed: bool) -> Floats:
        """The metric of each, [2 + n_experts, n_queries]; of an expert 0 in queries that it does not rank."""
        fused, alone = ([condense(one) if condensed else one for one in side] for side in (self.fused, self.alone))
        values = [metric.per_query(one) for one in fused]
        values += [np.where(one.size > 0, np.nan_to_num(metric.per_query(one)), 0.0) for one in alone]
        return np.array(values)


def are_condensed(shares: Floats, labels: str = NONE) -> bool:
    """Whether unjudged items are removed, given Judged@10 of each alternative in each query, and the kind of labels.

    They are if few of the first items of the model or of RRF are judged, unless labels are of relevant items only:
    without unjudged items, every list that has a labelled item would be perfect.
    """
    if labels == POSITIVES_ONLY or not shares.shape[1]:
        return False
    return float(shares[:EXPERTS].mean(axis=1).min()) < WELL_JUDGED


def judged_share(one: JudgedConsensus) -> Floats:
    """Judged@10 of each query; 1 where nothing unjudged can be seen: nothing is ranked, or there are no labels."""
    if one.labels is None:
        return np.ones(len(one.queries))
    return np.nan_to_num(JUDGED.per_query(one), nan=1.0)


def _join_neighbours(counts: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Half as many rows: each pair of neighbours becomes its mean."""
    even = len(counts) // 2 * 2
    pairs = counts[:even].reshape(-1, 2)
    joined = (pairs[:, :, None] * values[:even].reshape(len(pairs), 2, -1)).sum(axis=1) / pairs.sum(axis=1)[:, None]
    return np.append(pairs.sum(axis=1), counts[even:]), np.vstack([joined, values[even:]])
