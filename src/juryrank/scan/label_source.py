"""Labels of the queries in files: read query by query from large TREC qrels, in memory from everything else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from juryrank.data import Dataset, Labels
from juryrank.data.arrays import Ints
from juryrank.errors import DataError
from juryrank.io import read_labels
from juryrank.io.formats import sniff
from juryrank.io.formats.trec_qrels import TrecQrels
from juryrank.io.limits import size_text
from juryrank.io.source import GZIP, PARQUET, ZSTD
from juryrank.io.tables.columns import Columns
from juryrank.polars import pl
from juryrank.scan.opening import beginning_of
from juryrank.scan.qrels import QrelsByQuery

WEIGHT = {"text": 16, "packed": 60}  # bytes of memory while labels are read, for each byte of the file
SHARE = 4  # labels in memory take at most this part of the limit, if they can be read query by query
ITEM = 80  # bytes of the name of an item


class LabelSource(Protocol):
    """Labels by query."""

    @property
    def queries(self) -> pl.Series:
        """The queries with labels, in natural order."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it takes as long as it is used."""
        ...

    @property
    def sizes(self) -> Ints:
        """Bytes of memory for the labels of each query when they are used."""
        ...

    def take(self, chosen: Ints) -> Labels:
        """The labels of the chosen queries, given by number and in natural order."""
        ...


class LabelsInMemory:
    """Labels that are in memory."""

    def __init__(self, labels: Labels) -> None:
        labelled = np.flatnonzero(np.diff(labels.label_ptr))
        self.labels = labels if len(labelled) == len(labels) else labels.take(labelled)
        self.queries = pl.Series(self.labels.queries, dtype=pl.String)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it takes as long as it is used."""
        names = ITEM * (len(self.labels.items) + len(self.queries))
        return names + self.labels.label_item.nbytes + self.labels.label_value.nbytes

    @property
    def sizes(self) -> Ints:
        """Bytes of memory for the labels of each query when they are used."""
        return ITEM * np.diff(self.labels.label_ptr)

    def take(self, chosen: Ints) -> Labels:
        """The labels of the chosen queries, given by number and in natural order."""
        return self.labels.take(chosen)


def open_labels(given: Any, columns: Columns, memory: int) -> LabelSource:
    """The labels in anything that ``read_labels`` takes; large TREC qrels are not read into memory."""
    if isinstance(given, str | os.PathLike) and os.path.isfile(given):
        path = Path(given)
        source, size = beginning_of(path), path.stat().st_size
        packed = source.data.startswith((GZIP, ZSTD, PARQUET))
        needed = size * WEIGHT["packed" if packed else "text"]
        by_query = not packed and not columns and isinstance(sniff(source), TrecQrels)
        if by_query and needed > memory // SHARE:
            return QrelsByQuery(path)
        if needed > memory:
            raise DataError(
                f"{path}: the labels take about {size_text(needed)} in memory, more than the limit of "
                f"{size_text(memory)}; TREC qrels that are sorted by query are read query by query"
            )
    found = read_labels(given, columns)
    labels = found.labels if isinstance(found, Dataset) else found
    if labels is None:
        raise DataError(f"{given}: it has no labels; expected TREC qrels, or a table with a column of labels")
    return LabelsInMemory(labels)
