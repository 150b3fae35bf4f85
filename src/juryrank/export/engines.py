"""Search engines that take only weights: the weighted RRF nearest to a model, and how much it loses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares, nnls

from juryrank.data import Consensus, Dataset
from juryrank.data.rankings import Floats, freeze
from juryrank.errors import DataError
from juryrank.export.table import PositionTable
from juryrank.methods import Aggregator, method
from juryrank.metrics import Truth, parse_metric
from juryrank.metrics.kendall import KendallTau

CONSTANTS = (1, 2, 5, 10, 20, 40, 60, 100, 200, 400, 1000)  # rank constants that are tried


@dataclass(frozen=True, eq=False)
class WeightedRRF:
    """Weights and a rank constant that an engine understands, with what they lose against the full model."""

    dialect: str
    experts: tuple[str, ...]
    weights: Floats
    constant: int
    tau: float  # mean Kendall tau-b between its order and the model's, over the queries of the data
    loss: dict[str, tuple[float, float, float]]  # by metric: the model, this, plain RRF

    def __post_init__(self) -> None:
        freeze(self)

    def model(self) -> Aggregator:
        """The same ranking as a method of juryrank."""
        weights = {name: float(w) for name, w in zip(self.experts, self.weights, strict=True)}
        return method("rrf", dialect=self.dialect, k=float(self.constant), weights=weights)


def nearest_rrf(
    table: PositionTable, data: Dataset, dialect: str, metrics: Sequence[str] = ("nDCG@10", "AP")
) -> WeightedRRF:
    """The weighted RRF whose points are nearest to the table's over the entries of ``data``.

    For each rank constant the weights are a non-negative least-squares fit of the points, where entries near the top
    count more; the constant whose order agrees best with the model's is taken. Labels play no part in the choice.
    """
    if not data.rankings.n_entries:
        raise DataError("the data has no entries, so there is nothing to fit weights to")
    wanted = Consensus(data.rankings, table.scores(data.rankings))
    best: WeightedRRF | None = None
    for constant in CONSTANTS:
        weights = _fitted(table, data, dialect, constant)
        found = WeightedRRF(dialect, data.experts, weights, constant, 0.0, {})
        tau = _agreement(wanted, found.model().fit(data).predict(data))
        if best is None or tau > best.tau:
            best = WeightedRRF(dialect, data.experts, weights, constant, tau, {})
    assert best is not None
    loss = {} if data.labels is None else _losses(wanted, best, data, metrics)
    return WeightedRRF(dialect, best.experts, best.weights, best.constant, best.tau, loss)


def _fitted(table: PositionTable, data: Dataset, dialect: str, constant: int) -> Floats:
    """Weights of the experts of the data; the largest is 1."""
    row = data.rankings.places_in(table.experts)
    rank = np.arange(1.0, table.depth + 1)
    top = 1.0 / np.sqrt(rank)  # an entry at rank r counts 1/r
    curves = np.vstack([table.points, table.other])[row] - table.other[-1]
    if dialect == "qdrant":
        weights = _fitted_inside(curves, rank, top, constant)
    else:
        unit = 1.0 / (constant + rank)
        weights = np.array([nnls((unit * top)[:, None], curve * top)[0][0] for curve in curves])
    if not weights.max(initial=0.0) > 0:
        raise DataError("no expert helps in this model, so no weights can stand for it")
    return weights / weights.max() if dialect != "qdrant" else weights


def _fitted_inside(curves: Floats, rank: Floats, top: Floats, constant: int) -> Floats:
    """Weights that divide ranks, 1 / (rank / w + k - 1), and one scale for all that is fitted and forgotten."""

    def residual(at: Floats) -> Floats:
        weights, scale = np.exp(at[:-1]), np.exp(at[-1])
        given = scale / (rank / weights[:, None] + constant - 1)
        flat: Floats = ((given - curves) * top).ravel()
        return flat

    start = np.append(np.zeros(len(curves)), np.log(max(curves.max(), 1e-9) * constant))
    answer = least_squares(residual, start, bounds=(-9, 9 + abs(start[-1])), max_nfev=200)
    weights: Floats = np.exp(answer.x[:-1])
    return np.where(weights < 1e-3, 0.0, weights)


def _agreement(one: Consensus, other: Consensus) -> float:
    r = one.rankings
    rank = np.empty(r.n_slots)
    rank[one.order] = np.arange(r.n_slots)
    truth = Truth(Dataset(rankings=r, reference=rank - np.repeat(r.slot_ptr[:-1], r.query_size) + 1.0))
    values = KendallTau().per_query(truth.judge(other, convention="letor"))
    return float(np.nanmean(values)) if not np.isnan(values).all() else 1.0


def _losses(
    wanted: Consensus, found: WeightedRRF, data: Dataset, metrics: Sequence[str]
) -> dict[str, tuple[float, float, float]]:
    truth = Truth(data)
    ranked = [wanted, found.model().fit(data).predict(data), method("rrf").fit(data).predict(data)]
    judged = [truth.judge(consensus) for consensus in ranked]
    return {
        text: tuple(float(np.nanmean(parse_metric(text).per_query(j))) for j in judged)  # type: ignore[misc]
        for text in metrics
    }


def to_engine(found: WeightedRRF) -> str:
    """The part of a search request that holds the weights; one retriever or prefetch per expert goes in its place."""
    weights = {name: round(float(w), 6) for name, w in zip(found.experts, found.weights, strict=True)}
    if found.dialect == "elasticsearch":
        retrievers = [{"retriever": {"<": name}, "weight": w} for name, w in weights.items()]
        body: dict[str, object] = {"retriever": {"rrf": {"retrievers": retrievers, "rank_constant": found.constant}}}
    elif found.dialect == "opensearch":
        combination = {
            "technique": "rrf",
            "rank_constant": found.constant,
            "parameters": {"weights": list(weights.values())},
        }
        processor = {"score-ranker-processor": {"combination": combination}}
        body = {"description": f"queries in this order: {', '.join(weights)}", "phase_results_processors": [processor]}
    else:
        body = {
            "prefetch": [{"<": name} for name in weights],
            "query": {"rrf": {"k": found.constant, "weights": list(weights.values())}},
        }
    lost = {
        metric: {"model": round(a, 4), "these weights": round(b, 4), "plain RRF": round(c, 4)}
        for metric, (a, b, c) in found.loss.items()
    }
    measured = {"kendall tau with the model": round(found.tau, 4), **lost}
    return json.dumps({"request": body, "measured": measured}, indent=1, ensure_ascii=False) + "\n"
