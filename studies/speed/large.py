"""Thirty million entries, 3 experts × 100,000 queries × 100 items, from files to a file, each in a fresh process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from studies.speed.clock import Effort, Timing, process
from studies.speed.inputs import Inputs
from studies.speed.peers import load
from studies.speed.queries import SCHEMA
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import Target, times

N_EXPERTS, N_QUERIES, LENGTH, STEP = 3, 100_000, 100, 10_000
N_ENTRIES = N_EXPERTS * N_QUERIES * LENGTH
COLLECTION, POOL = 1_000_000, 200  # items in total, and items from which the experts choose for a query
MEMORY = 300_000_000  # limit for juryrank, without the program itself
PER_ENTRY = 24  # bytes
NAMES = COLLECTION * 11 + N_QUERIES * 6  # bytes of all names
SAMPLE = 50  # queries whose scores are compared

OURS = "import juryrank as jr; jr.rank_files(files, jr.method('rrf'), out, memory={})"
PEERS = {
    "polars": "from studies.speed.queries import polars_to_file; polars_to_file(files, out)",
    "duckdb": "from studies.speed.queries import duckdb_to_file; duckdb_to_file(files, out)",
}
BARE = "from studies.speed.queries import polars_scan; polars_scan(files)"
AROUND = """
import json, time
from pathlib import Path
files, out = sorted(Path({folder!r}).iterdir()), Path({out!r})
start, busy = time.perf_counter(), time.process_time()
{code}
spent = [time.perf_counter() - start, time.process_time() - busy]
from studies.speed.clock import memory_since  # getrusage would include the parent process
print("RESULT", json.dumps([*spent, memory_since(0)]))
"""


def measure(inputs: Inputs, effort: Effort) -> Results:
    """TREC text and Parquet, in one and two threads, against polars and DuckDB."""
    rows: list[Row] = []
    targets: list[Target] = []
    for form, folder in write_files(inputs.folder / "large").items():
        task = f"RRF, {N_ENTRIES / 1e6:.0f} M entries, {form} to a file"
        ours, out = _timed(OURS.format(MEMORY), folder), folder.parent / "out.run"
        content = out.read_bytes()
        single = _timed(OURS.format(MEMORY), folder, JURYRANK_THREADS="1", POLARS_MAX_THREADS="1")
        same = out.read_bytes() == content
        del content
        limit = _timed(BARE, folder).seconds
        sample = sample_scores(out)
        text = "identical output" if same else "different output"
        rows.append(Row(task, "ours, one thread", ours, single, text, same, limit))
        for peer, code in PEERS.items():
            if load(peer) is None:
                rows.append(skipped_row(task, peer, ours, limit))
                continue
            spent = _timed(code, folder)
            agrees = sample_scores(out).equals(sample)
            text = f"{'equal' if agrees else 'different'} scores of {SAMPLE} queries"
            rows.append(Row(task, peer, ours, spent, text, agrees, limit))
        per_entry = (ours.memory or 0) / N_ENTRIES
        fits = (ours.memory or 0) <= PER_ENTRY * N_ENTRIES + NAMES
        targets.append(Target(f"≤ {PER_ENTRY} bytes per entry plus names: {form}", f"{per_entry:.1f} bytes", fits))
        speedup = single.seconds / ours.seconds
        targets.append(Target(f"two threads ≥ 1.6×: {form}", times(speedup), speedup >= 1.6 and same))
    return rows, targets


def _timed(code: str, folder: Path, **environment: str) -> Timing:
    """One process without the start of Python; memory is its peak."""
    text = AROUND.format(folder=str(folder), out=str(folder.parent / "out.run"), code=code)
    # DuckDB prints its progress.
    seconds, cpu, memory = json.loads(process(text, **environment).rpartition("RESULT")[2])
    return Timing(None, seconds, 1, cpu, memory)


def sample_scores(path: Path) -> pl.DataFrame:
    """The scores of some queries in a TREC run, to ten digits."""
    rows = pl.scan_csv(path, has_header=False, separator=" ", quote_char=None, schema=SCHEMA)
    chosen = rows.filter(pl.col("query").is_in([str(q) for q in range(1, SAMPLE + 1)]))
    return chosen.select("query", "item", pl.col("score").round(10)).sort("query", "item").collect()


def write_files(folder: Path) -> dict[str, Path]:
    """The same entries as TREC text and as Parquet, one file per expert."""
    paths = {form: folder / form for form in ("TREC", "Parquet")}
    for path in paths.values():
        path.mkdir(parents=True)
    for e in range(N_EXPERTS):
        parts = []
        with (paths["TREC"] / f"e{e}.run").open("wb") as file:
            for rows in _lists(e):
                file.write(rows.write_csv(include_header=False, separator=" ", quote_style="never").encode())
                parts.append(rows.select("query", "item", "score", "expert"))
        pl.concat(parts).write_parquet(paths["Parquet"] / f"e{e}.parquet")
    return paths


def _lists(expert: int) -> Iterator[pl.DataFrame]:
    rng = np.random.default_rng(expert)
    names = pl.Series([f"doc-{i:07d}" for i in range(COLLECTION)])
    apart = COLLECTION // POOL
    for first in range(0, N_QUERIES, STEP):
        pool = np.random.default_rng(first).integers(0, apart, (STEP, POOL)) + apart * np.arange(POOL)
        chosen = rng.random((STEP, POOL)).argsort(1)[:, :LENGTH]
        query = pl.Series([str(q + 1) for q in range(first, first + STEP)])
        yield pl.DataFrame(
            {
                "query": query.gather(np.repeat(np.arange(STEP), LENGTH)),
                "iteration": pl.Series(["Q0"]).new_from_index(0, STEP * LENGTH),
                "item": names.gather(np.take_along_axis(pool, chosen, 1).ravel()),
                "rank": np.tile(np.arange(1, LENGTH + 1), STEP),
                "score": (-np.sort(-rng.random((STEP, LENGTH)), axis=1)).round(6).ravel(),
                "expert": pl.Series([f"e{expert}"]).new_from_index(0, STEP * LENGTH),
            }
        )
