"""LETOR or SVMlight features: ``label qid:Q 1:0.5 2:0 … #docid = X``; a feature that a line omits is 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from juryrank.data import Dataset
from juryrank.data.entries import codes
from juryrank.data.names import sort_naturally
from juryrank.errors import DataError
from juryrank.io.formats import svmlight
from juryrank.io.formats.letor import has_ranks
from juryrank.io.rows import SLOT, Rows
from juryrank.io.source import Source
from juryrank.polars import pl


class LetorFeatures(svmlight.LineFormat):
    """Features and labels of items, without lists."""

    name = "letor-features"
    endings = (".svm", ".svmlight")

    def sniff(self, source: Source) -> bool:
        """LETOR lines whose values cannot be ranks."""
        return svmlight.looks_like(source) and not has_ranks(source)

    def read_lines(self, source: Source, lines: pl.DataFrame) -> Rows:
        """The features and labels of the items."""
        lines = svmlight.parse(source, lines)
        pairs = svmlight.pairs_of(source, lines)
        keys = sort_naturally(pairs["key"])
        values = np.zeros((lines.height, len(keys)))
        values[pairs["row"].to_numpy(), codes(pairs["key"], keys)] = pairs["value"].to_numpy()
        names = svmlight.names_in_comments(source)
        columns = pl.DataFrame(values, schema=[names.get(key, key) for key in keys])
        features = pl.concat([lines.select(SLOT), columns], how="horizontal")
        return Rows(
            name=str(source.path),
            candidates=lines.select(SLOT),
            labels=svmlight.labels_of(lines),
            features=features,
            keep_order=True,
        )

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """The lines of all slots with their features."""
        if data.features is None:
            raise DataError("the data has no features to write; write(…, format='letor') writes ranks")
        if taken := [name for name in data.feature_names if name in SLOT]:
            raise DataError(f"a feature cannot be named {taken[0]!r}, which is the name of another column; rename it")
        return iter([svmlight.text_lines(data, data.features, "nan", data.feature_names, "feature")])
