"""Thirty million entries, 3 experts × 100,000 queries × 100 items, from files to a file, each in a fresh process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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
PEAK = 600 << 20  # bytes of the whole process, for Parquet tables
ROUNDS = 3  # of our process and those of peers, in turns
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
    """TREC text and Parquet to TREC text, and Parquet to Parquet, against polars and DuckDB."""
    folders = write_files(inputs.folder / "large")
    tasks = [
        Task("TREC to a file", folders["TREC"], "out.run"),
        Task("Parquet to a file", folders["Parquet"], "out.run"),
        Task("Parquet to Parquet", folders["Parquet"], "out.parquet"),
    ]
    rows: list[Row] = []
    targets: list[Target] = []
    for task in tasks:
        more_rows, more_targets = _measure_task(task, effort)
        rows += more_rows
        targets += more_targets
    return rows, targets


class Task(NamedTuple):
    """From the files of a folder to a file beside it."""

    name: str
    folder: Path
    file: str

    @property
    def out(self) -> Path:
        return self.folder.parent / self.file

    def timed(self, code: str, **environment: str) -> Timing:
        """One process without the start of Python; memory is its peak."""
        text = AROUND.format(folder=str(self.folder), out=str(self.out), code=code)
        # DuckDB prints its progress.
        seconds, cpu, memory = json.loads(process(text, **environment).rpartition("RESULT")[2])
        return Timing(None, seconds, 1, cpu, memory)


def _measure_task(task: Task, effort: Effort) -> tuple[list[Row], list[Target]]:
    name = f"RRF, {N_ENTRIES / 1e6:.0f} M entries, {task.name}"
    peers = {peer: code for peer, code in PEERS.items() if load(peer) is not None}
    code = OURS.format(MEMORY)
    single = task.timed(code, JURYRANK_THREADS="1", POLARS_MAX_THREADS="1")
    content, sample = task.out.read_bytes(), sample_scores(task.out)
    spent: dict[str, list[Timing]] = {"ours": [], **{peer: [] for peer in peers}}
    same, agrees = True, dict.fromkeys(peers, True)
    for _ in range(effort.repetitions(ROUNDS)):  # in turns, so that other load affects all of them equally
        spent["ours"].append(task.timed(code))
        same &= task.out.read_bytes() == content
        for peer, query in peers.items():
            spent[peer].append(task.timed(query))
            agrees[peer] &= sample_scores(task.out).equals(sample)
    del content
    limit = task.timed(BARE).seconds
    best = {who: _fastest(timings) for who, timings in spent.items()}
    ours = best.pop("ours")
    rows = [Row(name, "ours, one thread", ours, single, f"{'identical' if same else 'different'} output", same, limit)]
    for peer in PEERS:
        if peer not in best:
            rows.append(skipped_row(name, peer, ours, limit))
            continue
        text = f"{'equal' if agrees[peer] else 'different'} scores of {SAMPLE} queries"
        rows.append(Row(name, peer, ours, best[peer], text, agrees[peer], limit))
    return rows, _targets(task, ours, single, best.get("polars"), same=same)


def _fastest(timings: Sequence[Timing]) -> Timing:
    """The fastest by the clock, the least CPU and the largest peak of memory."""
    memory = max(timing.memory or 0 for timing in timings)
    cpu = min(timing.cpu or 0.0 for timing in timings)
    return Timing(None, min(timing.seconds for timing in timings), len(timings), cpu, memory)


def _targets(task: Task, ours: Timing, single: Timing, polars: Timing | None, *, same: bool) -> list[Target]:
    memory, speedup = ours.memory or 0, single.seconds / ours.seconds
    fits = memory <= PER_ENTRY * N_ENTRIES + NAMES
    out = [
        Target(f"≤ {PER_ENTRY} bytes per entry plus names: {task.name}", f"{memory / N_ENTRIES:.1f} bytes", fits),
        Target(f"two threads ≥ 1.6×: {task.name}", times(speedup), speedup >= 1.6 and same),
    ]
    if task.folder.name == "Parquet":
        peak = f"{memory / 2**20:.0f} MiB"
        out.append(Target(f"peak ≤ {PEAK >> 20} MiB: {task.name}", peak, memory <= PEAK))
        if polars is not None:
            clock, cpu = polars.seconds / ours.seconds, (polars.cpu or 0.0) / (ours.cpu or 1.0)
            out.append(Target(f"faster than polars by the clock: {task.name}", times(clock), clock > 1))
            out.append(Target(f"faster than polars by CPU: {task.name}", times(cpu), cpu > 1))
    return out


def sample_scores(path: Path) -> pl.DataFrame:
    """The scores of some queries in a TREC run or a Parquet table, to ten digits."""
    if path.suffix == ".parquet":
        rows = pl.scan_parquet(path)
    else:
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
