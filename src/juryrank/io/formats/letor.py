"""LETOR rank aggregation: ``label qid:Q 1:rank 2:NULL … #docid = X``; experts are numbered, rank 1 is best.

Every line is a slot, in the order of the file, whether or not an expert ranks its item. The other parts of a comment
(``inc``, ``prob``) are about how items were chosen for judging and are never read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from juryrank.data import Dataset
from juryrank.io.formats import svmlight
from juryrank.io.rows import SLOT, Rows, first_true
from juryrank.io.source import Source
from juryrank.io.write_checks import demand_single_lists
from juryrank.kernels.ragged import parents
from juryrank.polars import pl

NULL = "NULL"


class Letor(svmlight.LineFormat):
    """Ranks and labels of the candidates of each query."""

    name = "letor"
    endings = (".letor",)

    def sniff(self, source: Source) -> bool:
        """LETOR lines whose values are ranks."""
        return svmlight.looks_like(source) and has_ranks(source)

    def read_lines(self, source: Source, lines: pl.DataFrame) -> Rows:
        """The lists of all experts, and the labels."""
        lines = svmlight.parse(source, lines)
        pairs = svmlight.pairs_of(source, lines, absent=NULL).drop_nulls("value")
        if (at := first_true(pairs["value"] <= 0)) is not None:
            line = lines["line"][pairs["row"][at]]
            raise source.error(line, "ranks from 1 up or NULL (format='letor-features' for values)")
        expert = pairs["key"].replace(names) if (names := svmlight.names_in_comments(source)) else pairs["key"]
        entries = lines.select(SLOT)[pairs["row"]].with_columns(expert=expert, rank=pairs["value"])
        labels = svmlight.labels_of(lines)
        return Rows(
            name=str(source.path), entries=entries, candidates=lines.select(SLOT), labels=labels, keep_order=True
        )

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """The lines of all slots; experts under their numbers, or numbered with their names in comments on top."""
        r = data.rankings
        demand_single_lists(r, "LETOR")
        ranks = np.full((r.n_slots, len(r.experts)), np.nan)
        ranks[r.entry_slot, r.list_expert[parents(r.entry_ptr)]] = r.entry_rank
        return iter([svmlight.text_lines(data, ranks, NULL, r.experts, "expert")])


def has_ranks(source: Source) -> bool:
    """Whether the first values include a NULL, or are all whole numbers from 1 up."""
    value = None
    for value in svmlight.values_in(source.head):
        if value == NULL:
            return True
        if not (value.isdecimal() and value.strip("0")):
            return False
    return value is not None
