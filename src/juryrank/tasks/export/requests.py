"""Weights and rank constants as the requests of search engines."""

from __future__ import annotations

import json
from typing import Any

from juryrank.tasks.export.engines import WeightedRRF


def to_request(found: WeightedRRF) -> str:
    """The request that holds the weights, with ``<query of EXPERT>`` where the query of each expert goes."""
    weights = found.by_name()
    body = {"elasticsearch": _elasticsearch, "opensearch": _opensearch, "qdrant": _qdrant}[found.dialect]
    whole = {
        **body(weights, found),
        "weights": weights,
        "left out, weight 0": [name for name in found.experts if name not in weights],
        "measured on the data given": measured(found),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def measured(found: WeightedRRF) -> dict[str, Any]:
    """How much of the model is left."""
    out: dict[str, Any] = {
        f"first {top} in common with the model": round(share, 4) for top, share in found.common.items()
    }
    for metric, (full, this, plain) in found.loss.items():
        out[metric] = {"model": round(full, 4), "these weights": round(this, 4), "plain RRF": round(plain, 4)}
    return out


def _elasticsearch(weights: dict[str, float], found: WeightedRRF) -> dict[str, Any]:
    retrievers = [
        {"retriever": {"standard": {"query": f"<query of {name}>"}}, "weight": w} for name, w in weights.items()
    ]
    rrf = {"retrievers": retrievers, "rank_constant": found.constant, "rank_window_size": found.depth}
    return {"for": "Elasticsearch 9.2 or newer: body of GET /<index>/_search", "request": {"retriever": {"rrf": rrf}}}


def _opensearch(weights: dict[str, float], found: WeightedRRF) -> dict[str, Any]:
    combination = {
        "technique": "rrf",
        "rank_constant": found.constant,
        "parameters": {"weights": list(weights.values())},
    }
    described = "one query of hybrid.queries per expert, in this order: " + ", ".join(weights)
    processors = [{"score-ranker-processor": {"combination": combination}}]
    queries = [f"<query of {name}>" for name in weights]
    return {
        "for": "OpenSearch 3.1 or newer: body of PUT /_search/pipeline/<name>",
        "request": {"description": described, "phase_results_processors": processors},
        "search": {"query": {"hybrid": {"queries": queries, "pagination_depth": found.depth}}},
        "search is for": "body of GET /<index>/_search?search_pipeline=<name>",
    }


def _qdrant(weights: dict[str, float], found: WeightedRRF) -> dict[str, Any]:
    request = {
        "prefetch": [{"query": f"<query of {name}>", "limit": found.depth} for name in weights],
        "query": {"rrf": {"k": found.constant, "weights": list(weights.values())}},
    }
    return {"for": "Qdrant 1.17 or newer: body of POST /collections/<name>/points/query", "request": request}
