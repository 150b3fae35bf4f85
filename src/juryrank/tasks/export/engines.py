"""Search engines that accept only weights: the weighted RRF nearest to a model, and its loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats, freeze
from juryrank.errors import DataError, UnknownNameError, unknown_names, warn_about_data
from juryrank.methods import Aggregator, method
from juryrank.metrics import Truth, parse_metric
from juryrank.tasks.export.rrf_weights import best_experts, fit_weights

TOPS = (10, 100)  # first items whose overlap is measured


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an engine accepts in one request."""

    title: str
    fewest: int = 1  # queries
    most: int | None = None
    shortest: int = 1  # items of each list, unless the request says how many it wants
    longest: int | None = None  # the same, unless the index is configured otherwise


# With the version whose documentation or source says so.
LIMITS = {
    # 9.2: "two or more child retrievers are required"; each is searched with size=rank_window_size, which
    # index.max_result_window bounds. It "must be greater than or equal to size", which is 10 by default.
    "elasticsearch": Limits(title="Elasticsearch", fewest=2, shortest=10, longest=10_000),
    # 3.9: "the maximum number of query clauses is 5"; pagination_depth is bounded by index.max_result_window.
    "opensearch": Limits(title="OpenSearch", most=5, longest=10_000),
    # 1.17: none
    "qdrant": Limits(title="Qdrant"),
}


@dataclass(frozen=True, eq=False)
class WeightedRRF:
    """Weights and a rank constant that an engine understands, with their loss against the full model."""

    dialect: str
    experts: tuple[str, ...]
    weights: Floats  # [n_experts] 0 where the expert is left out
    constant: int
    depth: int  # items that each list may have: as many as the longest of the data, if the engine takes that
    common: dict[int, float]  # share of the model's first items that are among its first, too
    loss: dict[str, tuple[float, float, float]]  # by metric: the model, this, plain RRF

    def __post_init__(self) -> None:
        freeze(self)

    def by_name(self) -> dict[str, float]:
        """The weights that are not 0."""
        return {name: float(w) for name, w in zip(self.experts, self.weights, strict=True) if w > 0}


def nearest_rrf(
    model: Aggregator,
    data: Dataset,
    dialect: str,
    metrics: Sequence[str] = ("nDCG@10", "AP"),
    experts: Sequence[str] | None = None,
) -> WeightedRRF:
    """The weighted RRF whose scores are closest to the model's over the lists of ``data``.

    Weights and rank constant maximise R² between both scores within queries, where items near the top of the model's
    order count more. Labels are not used in the fit, only to measure the loss. With ``experts``, all others have
    weight 0; the model still uses all lists of the data, so that the loss is that of leaving experts out, too.
    """
    r = data.rankings
    if not r.n_entries:
        raise DataError("the data has no entries, so there is nothing to fit weights to")
    target = model.predict(data)
    weights, constant = fit_weights(target, division=dialect == "qdrant", among=_chosen(data.experts, experts))
    _check_number(target, dialect, weights, constant)
    weights = _round_weights(weights, dialect)
    approximation = _rank_as_engine(data, dialect, weights, constant)
    return WeightedRRF(
        dialect=dialect,
        experts=data.experts,
        weights=weights,
        constant=constant,
        depth=_depth(int(r.list_size.max()), LIMITS[dialect]),
        common={top: _common(target, approximation, top) for top in TOPS},
        loss={} if data.labels is None else _losses(target, approximation, data, metrics),
    )


def _chosen(known: tuple[str, ...], experts: Sequence[str] | None) -> Floats:
    """1 for the experts that may have a weight, 0 for others."""
    if experts is None:
        return np.ones(len(known))
    if isinstance(experts, str):
        raise DataError(f"experts must be a list of names, got the text {experts!r}")
    if unknown := set(experts) - set(known):
        raise UnknownNameError(f"experts that are not in the data: {unknown_names(unknown, known)}")
    if not experts:
        raise DataError("experts must name at least one expert")
    return np.array([float(name in experts) for name in known])


def _check_number(target: Consensus, dialect: str, weights: Floats, constant: int) -> None:
    """An error if the engine does not take as many queries as there are weights."""
    limits, names, count = LIMITS[dialect], target.rankings.experts, int((weights > 0).sum())
    if count < limits.fewest:
        only = names[int(weights.argmax())]
        raise DataError(
            f"only the expert {only!r} has a positive weight, and {limits.title} combines {limits.fewest} or more: "
            f"send the query of {only} alone"
        )
    if limits.most is not None and count > limits.most:
        best, explained, whole = best_experts(target, weights, constant, limits.most)
        advice = ",".join(names[n] for n in best)
        raise DataError(
            f"{limits.title} takes at most {limits.most} queries in one hybrid query, and {count} experts have a "
            f"positive weight: name {limits.most} or fewer with experts=; these {limits.most} explain most of the "
            f"model's scores (R² {explained:.3f}, all together {whole:.3f}): {advice}"
        )


def _depth(longest: int, limits: Limits) -> int:
    if limits.longest is None or longest <= limits.longest:
        return max(longest, limits.shortest)
    warn_about_data(
        f"lists have up to {longest:,} items, and {limits.title} takes {limits.longest:,} of each list by default "
        f"(index.max_result_window): the request asks for {limits.longest:,}, and what is measured is of whole lists"
    )
    return limits.longest


def _round_weights(weights: Floats, dialect: str) -> Floats:
    """Weights as the request has them: those of OpenSearch sum to 1, in Elasticsearch the largest is 1."""
    scale = {"opensearch": weights.sum(), "elasticsearch": weights.max()}.get(dialect, 1.0)
    written: Floats = np.round(weights / scale, 6)
    return written


def _rank_as_engine(data: Dataset, dialect: str, weights: Floats, constant: int) -> Consensus:
    """What the engine would return, computed by the dialect of RRF."""
    by_name = {name: float(w) for name, w in zip(data.experts, weights, strict=True)}
    return method("rrf", dialect=dialect, k=float(constant), weights=by_name).fit(data).predict(data)


def _places(consensus: Consensus) -> Floats:
    r = consensus.rankings
    place = np.empty(r.n_slots)
    place[consensus.order] = np.arange(r.n_slots)
    return place - np.repeat(r.slot_ptr[:-1], r.query_size) + 1.0


def _common(one: Consensus, other: Consensus, top: int) -> float:
    first = _places(one) <= top
    return float((first & (_places(other) <= top)).sum() / first.sum())


def _losses(
    target: Consensus, approximation: Consensus, data: Dataset, metrics: Sequence[str]
) -> dict[str, tuple[float, float, float]]:
    judged = [Truth(data).judge(ranked) for ranked in (target, approximation, method("rrf").fit(data).predict(data))]
    return {
        text: tuple(float(np.nanmean(parse_metric(text).per_query(j))) for j in judged)  # type: ignore[misc]
        for text in metrics
    }
