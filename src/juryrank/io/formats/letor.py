"""LETOR rank aggregation: ``label qid:Q 1:rank 2:NULL … #docid = X``; experts are numbered, rank 1 is best.

Every line is a slot, in the order of the file, whether or not anybody ranks its item. What else a comment says
(``inc``, ``prob``) is about how items were chosen for judging and is never read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from juryrank.data import Dataset
from juryrank.io.files import save
from juryrank.io.formats import _svmlight as svmlight
from juryrank.io.rows import SLOT, Rows, first_true
from juryrank.io.source import Source
from juryrank.io.write_checks import demand_single_lists
from juryrank.kernels.ragged import parents

NULL = "NULL"
ENDINGS = (".letor",)


def sniff(source: Source) -> bool:
    """LETOR lines with a NULL among the values, or with nothing but whole numbers from 1 up."""
    if not svmlight.looks_like(source):
        return False
    told = None
    for told in svmlight.values_in(source.head):
        if told == NULL:
            return True
        if not (told.isdecimal() and told.strip("0")):
            return False
    return told is not None


def read(source: Source, chosen: pl.DataFrame | None = None) -> Rows:
    """The lists of all experts, and the labels; of the ``chosen`` lines only, where they are given."""
    lines = svmlight.parsed(source, svmlight.lines_of(source) if chosen is None else chosen)
    pairs = svmlight.pairs_of(source, lines, absent=NULL).drop_nulls("value")
    if (at := first_true(pairs["value"] <= 0)) is not None:
        line = lines["line"][pairs["row"][at]]
        raise source.error(line, "ranks from 1 up or NULL (format='letor-features' for values)")
    expert = pairs["key"].replace(names) if (names := svmlight.given_names(source)) else pairs["key"]
    entries = lines.select(SLOT)[pairs["row"]].with_columns(expert=expert, rank=pairs["value"])
    labels = svmlight.labels_of(lines)
    return Rows(name=str(source.path), entries=entries, candidates=lines.select(SLOT), labels=labels, keep_order=True)


def write(data: Dataset, path: Path) -> None:
    """The lines of all slots, experts under their numbers, or numbered with their names in comments on top."""
    r = data.rankings
    demand_single_lists(r, "LETOR")
    ranks = np.full((r.n_slots, len(r.experts)), np.nan)
    ranks[r.entry_slot, r.list_expert[parents(r.entry_ptr)]] = r.entry_rank
    save(path, svmlight.text_lines(data, ranks, NULL, r.experts, "expert"))
