"""Lists beside item features: the synthetic set-up and the data sets of Bhowmik and Ghosh (WWW 2017)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import juryrank
from juryrank.data import Dataset
from juryrank.data.long_table import from_long
from juryrank.kernels.ragged import parents

Floats = NDArray[np.float64]

# Of the 15 numbers that LETOR 3.0 has for title, abstract and both: BM25, log(BM25) and three language models.
RETRIEVAL_SCORES = tuple(str(first + n) for first in (0, 15, 30) for n in range(11, 16))


def synthetic(seed: int, model: str = "gaussian", n_items: int = 200, n_features: int = 10) -> Dataset:
    """Items with normal features, ten lists of their true scores as corrupted below, and the true scores as labels.

    Two lists are shifted; three have added noise of 1/4, 1/2 and 1 standard deviation, two are multiplied by
    1 + noise of 1/4 and 1/2, three are nothing but noise.
    """
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_items, n_features))
    truth = features @ rng.normal(size=n_features)
    truth = truth if model == "gaussian" else np.exp(truth)
    deviation = truth.std()
    lists = [truth + 5 * deviation * rng.normal() for _ in range(2)]
    lists += [truth + share * deviation * rng.normal(size=n_items) for share in (0.25, 0.5, 1.0)]
    lists += [truth * (1 + share * rng.normal(size=n_items)) for share in (0.25, 0.5)]
    lists += [deviation * rng.normal(size=n_items) for _ in range(3)]
    return replace(from_matrix(np.column_stack(lists), truth), features=features)


def from_matrix(scores: Floats, truth: Floats) -> Dataset:
    """One query from scores [n_items, n_experts] and true scores; items and experts are numbered."""
    slots = pl.DataFrame({"item": [f"{i:06d}" for i in range(len(scores))]}).with_columns(query=pl.lit("q"))
    lists = [slots.with_columns(expert=pl.lit(str(k + 1)), score=column) for k, column in enumerate(scores.T)]
    return from_long(pl.concat(lists), labels=slots.with_columns(label=truth - truth.min()))


def letor(folder: Path, name: str) -> Dataset:
    """The lists of MQ2008-agg, say, with the 46 features of MQ2008: of its five parts, or of the tests of its folds."""
    parts = sorted((folder / name).glob("S*.txt*")) or sorted((folder / name).glob("Fold*/test.txt*"))
    return juryrank.read(folder / f"{name}-agg", features=parts)


def ohsumed(folder: Path) -> Dataset:
    """The retrieval scores of OHSUMED as 15 lists, the other 30 columns as features."""
    data = juryrank.read(folder / "OHSUMED")
    assert data.features is not None
    at = [data.feature_names.index(name) for name in RETRIEVAL_SCORES]
    slots = _slots(data)
    columns = [slots.with_columns(expert=pl.lit(data.feature_names[n]), score=data.features[:, n]) for n in at]
    lists = from_long(pl.concat(columns), candidates=slots, keep_order=True)
    rest = [n for n in range(len(data.feature_names)) if n not in at]
    names = tuple(data.feature_names[n] for n in rest)
    return replace(data, rankings=lists.rankings, features=data.features[:, rest], feature_names=names)


def with_list(data: Dataset, expert: str, scores: Floats) -> Dataset:
    """The data with one more list in every query."""
    r = data.rankings
    slots, lists = _slots(data), parents(r.entry_ptr)
    experts = pl.Series(np.array(r.experts, object)[r.list_expert[lists]], dtype=pl.String)
    entries = slots[r.entry_slot].with_columns(expert=experts)
    more = slots.with_columns(expert=pl.lit(expert), score=scores)
    if r.entry_score is None:
        rank = pl.col("score").rank("min", descending=True).over("query").cast(pl.Float64)
        entries, more = entries.with_columns(rank=r.entry_rank), more.with_columns(rank=rank).drop("score")
    else:
        entries = entries.with_columns(score=r.entry_score)
    built = from_long(pl.concat([entries, more]), candidates=slots, keep_order=True)
    return replace(data, rankings=built.rankings)


def supervised_scores(data: Dataset) -> Floats:
    """Scores of each fold's test queries by a ranker trained on its training queries; the penalty chosen on others."""
    out = np.zeros(data.rankings.n_slots)
    query = parents(data.rankings.slot_ptr)
    for fold in data.folds:
        train, valid, test = (data[np.array(part)] for part in (fold.train, fold.valid, fold.test))
        fitted = [juryrank.method("retargeting", l2=l2).fit(train) for l2 in (0.001, 0.01, 0.1)]
        best = max(fitted, key=lambda model: model.score(valid))
        out[np.isin(query, fold.test)] = best.predict(test).scores[_sorted_slots(test, fold.test)]
    return out


def _sorted_slots(test: Dataset, queries: tuple[int, ...]) -> NDArray[np.int64]:
    """Slots of the test part in the order of the queries in the whole."""
    ptr = test.rankings.slot_ptr
    order = np.argsort(queries)
    return np.concatenate([np.arange(ptr[q], ptr[q + 1]) for q in order])


def _slots(data: Dataset) -> pl.DataFrame:
    r = data.rankings
    query = np.array(r.queries, object)[parents(r.slot_ptr)]
    names = {"query": query, "item": r.items[r.slot_item]}
    return pl.DataFrame({name: pl.Series(values, dtype=pl.String) for name, values in names.items()})
