"""Lists of TREC-COVID topics that a model has not learned from, for the tests of search engines."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import polars as pl

import juryrank

FOLDER = Path(juryrank.__file__).parent / "demo" / "trec-covid"
SPARSE = ("bm25_baseline", "smith.bm25", "bm25t5", "RMITBM1")  # systems that are sparse vectors in Qdrant
HELD_OUT = ("3", "12", "25")


@dataclass(frozen=True)
class Held:
    """A model, what it was fitted on, and the lists of other queries: best first, items as whole numbers."""

    model: object
    train: object
    lists: dict[str, dict[str, list[int]]]  # by query and expert

    @property
    def items(self) -> list[int]:
        return sorted({item for lists in self.lists.values() for listed in lists.values() for item in listed})


@cache
def held_out(depth: int = 100, systems: int = 12) -> Held:
    """The first ``depth`` items of the first ``systems`` systems; the model is ``jury``."""
    rows = (
        pl.read_parquet(FOLDER / "runs.parquet").filter(pl.col("rank") <= depth).sort("query", "expert", "rank", "item")
    )
    experts = rows["expert"].unique().sort().to_list()[:systems]
    rows = rows.filter(pl.col("expert").is_in(experts))
    runs: dict[str, dict[str, list[str]]] = {}
    for (query, expert), group in rows.group_by(["query", "expert"], maintain_order=True):
        runs.setdefault(expert, {})[str(query)] = group["item"].to_list()[:depth]
    qrels: dict[str, dict[str, float]] = {}
    for query, item, label in pl.read_parquet(FOLDER / "qrels.parquet").select("query", "item", "label").iter_rows():
        qrels.setdefault(str(query), {})[item] = float(label)
    train = juryrank.from_dicts(
        {e: {q: listed for q, listed in by_query.items() if q not in HELD_OUT} for e, by_query in runs.items()},
        labels={q: labels for q, labels in qrels.items() if q not in HELD_OUT},
    )
    numbers = {item: n for n, item in enumerate(sorted(rows["item"].unique().to_list()), 1)}
    lists = {q: {e: [numbers[item] for item in runs[e][q]] for e in experts if q in runs[e]} for q in HELD_OUT}
    return Held(juryrank.method("jury").fit(train), train, lists)


def vectors_of(held: Held) -> dict[int, dict[str, list[float]]]:
    """By item and expert: 1000 - rank for each query, 0 where the list does not contain the item."""
    experts = {expert for lists in held.lists.values() for expert in lists}
    vectors = {item: {expert: [0.0] * len(held.lists) for expert in experts} for item in held.items}
    for place, lists in enumerate(held.lists.values()):
        for expert, listed in lists.items():
            for rank, item in enumerate(listed, 1):
                vectors[item][expert][place] = 1000.0 - rank
    return vectors


def assert_same_ranking(found: list[tuple[int, float]], predicted: dict[int, float], tolerance: float) -> None:
    """The same items with the same scores, in the same order but for scores that differ by less than the tolerance."""
    assert {item for item, _ in found} == predicted.keys()
    assert max(abs(score - predicted[item]) for item, score in found) <= tolerance
    scores = [predicted[item] for item, _ in found]
    assert all(after <= before + 2 * tolerance for before, after in pairwise(scores))
