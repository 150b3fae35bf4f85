"""Search engines that accept only weights: the weighted RRF nearest to a model, and its loss."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank._export.rrf_weights import fit_weights
from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats, freeze
from juryrank.errors import DataError
from juryrank.methods import Aggregator, method
from juryrank.metrics import Truth, parse_metric

TOPS = (10, 100)  # first items whose overlap is measured


@dataclass(frozen=True, eq=False)
class WeightedRRF:
    """Weights and a rank constant that an engine understands, with their loss against the full model."""

    dialect: str
    experts: tuple[str, ...]
    weights: Floats  # [n_experts] 0 where the expert is left out
    constant: int
    longest: int  # items of the longest list
    common: dict[int, float]  # share of the model's first items that are among its first, too
    loss: dict[str, tuple[float, float, float]]  # by metric: the model, this, plain RRF

    def __post_init__(self) -> None:
        freeze(self)


def nearest_rrf(
    model: Aggregator, data: Dataset, dialect: str, metrics: Sequence[str] = ("nDCG@10", "AP")
) -> WeightedRRF:
    """The weighted RRF whose scores are closest to the model's over the lists of ``data``.

    Weights and rank constant maximise R² between both scores within queries, where items near the top of the model's
    order count more. Labels are not used in the fit, only to measure the loss.
    """
    r = data.rankings
    if not r.n_entries:
        raise DataError("the data has no entries, so there is nothing to fit weights to")
    target = model.predict(data)
    weights, constant = fit_weights(target, division=dialect == "qdrant")
    weights = _round_weights(weights, dialect)
    approximation = _rank_as_engine(data, dialect, weights, constant)
    return WeightedRRF(
        dialect=dialect,
        experts=data.experts,
        weights=weights,
        constant=constant,
        longest=int(r.list_size.max()),
        common={top: _common(target, approximation, top) for top in TOPS},
        loss={} if data.labels is None else _losses(target, approximation, data, metrics),
    )


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


def to_engine(found: WeightedRRF) -> str:
    """The request that holds the weights, with ``<query of EXPERT>`` where the query of each expert goes."""
    weights = {name: float(w) for name, w in zip(found.experts, found.weights, strict=True) if w > 0}
    body = {"elasticsearch": _elasticsearch, "opensearch": _opensearch, "qdrant": _qdrant}[found.dialect]
    measured: dict[str, Any] = {
        f"first {top} in common with the model": round(share, 4) for top, share in found.common.items()
    }
    for metric, (full, this, plain) in found.loss.items():
        measured[metric] = {"model": round(full, 4), "these weights": round(this, 4), "plain RRF": round(plain, 4)}
    whole = {
        **body(weights, found),
        "left out, weight 0": [name for name in found.experts if name not in weights],
        "measured on the data given": measured,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _elasticsearch(weights: dict[str, float], found: WeightedRRF) -> dict[str, Any]:
    retrievers = [
        {"retriever": {"standard": {"query": f"<query of {name}>"}}, "weight": w} for name, w in weights.items()
    ]
    window = min(found.longest, 10_000)
    rrf = {"retrievers": retrievers, "rank_constant": found.constant, "rank_window_size": window}
    return {"for": "Elasticsearch 9.2 or newer: body of GET /<index>/_search", "request": {"retriever": {"rrf": rrf}}}


def _opensearch(weights: dict[str, float], found: WeightedRRF) -> dict[str, Any]:
    combination = {
        "technique": "rrf",
        "rank_constant": found.constant,
        "parameters": {"weights": list(weights.values())},
    }
    described = "one query of hybrid.queries per expert, in this order: " + ", ".join(weights)
    processors = [{"score-ranker-processor": {"combination": combination}}]
    request = {"description": described, "phase_results_processors": processors}
    return {"for": "OpenSearch 3.1 or newer: body of PUT /_search/pipeline/<name>", "request": request}


def _qdrant(weights: dict[str, float], found: WeightedRRF) -> dict[str, Any]:
    request = {
        "prefetch": [{"query": f"<query of {name}>", "limit": found.longest} for name in weights],
        "query": {"rrf": {"k": found.constant, "weights": list(weights.values())}},
    }
    return {"for": "Qdrant 1.17 or newer: body of POST /collections/<name>/points/query", "request": request}
