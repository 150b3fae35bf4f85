"""Data as a notebook shows it: short tables in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juryrank.report import Table, notebook_html

if TYPE_CHECKING:
    from juryrank.data.dataset import Dataset
    from juryrank.data.rankings import Consensus

SHOWN_QUERIES = 3
SHOWN_ITEMS = 5


def dataset_html(data: Dataset) -> str:
    """The experts with their lists, and the counts of everything."""
    r = data.rankings
    lists = np.bincount(r.list_expert, minlength=len(r.experts))
    entries = np.bincount(r.list_expert, r.list_size, minlength=len(r.experts)).astype(int)
    rows = [[name, f"{lists[k]:,}", f"{entries[k]:,}"] for k, name in enumerate(r.experts)]
    return notebook_html([Table("", ["expert", "lists", "entries"], rows, note=repr(data))])


def consensus_html(consensus: Consensus) -> str:
    """The first items of the first queries, and how many there are."""
    shown = consensus[:SHOWN_QUERIES]
    rows = [
        [query, str(rank), item, f"{score:.6g}"]
        for query, items in shown.to_dict().items()
        for rank, (item, score) in enumerate(list(items.items())[:SHOWN_ITEMS], 1)
    ]
    note = f"At most {SHOWN_ITEMS} items of {len(shown)} queries, of {consensus!r}."
    return notebook_html([Table("", ["query", "rank", "item", "score"], rows, n_names=3, note=note)])
