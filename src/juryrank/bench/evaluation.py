"""Three metrics of a fused ranking."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank
from juryrank.bench.agreement import of_values
from juryrank.bench.inputs import Inputs
from juryrank.bench.peers import Peer, Scores
from juryrank.bench.table import Found, at_least, side_by_side
from juryrank.data import Consensus

METRICS = ("nDCG@10", "AP", "P@5")
RANX = ["ndcg@10", "map", "precision@5"]
TASK, FROM_DICTS = "nDCG@10, AP, P@5", "nDCG@10, AP, P@5, from dicts"


def measure(inputs: Inputs, slow: bool) -> Found:
    """Values per query and their mean, from what each library holds in memory and from plain dicts."""
    consensus = without_ties(juryrank.method("rrf").fit(inputs.data).predict(inputs.data))
    run, labels = consensus.to_dict(), inputs.labels
    rows = side_by_side(
        TASK,
        lambda: juryrank.evaluate(consensus, inputs.data, METRICS).values[0],
        [Peer("ranx", lambda ranx: ranx_means(ranx, ranx.Qrels(labels), ranx.Run(run)))],
        of_values,
    )
    rows += side_by_side(
        FROM_DICTS,
        lambda: juryrank.evaluate(run, labels, METRICS).values[0],
        [
            Peer("ranx", lambda ranx: ranx_means(ranx, labels, run)),
            Peer("pytrec_eval", lambda package: pytrec_values(package, labels, run)),
            Peer("ir_measures", lambda package: ir_measures_means(package, labels, run)),
        ],
        of_values,
    )
    return rows, at_least("evaluation ≥ 20× ranx", rows, (TASK,), "ranx", 20)


def without_ties(consensus: Consensus) -> Consensus:
    """The same order with different scores, because every library orders equal scores in its own way."""
    scores = np.empty(len(consensus.scores))
    scores[consensus.order] = -np.arange(len(scores), dtype=float)
    return Consensus(consensus.rankings, scores)


def ranx_means(ranx: ModuleType, labels: Any, run: Any) -> Callable[[], list[float]]:
    """The call by which ranx gives the means; it has no values per query unless it writes them into the run."""

    def call() -> list[float]:
        found = ranx.evaluate(labels, run, RANX, save_results_in_run=False)
        return [found[name] for name in RANX]

    return call


def pytrec_values(
    package: ModuleType, labels: dict[str, dict[str, int]], run: Scores
) -> Callable[[], NDArray[np.float64]]:
    """The call by which pytrec_eval gives the values per query."""
    names = ("ndcg_cut_10", "map", "P_5")

    def call() -> NDArray[np.float64]:
        found = package.RelevanceEvaluator(labels, set(names)).evaluate(run)
        return np.array([[found[query][name] for query in run] for name in names])

    return call


def ir_measures_means(package: ModuleType, labels: Any, run: Scores) -> Callable[[], list[float]]:
    """The call by which ir_measures gives the means."""
    metrics = [package.parse_measure(name) for name in METRICS]

    def call() -> list[float]:
        found = package.calc_aggregate(metrics, labels, run)
        return [found[metric] for metric in metrics]

    return call
