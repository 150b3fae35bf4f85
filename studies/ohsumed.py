"""OHSUMED with features as experts: 30 retrieval scores; WWW 2007 does not name those it used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import juryrank as jr
from studies.arrays import lists_by_score

# LETOR 3.0 describes a page of OHSUMED by 15 numbers for each of title, abstract, and both together. Those that are
# retrieval scores are experts here. Left out of each 15: three sums of idf, which are constant within a query;
# log(BM25), which orders as BM25 does; and the plain count of query terms, of which the sum of log(count + 1) is the
# damped version.
SCORES = {
    2: "log tf", 3: "tf/len", 4: "log tf/len", 8: "log tf/len idf", 9: "tf idf", 10: "log tf/len icf",
    11: "BM25", 13: "LM Dirichlet", 14: "LM Jelinek-Mercer", 15: "LM absolute",
}  # fmt: skip
STREAMS = ("title", "abstract", "both")


def ohsumed(folder: Path) -> jr.Dataset:
    """OHSUMED with the chosen features as experts: each ranks all items by its score, equal scores tie."""
    data = jr.read(folder)
    assert data.features is not None
    columns = {f"{stream} {name}": 15 * s + k - 1 for s, stream in enumerate(STREAMS) for k, name in SCORES.items()}
    lists = lists_by_score(data.rankings, list(columns), data.features[:, list(columns.values())])
    return jr.Dataset(rankings=replace(lists, entry_score=None), labels=data.labels)
