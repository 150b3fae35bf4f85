"""Three metrics of a fused ranking."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank as jr
from studies.speed.agreement import compare_values
from studies.speed.clock import Effort, time_call
from studies.speed.inputs import Inputs
from studies.speed.peers import Peer, Scores, load, silent
from studies.speed.table import Results, Row, side_by_side, skipped_row
from studies.speed.targets import at_least

METRICS = ("nDCG@10", "AP", "P@5")
RANX = ["ndcg@10", "map", "precision@5"]
N_QUERIES, LENGTH, SOME = 100_000, 100, 1_000
MANY = f"nDCG@10, AP, P@5 of {N_QUERIES * LENGTH / 1e6:.0f} M items"
TASK, FROM_DICTS = "nDCG@10, AP, P@5", "nDCG@10, AP, P@5, from dicts"


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Values per query and their mean, from the objects of each library and from plain dicts."""
    consensus = without_ties(jr.method("rrf").fit(inputs.data).predict(inputs.data))
    run, labels = consensus.to_dict(), inputs.labels
    rows = side_by_side(
        TASK,
        lambda: jr.evaluate(consensus, inputs.data, METRICS).values[0],
        [Peer("ranx", lambda ranx: ranx_means(ranx, ranx.Qrels(labels), ranx.Run(run)))],
        compare_values,
    )
    rows += side_by_side(
        FROM_DICTS,
        lambda: jr.evaluate(run, labels, METRICS).values[0],
        [
            Peer("ranx", lambda ranx: ranx_means(ranx, labels, run)),
            Peer("pytrec_eval", lambda package: pytrec_values(package, labels, run)),
            Peer("ir_measures", lambda package: ir_measures_means(package, labels, run)),
        ],
        compare_values,
    )
    rows += _of_many_queries()
    targets = at_least("evaluation ≥ 20× ranx", rows, (TASK,), "ranx", 20)
    for peer in ("pytrec_eval", "ranx"):
        targets += at_least(f"no slower than {peer}", rows, (FROM_DICTS,), peer, 1)
    return rows, targets


def _of_many_queries() -> list[Row]:
    """Ten million items of 100,000 queries; peers get some of the queries, and their time is scaled up."""
    data = many_queries()
    consensus = jr.Consensus(data.rankings, np.random.default_rng(0).permutation(data.rankings.n_slots).astype(float))
    ours = time_call(lambda: jr.evaluate(consensus, data, METRICS).values[0])[0]
    some, part = consensus.take(np.arange(SOME)), data.take(np.arange(SOME))
    run, values = some.to_dict(), jr.evaluate(some, part, METRICS).values[0]
    truth = jr.Consensus(part.rankings, part.slot_labels).to_dict()
    labels = {query: {item: int(label) for item, label in of.items()} for query, of in truth.items()}
    rows = []
    for name in ("ranx", "pytrec_eval"):
        package = load(name)
        if package is None:
            rows.append(skipped_row(MANY, name, ours))
            continue
        with silent():
            call: Callable[[], Any] = (
                ranx_means(package, package.Qrels(labels), package.Run(run))
                if name == "ranx"
                else pytrec_values(package, labels, run)
            )
            timing, found = time_call(call)
        text, agrees = compare_values(values, found)
        rows.append(Row(MANY, name, ours, timing.over(SOME / N_QUERIES), f"{text}; peer's time from {SOME:,}", agrees))
    return rows


def many_queries() -> jr.Dataset:
    """One list of 100 items for each of many queries, a tenth of them with labels above 0."""
    rng = np.random.default_rng(1)
    slots = N_QUERIES * LENGTH
    ptr = np.arange(0, slots + 1, LENGTH)
    item = (np.tile(np.arange(LENGTH), N_QUERIES) * 10 + rng.integers(0, 10, slots)).astype(np.int32)
    names = np.array([f"d{i:04d}" for i in range(10 * LENGTH)], object)
    queries = tuple(map(str, range(1, N_QUERIES + 1)))
    rankings = jr.Rankings(
        queries=queries, experts=("e",), items=names, slot_ptr=ptr, slot_item=item,
        list_ptr=np.arange(N_QUERIES + 1), list_expert=np.zeros(N_QUERIES, np.int32), list_weight=np.ones(N_QUERIES),
        entry_ptr=ptr, entry_slot=np.arange(slots, dtype=np.int32),
        entry_rank=np.tile(np.arange(1.0, LENGTH + 1), N_QUERIES),
    )  # fmt: skip
    label = np.where(rng.random(slots) < 0.1, rng.integers(1, 3, slots), 0).astype(float)
    labels = jr.Labels(queries=queries, items=names, label_ptr=ptr, label_item=item, label_value=label)
    return jr.Dataset(rankings=rankings, labels=labels)


def without_ties(consensus: jr.Consensus) -> jr.Consensus:
    """The same order with different scores, because libraries order equal scores differently."""
    scores = np.empty(len(consensus.scores))
    scores[consensus.order] = -np.arange(len(scores), dtype=float)
    return jr.Consensus(consensus.rankings, scores)


def ranx_means(ranx: ModuleType, labels: Any, run: Any) -> Callable[[], list[float]]:
    """The call of ranx for the means; it returns no values per query."""

    def call() -> list[float]:
        found = ranx.evaluate(labels, run, RANX, save_results_in_run=False)
        return [found[name] for name in RANX]

    return call


def pytrec_values(
    package: ModuleType, labels: dict[str, dict[str, int]], run: Scores
) -> Callable[[], NDArray[np.float64]]:
    """The call of pytrec_eval for the values per query."""
    names = ("ndcg_cut_10", "map", "P_5")

    def call() -> NDArray[np.float64]:
        found = package.RelevanceEvaluator(labels, set(names)).evaluate(run)
        return np.array([[found[query][name] for query in run] for name in names])

    return call


def ir_measures_means(package: ModuleType, labels: Any, run: Scores) -> Callable[[], list[float]]:
    """The call of ir_measures for the means."""
    metrics = [package.parse_measure(name) for name in METRICS]

    def call() -> list[float]:
        found = package.calc_aggregate(metrics, labels, run)
        return [found[metric] for metric in metrics]

    return call
