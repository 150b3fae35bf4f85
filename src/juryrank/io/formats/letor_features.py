"""LETOR or SVMlight features: ``label qid:Q 1:0.5 2:0 … #docid = X``; a feature that a line leaves out is 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from juryrank.data import Dataset
from juryrank.data.entries import codes
from juryrank.data.names import natural
from juryrank.errors import DataError
from juryrank.io.files import save
from juryrank.io.formats import _svmlight as svmlight
from juryrank.io.formats import letor
from juryrank.io.rows import SLOT, Rows
from juryrank.io.source import Source

ENDINGS = (".svm", ".svmlight")


def sniff(source: Source) -> bool:
    """LETOR lines whose values cannot be ranks."""
    return svmlight.looks_like(source) and not letor.sniff(source)


def read(source: Source, chosen: pl.DataFrame | None = None) -> Rows:
    """Features and labels of the items, which nobody ranks; of the ``chosen`` lines only, where they are given."""
    lines = svmlight.parsed(source, svmlight.lines_of(source) if chosen is None else chosen)
    pairs = svmlight.pairs_of(source, lines)
    keys = natural(pairs["key"])
    values = np.zeros((lines.height, len(keys)))
    values[pairs["row"].to_numpy(), codes(pairs["key"], keys)] = pairs["value"].to_numpy()
    names = svmlight.given_names(source)
    columns = pl.DataFrame(values, schema=[names.get(key, key) for key in keys])
    features = pl.concat([lines.select(SLOT), columns], how="horizontal")
    return Rows(
        name=str(source.path),
        candidates=lines.select(SLOT),
        labels=svmlight.labels_of(lines),
        features=features,
        keep_order=True,
    )


def write(data: Dataset, path: Path) -> None:
    """The lines of all slots with their features."""
    if data.features is None:
        raise DataError("the data has no features to write; write(…, format='letor') writes ranks")
    if taken := [name for name in data.feature_names if name in SLOT]:
        raise DataError(f"a feature cannot be named {taken[0]!r}, which is a word for something else; rename it")
    save(path, svmlight.text_lines(data, data.features, "nan", data.feature_names, "feature"))
