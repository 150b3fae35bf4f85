"""From 25 TREC files on disk to one fused TREC file on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import juryrank as jr
from studies.speed.agreement import compare_scores
from studies.speed.clock import Effort
from studies.speed.inputs import Inputs
from studies.speed.peers import Peer, Scores, ranx_file_to_file, trectools_file_to_file
from studies.speed.queries import duckdb_to_file, polars_rows, polars_scan, polars_to_file
from studies.speed.table import Results, side_by_side
from studies.speed.targets import at_least, at_most_times

TASK, READING = "RRF, 25 files to a file", "25 files read"


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Read, fuse and write; and reading alone, against polars, which reads the same bytes into columns."""
    files, queries = sorted(inputs.run_files.iterdir()), list(inputs.data.queries)

    def to(name: str, call: Callable[..., Any], *args: Any) -> Callable[[ModuleType], Callable[[], Path]]:
        out = inputs.folder / f"{name}.run"

        def prepare(package: ModuleType) -> Callable[[], Path]:
            def run() -> Path:
                call(*((package, files, queries) if name == "ranx" else (files,)), *args, out)
                return out

            return run

        return prepare

    def compare(ours: Path, theirs: Path) -> tuple[str, bool | None]:
        return compare_scores(scores_in(ours), scores_in(theirs), inputs.data)

    peers = [
        Peer("polars", to("polars", polars_to_file)),
        Peer("duckdb", to("duckdb", duckdb_to_file)),
        Peer("ranx", to("ranx", ranx_file_to_file)),
        Peer("trectools", to("trectools", trectools_file_to_file)),
    ]
    out = inputs.folder / "fused.run"
    rows = side_by_side(
        TASK, lambda: file_to_file(inputs.run_files, out), peers, compare, bare=lambda: polars_scan(files)
    )
    scanned = Peer("polars", lambda package: lambda: polars_rows(files).collect(), note="columns of text")
    rows += side_by_side(READING, lambda: jr.read(inputs.run_files), [scanned], _same_entries)
    targets = at_least("≥ 50× ranx from files to a file", rows, (TASK,), "ranx", 50)
    targets += at_least("≥ 1.3× a polars query", rows, (TASK,), "polars", 1.3)
    targets += at_least("faster than a DuckDB query", rows, (TASK,), "duckdb", 1)
    return rows, [*targets, *at_most_times("reading ≤ 2× polars' own scan", rows, (READING,), "polars", 2)]


def _same_entries(ours: Any, theirs: Any) -> tuple[str, bool | None]:
    same = ours.rankings.n_entries == theirs.height
    return ("the same number of entries" if same else "another number of entries"), same


def file_to_file(folder: Path, out: Path) -> Path:
    """From a folder to a file by juryrank."""
    data = jr.read(folder)
    jr.write(jr.method("rrf").fit(data).predict(data), out)
    return out


def scores_in(path: Path) -> Scores:
    """The scores in a TREC run."""
    scores: Scores = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, item, _, score, _ = line.split()
        scores.setdefault(query, {})[item] = float(score)
    return scores
