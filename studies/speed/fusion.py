"""Fusion of all queries in memory, and the step before it: from dicts to the objects of a library."""

from __future__ import annotations

import pickle
import statistics
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies.speed.agreement import compare_scores
from studies.speed.clock import Effort, time_in_turns
from studies.speed.inputs import Inputs, ranx_runs
from studies.speed.peers import Peer, Scores, pyflagr, ranx_fuse, ranx_scores
from studies.speed.queries import duckdb_rrf, polars_rrf, scores_of
from studies.speed.table import Results, Row, side_by_side
from studies.speed.targets import Target, at_least, times

COPIES = 9
FROM_FILE = "reads and writes files"


def cases(inputs: Inputs) -> dict[str, tuple[dict[str, Any], list[Peer]]]:
    """By task: our method, with the parameters that give the peer's formula, and the peers."""

    def ranx(method: str, note: str = "", norm: str | None = None) -> Peer:
        return ranx_fuse(lambda: inputs.ranx_runs, method, note, norm)

    def flagr(module: str, kind: str, note: str = FROM_FILE) -> Peer:
        return pyflagr(module, kind, lambda: inputs.pyflagr_table, note)

    return {
        "RRF": ({"name": "rrf", "ranks": "dense"}, [ranx("rrf"), *_queries(inputs), _trectools(inputs)]),
        "Borda": ({"name": "borda", "missing": "mean"}, [ranx("bordafuse"), flagr("Linear", "BordaCount")]),
        "CombMNZ": ({"name": "combmnz", "norm": "min-max"}, [ranx("mnz", norm="min-max")]),
        "Condorcet": (
            {"name": "condorcet"},
            [ranx("condorcet", "ranx depends on the hash seed"), flagr("Majoritarian", "CondorcetWinners")],
        ),
        "Copeland": ({"name": "copeland"}, [flagr("Majoritarian", "CopelandWinners")]),
        "MC4": ({"name": "mc4"}, [flagr("MarkovChains", "MC4", f"{FROM_FILE}, breaks on partial lists")]),
    }


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Every method in memory; RRF also from and to plain dicts."""

    def compare(ours: Any, theirs: Scores) -> tuple[str, bool | None]:
        return compare_scores(ours.to_dict() if isinstance(ours, jr.Consensus) else ours, theirs, inputs.data)

    rows = _building(inputs)
    for task, (ours, peers) in cases(inputs).items():
        rows += side_by_side(task, fusion(inputs, **ours), peers, compare, bare=bare_pass(inputs.data.rankings))
    fuse = fusion(inputs, name="rrf", ranks="dense")
    to_dicts = Peer("ranx", _ranx_to_dicts(inputs))
    rows += side_by_side("RRF, out to dicts", lambda: fuse().to_dict(), [to_dicts], compare)
    ratio = _prediction_to_pass(inputs)
    within = Target("a prediction by RRF ≤ 4× a bare pass over its arrays", times(ratio), ratio <= 4)
    tasks = ("RRF", "Borda", "CombMNZ", "Condorcet")
    return rows, [*at_least("≥ 500× ranx in memory", rows, tasks, "ranx", 500), within]


def fusion(inputs: Inputs, **ours: Any) -> Callable[[], jr.Consensus]:
    """Our call: scores and order of every query, from arrays."""
    model = jr.method(**ours)

    def call() -> jr.Consensus:
        data = inputs.fresh_data()
        consensus = model.fit(data).predict(data)
        consensus.order  # noqa: B018 (computed when first asked for)
        return consensus

    return call


def bare_pass(r: jr.Rankings) -> Callable[[], None]:
    """One pass over all arrays that fusion reads, and one array that is written."""
    out = np.empty(r.n_slots)

    def call() -> None:
        for array in (r.slot_ptr, r.list_ptr, r.entry_ptr, r.list_weight, r.entry_slot, r.entry_rank):
            array.sum()
        out.fill(0.0)

    return call


def _prediction_to_pass(inputs: Inputs) -> float:
    """How much longer a prediction takes than the pass, in turns; the median over copies, as memory layout matters."""
    ratios = []
    for _ in range(COPIES):
        r = pickle.loads(pickle.dumps(inputs.data.rankings))
        predict, bare = time_in_turns([partial(jr.method("rrf").fit(r).predict, r), bare_pass(r)], rounds=50)
        ratios.append(predict.seconds / bare.seconds)
    return statistics.median(ratios)


def _queries(inputs: Inputs) -> list[Peer]:
    """polars and DuckDB over a frame that is in memory."""

    def polars(package: ModuleType) -> Callable[[], Any]:
        rows = inputs.entries.with_columns(score=-pl.col("rank"))
        return lambda: polars_rrf(rows.lazy()).collect()

    def duckdb(package: ModuleType) -> Callable[[], Any]:
        rows = inputs.entries.with_columns(score=-pl.col("rank"))
        connection = package.connect()
        connection.register("entries", rows)
        return lambda: pl.DataFrame(connection.sql(duckdb_rrf("entries")))

    return [Peer("polars", polars, plain=scores_of), Peer("duckdb", duckdb, plain=scores_of)]


def _trectools(inputs: Inputs) -> Peer:
    """trectools over its own runs."""

    def prepare(package: ModuleType) -> Callable[[], Any]:
        runs = [package.TrecRun(str(path)) for path in sorted(inputs.run_files.iterdir())]
        fuse = import_module("trectools.fusion").reciprocal_rank_fusion
        return lambda: fuse(runs, k=60)

    def plain(run: Any) -> Scores:
        frame = run.run_data
        return scores_of(pl.DataFrame({name: frame[name].to_list() for name in ("query", "docid", "score")}))

    return Peer("trectools", prepare, plain=plain, note="breaks ties by position")


def _ranx_to_dicts(inputs: Inputs) -> Callable[[ModuleType], Callable[[], Any]]:
    def prepare(ranx: ModuleType) -> Callable[[], Any]:
        runs = inputs.ranx_runs
        return lambda: ranx_scores(ranx.fuse(runs, norm=None, method="rrf"))

    return prepare


def _building(inputs: Inputs) -> list[Row]:
    """From ``{expert: {query: {item: score}}}`` to a Dataset, or to ranx's runs."""

    def compare(ours: Any, theirs: Any) -> tuple[str, bool | None]:
        same = ours.rankings.n_entries == sum(len(run.run[query]) for run in theirs for query in run.keys())  # noqa: SIM118
        return ("the same number of entries" if same else "another number of entries"), same

    def prepare(ranx: ModuleType) -> Callable[[], Any]:
        return lambda: ranx_runs(inputs.dicts)

    peer = Peer("ranx", prepare)
    return side_by_side("dicts in to 25 lists per query", lambda: jr.from_dicts(inputs.dicts), [peer], compare)
