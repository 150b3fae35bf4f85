"""TREC qrels that are read query by query."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from juryrank.data import Labels
from juryrank.data.arrays import Ints
from juryrank.data.long_table import labels_from_long
from juryrank.data.names import sort_naturally
from juryrank.io.formats.trec_qrels import COLUMNS, TrecQrels
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.scan.index import NAME, index_queries
from juryrank.scan.query_file import CHUNK
from juryrank.scan.trec_run import RunFile


@dataclass
class QrelsFile(RunFile):
    """TREC qrels; places are bytes."""

    run_columns: tuple[str, ...] = COLUMNS
    advice = "sort it by its first column (sort -s -k1,1)"

    def _read(self, source: Source) -> Rows:
        return TrecQrels().read(source)


class QrelsByQuery:
    """The labels in TREC qrels: the positions of each query are in memory, the labels are read when they are needed."""

    def __init__(self, path: Path, chunk: int = CHUNK) -> None:
        self.file = QrelsFile(path, {}, chunk)
        self.queries, (self.places,) = index_queries([self.file])
        self.first = np.searchsorted(self.places.query, np.arange(len(self.queries) + 1))  # place of each query

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        names = int(self.queries.estimated_size()) + NAME * len(self.queries)
        return names + self.places.nbytes + int(self.first.nbytes)

    @property
    def sizes(self) -> Ints:
        """Bytes of memory for the labels of each query, about."""
        lengths = np.append(0, np.cumsum(self.places.stop - self.places.start))
        sizes: Ints = self.file.weight * np.diff(lengths[self.first])
        return sizes

    def take(self, chosen: Ints) -> Labels:
        """The labels of the chosen queries, given by number and in natural order."""
        extents = [
            (int(self.places.start[at]), int(self.places.stop[at]))
            for query in chosen
            for at in range(self.first[query], self.first[query + 1])
        ]
        rows = self.file.rows(extents).labels
        assert rows is not None
        items = rows["item"].unique().sort(multithreaded=False).to_numpy().astype(object)
        return labels_from_long(rows, tuple(sort_naturally(rows["query"])), items, str(self.file.path))
