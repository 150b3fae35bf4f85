"""OHSUMED with features as experts: 30 retrieval scores, of which WWW 2007 does not name its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import juryrank
from juryrank.data import Dataset

# LETOR 3.0 describes a page of OHSUMED by 15 numbers for each of title, abstract, and both together. Those that are
# retrieval scores are experts here. Left out of each 15: three sums of idf, which are the same for all items of a query
# and order nothing; log(BM25), which orders as BM25 does; and the plain count of query terms, of which the sum of
# log(count + 1) is the damped version.
SCORES = {
    2: "log tf", 3: "tf/len", 4: "log tf/len", 8: "log tf/len idf", 9: "tf idf", 10: "log tf/len icf",
    11: "BM25", 13: "LM Dirichlet", 14: "LM Jelinek-Mercer", 15: "LM absolute",
}  # fmt: skip
STREAMS = ("title", "abstract", "both")


def ohsumed(folder: Path) -> Dataset:
    """OHSUMED with the chosen features as experts: each ranks all items by its score, equal scores tie."""
    data = juryrank.read(folder)
    assert data.features is not None
    r = data.rankings
    chosen = {f"{stream} {told}": 15 * s + k - 1 for s, stream in enumerate(STREAMS) for k, told in SCORES.items()}
    ranks, slots = [], []
    for q in range(len(data)):
        first, end = r.slot_ptr[q], r.slot_ptr[q + 1]
        for column in chosen.values():
            falling = -data.features[first:end, column]
            order = np.argsort(falling, kind="stable")
            slots.append(first + order)
            ranks.append(np.searchsorted(falling[order], falling[order]) + 1.0)
    n = len(chosen)
    lists = replace(
        r,
        experts=tuple(chosen),
        list_ptr=np.arange(len(data) + 1) * n,
        list_expert=np.tile(np.arange(n, dtype=np.int32), len(data)),
        list_weight=np.ones(n * len(data)),
        entry_ptr=np.concatenate([[0], np.cumsum(np.repeat(r.query_size, n))]),
        entry_slot=np.concatenate(slots).astype(np.int32),
        entry_rank=np.concatenate(ranks),
    )
    return Dataset(rankings=lists, labels=data.labels)
