"""From 25 TREC files on disk to one fused TREC file on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import juryrank
from juryrank.bench.agreement import of_scores
from juryrank.bench.inputs import Inputs
from juryrank.bench.peers import Peer, Scores, ranx_file_to_file
from juryrank.bench.table import Found, at_least, side_by_side

TASK = "RRF, 25 files to a file"


def measure(inputs: Inputs, slow: bool) -> Found:
    """Read, fuse, write."""
    folder, queries = inputs.run_files, list(inputs.data.queries)

    def ours() -> Path:
        return file_to_file(folder, inputs.folder / "fused.run")

    def prepare(ranx: ModuleType) -> Callable[[], Any]:
        files, out = sorted(folder.iterdir()), inputs.folder / "ranx.run"

        def call() -> Path:
            ranx_file_to_file(ranx, files, queries, out)
            return out

        return call

    def compare(ours: Path, theirs: Path) -> tuple[str, bool | None]:
        return of_scores(scores_in(ours), scores_in(theirs), inputs.data)

    rows = side_by_side(TASK, ours, [Peer("ranx", prepare)], compare)
    return rows, at_least("≥ 20× ranx from files to a file", rows, (TASK,), "ranx", 20)


def file_to_file(folder: Path, out: Path) -> Path:
    """Our way: one folder in, one file out."""
    data = juryrank.read(folder)
    juryrank.write(juryrank.method("rrf").fit(data).predict(data), out)
    return out


def scores_in(path: Path) -> Scores:
    """The scores in a TREC run."""
    scores: Scores = {}
    for line in path.read_text().splitlines():
        query, _, item, _, score, _ = line.split()
        scores.setdefault(query, {})[item] = float(score)
    return scores
