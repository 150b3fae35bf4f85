"""One file that is read query by query: a TREC run or a Parquet table, and where each query stands in it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np
import polars as pl

from juryrank.errors import DataError
from juryrank.kernels.run_lines import query_starts
from juryrank.readers import table, tabular, trec_qrels, trec_run, usual_runs
from juryrank.readers.experts import some_tags
from juryrank.readers.formats import named, of_data, recognised
from juryrank.readers.gather import Options, demand_options, no_lists
from juryrank.readers.inputs import warn_of_strange
from juryrank.readers.layout import Layout, layout
from juryrank.readers.long import Long
from juryrank.readers.source import GZIP, HEAD_BYTES, PARQUET, ZSTD, Source, files_in, plain_lines

CHUNK = 1 << 23  # bytes, or rows times 8, that are looked at in one piece
SCATTERED = 4  # stretches per query up to which a file counts as sorted

Stretches = Sequence[tuple[int, int]]  # from and to
Extents = dict[str, list[tuple[int, int]]]  # by query


@dataclass
class QueryFile(ABC):
    """One file and where each query stands in it."""

    path: Path
    options: Options
    extents: Extents = field(default_factory=dict)
    advice = ""
    weight = 1  # bytes in memory for each unit of a stretch, about
    most = 1 << 28  # bytes of a batch, above which nothing is gained

    @abstractmethod
    def chunks(self) -> list[int]:
        """Where the parts start that can be looked through side by side."""

    @abstractmethod
    def stretches_in(self, chunk: int) -> list[tuple[str, int, int]]:
        """Query, from and to, in the order of the file, for what begins in a chunk; neighbours may be of one query."""

    def note(self, chunks: Iterable[list[tuple[str, int, int]]]) -> None:
        """Remember where queries stand."""
        stretches, last = 0, None
        for query, start, stop in chain.from_iterable(chunks):
            known = self.extents.setdefault(query, [])
            if query == last:
                known[-1] = (known[-1][0], stop)
                continue
            known.append((start, stop))
            stretches, last = stretches + 1, query
            if stretches > SCATTERED * len(self.extents) + 1000:
                raise DataError(
                    f"{self.path}: the rows of a query must stand together to be read query by query, but "
                    f"{len(self.extents)} queries stand in {stretches} places so far; {self.advice}"
                )

    @abstractmethod
    def rows(self, stretches: Stretches) -> Long:
        """What stands in some stretches."""


class RunFile(QueryFile):
    """A TREC run; stretches are bytes."""

    advice = "sort it by its first column (sort -s -k1,1), or rank it without a limit of memory"
    weight = 8
    most = 1 << 25  # above it, names no longer fit into the cache of a core

    def chunks(self) -> list[int]:
        return list(range(0, self.path.stat().st_size, CHUNK))

    def stretches_in(self, chunk: int) -> list[tuple[str, int, int]]:
        with self.path.open("rb") as file:
            file.seek(max(chunk - 1, 0))
            first = chunk + len(file.readline()) - 1 if chunk else 0  # the first line that starts in the chunk
            if first >= chunk + CHUNK:  # one line goes through all of it
                return []
            data = file.read(chunk + CHUNK - first)
            data += b"" if data.endswith(b"\n") else file.readline()
        data += b"" if data.endswith(b"\n") else b"\n"
        end = len(data)
        words = np.frombuffer(bytearray().join([data, usual_runs.padding(end)]), np.uint64)
        starts, stops = np.empty(end // 2 + 1, np.int64), np.empty(end // 2 + 1, np.int64)
        count = query_starts(words, end, starts, stops)
        edges = [*starts[:count].tolist(), end]
        return [
            (self._word(data[edges[n] : stop]), first + edges[n], first + edges[n + 1])
            for n, stop in enumerate(stops[:count].tolist())
        ]

    def _word(self, text: bytes) -> str:
        word = text.strip()
        return (word if word.isascii() else plain_lines(self.path, word)).decode()

    def tags(self) -> set[str]:
        """The tags in some places of the file."""
        return some_tags(lambda start, stop: self._bytes([(start, stop)]), self.path.stat().st_size)

    def source(self, stretches: Stretches) -> Source:
        """The lines of some stretches."""
        return Source(self.path, plain_lines(self.path, self._bytes(stretches)))

    def _bytes(self, stretches: Stretches) -> bytes:
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            return b"".join(os.pread(descriptor, stop - start, start) for start, stop in _merged(stretches))
        finally:
            os.close(descriptor)

    def rows(self, stretches: Stretches) -> Long:
        try:
            source = self.source(stretches)
            with source.reading():
                return trec_run.read(source)
        except DataError:
            self._fail_at_its_line(stretches)
            raise

    def _fail_at_its_line(self, stretches: Stretches) -> None:
        """Raise the error again with the line it has in the whole file."""
        for stretch in stretches:
            with self.path.open("rb") as file:
                before = file.read(stretch[0]).count(b"\n")
            trec_run.read(replace(self.source([stretch]), first_line=before + 1))


class TableFile(QueryFile):
    """A Parquet table; stretches are rows."""

    advice = "sort it by its column of queries, as polars' scan_parquet, sort and sink_parquet do beyond memory"
    weight = 500

    @cached_property
    def layout(self) -> Layout:
        """Which column is which, by the whole table."""
        found = layout(pl.scan_parquet(self.path), **self.options, name=str(self.path))
        if "query" not in found.found:
            raise DataError(f"{self.path}: a table that is read query by query needs a column 'query'")
        if not found.ordered:
            raise DataError(no_lists(str(self.path)))
        return found

    def chunks(self) -> list[int]:
        return list(range(0, pl.scan_parquet(self.path).select(pl.len()).collect().item(), CHUNK // 8))

    def stretches_in(self, chunk: int) -> list[tuple[str, int, int]]:
        frame = pl.scan_parquet(self.path)
        runs = frame.select(pl.col(self.layout.found["query"]).cast(pl.String)).slice(chunk, CHUNK // 8).collect()
        rows = runs.to_series().rle().struct.unnest().rows()
        ends = accumulate((row[0] for row in rows), initial=chunk)
        return [(row[1], start, stop) for row, (start, stop) in zip(rows, pairwise(ends), strict=True)]

    def rows(self, stretches: Stretches) -> Long:
        merged = _merged(stretches)
        frame = pl.scan_parquet(self.path)
        rows = pl.concat([frame.slice(start, stop - start) for start, stop in merged]).collect()

        def fail(row: int, expected: str) -> DataError:
            for start, stop in merged:
                if row < stop - start:
                    return tabular.failing_in(str(self.path))(start + row, expected)
                row -= stop - start
            return tabular.failing_in(str(self.path))(row, expected)

        return table.rows_of(rows, self.layout, name=str(self.path), expert=self.path.stem, fail=fail)


def opened(paths: Sequence[Path], format_name: str | None, options: Options) -> list[QueryFile]:
    """The files, and those of folders without what is no data."""
    out = []
    for path in paths:
        if not path.is_dir():
            out.append(_opened(path, format_name, options))
            continue
        strange = [file for file in files_in(path) if not of_data(file) and _is_strange(file)]
        inside = [file for file in files_in(path) if file not in strange]
        out += [_opened(file, format_name, options) for file in inside or strange]
        if inside:
            warn_of_strange(path, strange)
    return out


def _is_strange(path: Path) -> bool:
    try:
        return recognised(_beginning(path)) is None
    except DataError:
        return True


def _opened(path: Path, format_name: str | None, options: Options) -> QueryFile:
    source = _beginning(path)
    if source.parquet:
        file = TableFile(path, options)
        assert file.layout  # what is wrong with it is said before the work
        return file
    if source.data.startswith((GZIP, ZSTD)):
        raise DataError(f"{path}: a compressed file cannot be read query by query; unpack it, or use Parquet")
    found = named(format_name) if format_name else recognised(source)
    if found is trec_qrels:
        raise DataError(no_lists(str(path)))
    if found is not trec_run:
        raise DataError(f"{path}: only TREC runs and Parquet tables are read query by query; convert the file first")
    demand_options(trec_run, options, str(path))
    return RunFile(path, options)


def _beginning(path: Path) -> Source:
    """The first lines of a file, or its first bytes where it is compressed or Parquet."""
    try:
        with path.open("rb") as file:
            start = file.read(HEAD_BYTES)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if start.startswith((PARQUET, GZIP, ZSTD)):
        return Source(path, start)
    cut = start.rfind(b"\n") if len(start) == HEAD_BYTES else -1
    return Source(path, plain_lines(path, start if cut < 0 else start[: cut + 1]))


def _merged(stretches: Stretches) -> list[tuple[int, int]]:
    """Stretches in order, neighbours joined."""
    out: list[tuple[int, int]] = []
    for start, stop in sorted(stretches):
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((start, stop))
    return out
