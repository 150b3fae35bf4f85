"""The positions of each query in several files, and the Dataset of any of the queries."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Codes, Ints
from juryrank.data.names import natural_order
from juryrank.io.experts import aliases, file_names_for_shared
from juryrank.io.rows import concat, with_ranks
from juryrank.io.runs import Pieces, Runs
from juryrank.io.source import Source
from juryrank.io.sources import Options
from juryrank.kernels.threads import threads
from juryrank.polars import pl
from juryrank.scan import fast_tables
from juryrank.scan.opening import open_files
from juryrank.scan.parquet import TableFile
from juryrank.scan.query_file import CHUNK, Extents, QueryFile, Stretches
from juryrank.scan.trec_run import RunFile

AHEAD = 1  # chunks for each thread that are scanned before they are needed
NAME = 16  # bytes of a name in a column, in addition to its text
BLOCK_ROWS = 1 << 20  # of all tables together, in the blocks that are decoded at once
FALLS = 20  # as many may precede the query before them, and one of as many others
RUN_COLUMNS = frozenset({"score"})  # the columns of entries of runs


class Places(NamedTuple):
    """The places of queries in a file, by query number."""

    query: Codes  # ascending
    start: Ints
    stop: Ints

    def part(self, queries: range) -> Places:
        """Some queries."""
        first, last = np.searchsorted(self.query, (queries.start, queries.stop))
        return Places(self.query[first:last], self.start[first:last], self.stop[first:last])

    @property
    def in_order(self) -> bool:
        """Whether the queries are for the most part in the order of the file, so that it can be read once in blocks."""
        return int((np.diff(self.start) < 0).sum()) <= FALLS + len(self.start) // FALLS

    @property
    def extents(self) -> Extents:
        return list(zip(self.start.tolist(), self.stop.tolist(), strict=True))

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self)


class QueryFiles:
    """Several files, read together query by query."""

    def __init__(self, paths: Sequence[Path], format_name: str | None, options: Options, chunk: int = CHUNK) -> None:
        self.files = open_files(paths, format_name, options, chunk)
        self.queries, self.places = index_queries(self.files)
        for file in self.files:
            file.settle_experts()
        sources = [Source(file.path, b"") for file in self.files]
        self.names = file_names_for_shared([file.tag for file in self.files], sources, self._overlap)
        experts = [{name} if name else file.experts for file, name in zip(self.files, self.names, strict=True)]
        self.aliases = aliases([source.stem for source in sources], experts)
        self.columns = frozenset[str]().union(*(file.columns for file in self.files))
        # As when all files are read at once: if some lists have no scores, ranks are used for all.
        self.by_rank = {"rank", "score"} <= self.columns and any(file.lacks_scores for file in self.files)
        for file, _, places in self._all():
            if isinstance(file, TableFile) and file.columns == self.columns and not self.by_rank and places.in_order:
                file.prepare_blocks(BLOCK_ROWS // len(self.files) + 1)

    @property
    def most(self) -> int:
        """Bytes that a batch should not exceed."""
        return min(file.most for file in self.files)

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        names = int(self.queries.estimated_size()) + NAME * len(self.queries)
        return names + sum(places.nbytes for places in self.places)

    def batches(self, size: int) -> list[range]:
        """The queries in natural order, as many at a time as take about ``size`` bytes, at least one."""
        cost = np.zeros(len(self.queries), np.int64)
        for file, places in zip(self.files, self.places, strict=True):
            np.add.at(cost, places.query, file.weight * (places.stop - places.start))
        ends, first, out = np.cumsum(cost, out=cost), 0, []
        while first < len(ends):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + size, side="right")))
            out.append(range(first, last))
            first = last
        return out

    def read(self, queries: range) -> Dataset:
        """The Dataset of these queries."""
        chosen = [(file, name, places.part(queries)) for file, name, places in self._all()]
        chosen = [each for each in chosen if len(each[2].query)]
        runs = [(file, places) for file, _, places in chosen if isinstance(file, RunFile)]
        tables = [(file, name, places) for file, name, places in chosen if isinstance(file, TableFile)]
        fast = self._read_tables(tables, queries) if len(tables) == len(chosen) else None
        if len(runs) == len(chosen):
            fast = self._read_runs(runs)
        if fast is not None:
            return fast
        parts = [file.rows(places.extents).with_expert(name) for file, name, places in chosen]
        rows = concat(parts, f"{len(self.files)} files")
        if rows.entries is not None:
            missing = [pl.lit(None, pl.String if c == "list" else pl.Float64).alias(c) for c in sorted(self.columns)]
            missing = [column for column in missing if column.meta.output_name() not in rows.entries.columns]
            rows = replace(rows, entries=with_ranks(rows.entries.with_columns(missing), by_rank=self.by_rank))
        return rows.build()

    def _all(self) -> Iterator[tuple[QueryFile, str, Places]]:
        return zip(self.files, self.names, self.places, strict=True)

    def _read_tables(self, tables: Sequence[tuple[TableFile, str, Places]], queries: range) -> Dataset | None:
        """The Dataset of tables that ``fast_tables`` can read, else None."""
        parts = []
        for file, name, places in tables:
            entries = None if file.blocks is None else file.blocks.read(places.extents)
            if entries is None:
                return None
            order = np.argsort(places.start)  # in which the rows are read
            query = (places.query - queries.start)[order].astype(np.int64)
            query, at = np.repeat(query, (places.stop - places.start)[order]), 0
            for each in entries:
                named = each.renamed(name) if name else each
                parts.append(fast_tables.Part(named, query[at : at + len(each.expert)]))
                at += len(each.expert)
        return fast_tables.read(parts, self.queries[queries.start : queries.stop].to_list())

    def _read_runs(self, runs: Sequence[tuple[RunFile, Places]]) -> Dataset | None:
        """The Dataset of runs where ``Runs.dataset`` gives one, else None."""
        if self.columns != RUN_COLUMNS or any(self.names):
            return None
        sources, starts, sizes = [], [], []
        for file, places in runs:
            sources.append(file.source(places.extents))
            size = places.stop - places.start
            if len(sources[-1].data) != size.sum():
                return None  # a line ends in two bytes
            order, at = np.argsort(places.start), np.empty(len(size), np.int64)
            at[order] = np.cumsum(size[order]) - size[order]
            starts.append(at)
            sizes.append(size)
        source, start = np.repeat(np.arange(len(runs)), list(map(len, starts))), np.concatenate(starts)
        order = np.lexsort((start, source, np.concatenate([places.query for _, places in runs])))
        pieces = Pieces(source[order], start[order], (start + np.concatenate(sizes))[order])
        return Runs(sources, [file.run_columns for file, _ in runs], pieces).dataset()

    def _overlap(self, tag: str) -> bool:
        """Whether several files of one expert have the same query."""
        found = np.zeros(len(self.queries), bool)
        for file, places in zip(self.files, self.places, strict=True):
            if file.tag == tag:
                if found[places.query].any():
                    return True
                found[places.query] = True
        return False


def index_queries(files: Sequence[QueryFile]) -> tuple[pl.Series, list[Places]]:
    """The queries of all files in natural order, and their positions in each file."""
    chunks_of = [file.chunks() for file in files]
    for file, chunks in zip(files, chunks_of, strict=True):
        if not chunks:
            file.stretches([])  # the file is empty, which is an error
    tasks = ((n, files[n], chunk) for n, chunks in enumerate(chunks_of) for chunk in chunks)
    known, found = pl.Series(dtype=pl.String), list[Places]()
    with ThreadPoolExecutor(threads()) as pool:
        try:
            for n, done in groupby(_in_order(pool, tasks), key=itemgetter(0)):
                stretches = files[n].stretches(part for _, part in done)
                known, before = _sorted_union(known, stretches.query), known
                if len(before) < len(known):
                    moved = _positions(before, known)
                    found = [places._replace(query=moved[places.query]) for places in found]
                found.append(Places(_positions(stretches.query, known), stretches.start, stretches.stop))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # an error in a file is reported at once
            raise
    order = natural_order(known)
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return known.gather(order), [_by_query(number[places.query], places) for places in found]


def _in_order(pool: ThreadPoolExecutor, tasks: Iterable[tuple[int, QueryFile, int]]) -> Iterator[tuple[int, Stretches]]:
    """The stretches of the chunks of files; few are scanned ahead, since the results take memory."""
    under_way: deque[tuple[int, Future[Stretches]]] = deque()
    for n, file, chunk in tasks:
        under_way.append((n, pool.submit(file.stretches_in, chunk)))
        if len(under_way) > AHEAD * threads():
            first, done = under_way.popleft()
            yield first, done.result()
    for first, done in under_way:
        yield first, done.result()


def _sorted_union(known: pl.Series, names: pl.Series) -> pl.Series:
    """Known names and others, in alphabetical order; by sorting, which takes less memory than hashing."""
    if len(known):
        at = known.search_sorted(names).clip(upper_bound=len(known) - 1)
        names = names.filter(known.gather(at) != names)
        if not len(names):
            return known
    names = pl.concat([known, names]).sort()
    return names.filter((names != names.shift(1)).fill_null(True)).rechunk()


def _positions(names: pl.Series, ordered: pl.Series) -> Codes:
    """The position of each name among sorted names; all names must be among them."""
    return ordered.search_sorted(names).to_numpy().astype(np.int32)


def _by_query(query: Codes, places: Places) -> Places:
    if (query[1:] >= query[:-1]).all():  # the file is sorted
        return Places(query, places.start, places.stop)
    order = np.argsort(query, kind="stable")  # places increase within a file
    return Places(query[order], places.start[order], places.stop[order])
