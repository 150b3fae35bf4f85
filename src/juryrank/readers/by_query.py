"""Files that are read query by query: TREC runs and Parquet tables, in any number, larger than memory.

One pass notes where each query stands; then any queries can be read alone. Lines of a query should stand together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from juryrank.data import Dataset
from juryrank.data.names import natural_key
from juryrank.data.rankings import Ints
from juryrank.errors import DataError
from juryrank.kernels.jit import threads
from juryrank.readers import usual_runs
from juryrank.readers.experts import aliases, named_apart
from juryrank.readers.gather import Options
from juryrank.readers.long import together
from juryrank.readers.query_file import QueryFile, RunFile, Stretches, opened
from juryrank.readers.source import Source


class Places(NamedTuple):
    """Where queries stand in a file, by number."""

    query: Ints  # rising
    start: Ints
    stop: Ints

    def part(self, queries: range) -> Places:
        """Some queries."""
        first, last = np.searchsorted(self.query, (queries.start, queries.stop))
        return Places(*(column[first:last] for column in self))

    @property
    def stretches(self) -> Stretches:
        return list(zip(self.start.tolist(), self.stop.tolist(), strict=True))


class QueryFiles:
    """Several files, read together query by query."""

    def __init__(self, paths: Sequence[Path], format_name: str | None, options: Options) -> None:
        self.files = opened(paths, format_name, options)
        with ThreadPoolExecutor(threads()) as pool:
            chunks = [[pool.submit(file.stretches_in, chunk) for chunk in file.chunks()] for file in self.files]
            try:
                for file, found in zip(self.files, chunks, strict=True):
                    file.note(done.result() for done in found)
            except BaseException:
                pool.shutdown(cancel_futures=True)  # what is wrong with a file is said at once
                raise
        self.aliases = self._named_experts()
        self.queries = sorted({query for file in self.files for query in file.extents}, key=natural_key)
        number = {query: n for n, query in enumerate(self.queries)}
        self.places = [_places(file, number) for file in self.files]

    @property
    def most(self) -> int:
        """Bytes that a batch should not exceed."""
        return min(file.most for file in self.files)

    def batches(self, size: int) -> list[range]:
        """The queries in natural order, as many at a time as take about ``size`` bytes, at least one."""
        cost = np.zeros(len(self.queries), np.int64)
        for file, places in zip(self.files, self.places, strict=True):
            np.add.at(cost, places.query, file.weight * (places.stop - places.start))
        ends, first, out = np.cumsum(cost), 0, []
        while first < len(ends):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + size, side="right")))
            out.append(range(first, last))
            first = last
        return out

    def read(self, queries: range) -> Dataset:
        """The Dataset of these queries."""
        chosen = [(file, places.part(queries)) for file, places in zip(self.files, self.places, strict=True)]
        chosen = [(file, places) for file, places in chosen if len(places.query)]
        if (usual := self._usual(chosen)) is not None:
            return usual
        parts = [file.rows(places.stretches) for file, places in chosen]
        sources = [Source(file.path, b"") for file, _ in chosen]
        return together(named_apart(parts, sources), f"{len(self.files)} files").build()

    def _usual(self, chosen: Sequence[tuple[QueryFile, Places]]) -> Dataset | None:
        """The Dataset of runs without anything unusual, else None."""
        runs = [(file, places) for file, places in chosen if isinstance(file, RunFile)]
        if len(runs) < len(chosen):
            return None
        sources, starts, sizes = [], [], []
        for file, places in runs:
            sources.append(file.source(places.stretches))
            size = places.stop - places.start
            if len(sources[-1].data) != size.sum():
                return None
            order, at = np.argsort(places.start), np.empty(len(size), np.int64)
            at[order] = np.cumsum(size[order]) - size[order]
            starts.append(at)
            sizes.append(size)
        source, start = np.repeat(np.arange(len(runs)), list(map(len, starts))), np.concatenate(starts)
        order = np.lexsort((start, source, np.concatenate([places.query for _, places in runs])))
        pieces = usual_runs.Pieces(source[order], start[order], (start + np.concatenate(sizes))[order])
        return usual_runs.read(sources, pieces)

    def _named_experts(self) -> dict[str, str]:
        """Aliases of experts by file; a DataError where two runs give one name to their lists for one query."""
        seen: dict[str, QueryFile] = {}
        runs = [file for file in self.files if isinstance(file, RunFile)]
        for file in runs:
            tag = file.source([next(iter(file.extents.values()))[0]]).data.partition(b"\n")[0].split()[-1].decode()
            other = seen.setdefault(tag, file)
            if other is not file and not other.extents.keys().isdisjoint(file.extents):
                raise DataError(
                    f"{other.path} and {file.path} both name their expert {tag!r}, and share queries; "
                    "give each file a tag of its own (its last column), or rank without a limit of memory"
                )
        return aliases([file.path.stem for file in runs], [file.tags() for file in runs])


def _places(file: QueryFile, number: Mapping[str, int]) -> Places:
    """Where the queries of a file stand, by number; its own notes, which take much more room, are forgotten."""
    extents, file.extents = file.extents, {}
    query = np.fromiter(map(number.__getitem__, extents), np.int64, len(extents))
    query = np.repeat(query, list(map(len, extents.values())))
    places = np.array([stretch for each in extents.values() for stretch in each], np.int64).reshape(-1, 2)
    order = np.lexsort((places[:, 0], query))
    return Places(query[order], places[order, 0], places[order, 1])
