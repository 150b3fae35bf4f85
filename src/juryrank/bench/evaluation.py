"""nDCG@10 of a fused ranking."""

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
from juryrank.bench.table import Found, side_by_side
from juryrank.data import Consensus


def measure(inputs: Inputs, slow: bool) -> Found:
    """Values per query and their mean, from what each library holds in memory and from plain dicts."""
    consensus = without_ties(juryrank.method("rrf").fit(inputs.data).predict(inputs.data))
    run, labels = consensus.to_dict(), inputs.labels
    rows = side_by_side(
        "nDCG@10",
        lambda: juryrank.evaluate(consensus, inputs.data, "nDCG@10").values[0, 0],
        [Peer("ranx", lambda ranx: ranx_mean(ranx, ranx.Qrels(labels), ranx.Run(run)))],
        of_values,
    )
    rows += side_by_side(
        "nDCG@10, from dicts",
        lambda: juryrank.evaluate(run, labels, "nDCG@10").values[0, 0],
        [
            Peer("ranx", lambda ranx: ranx_mean(ranx, labels, run)),
            Peer("pytrec_eval", lambda package: pytrec_values(package, labels, run)),
        ],
        of_values,
    )
    return rows, []


def without_ties(consensus: Consensus) -> Consensus:
    """The same order with different scores, because every library orders equal scores in its own way."""
    scores = np.empty(len(consensus.scores))
    scores[consensus.order] = -np.arange(len(scores), dtype=float)
    return Consensus(consensus.rankings, scores)


def ranx_mean(ranx: ModuleType, labels: Any, run: Any) -> Callable[[], float]:
    """The call by which ranx gives the mean; it has no values per query unless it writes them into the run."""
    return lambda: ranx.evaluate(labels, run, "ndcg@10", save_results_in_run=False)


def pytrec_values(
    package: ModuleType, labels: dict[str, dict[str, int]], run: Scores
) -> Callable[[], NDArray[np.float64]]:
    """The call by which pytrec_eval gives the values per query."""

    def call() -> NDArray[np.float64]:
        found = package.RelevanceEvaluator(labels, {"ndcg_cut_10"}).evaluate(run)
        return np.array([found[query]["ndcg_cut_10"] for query in run])

    return call
