"""The data of the benchmark: MQ2008-agg with 25 experts and 784 queries, or random data of the same shape."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies import SHARED_DATA
from studies.arrays import entry_list
from studies.speed.peers import Scores, load

MQ2008 = SHARED_DATA / "MQ2008-agg"


@dataclass(frozen=True)
class Inputs:
    """One dataset in the formats of juryrank and its peers; each is created on first use."""

    data: jr.Dataset
    description: str
    folder: Path  # for files; the caller removes it

    @cached_property
    def entries(self) -> pl.DataFrame:
        """query, expert, item, rank: one row per entry."""
        r = self.data.rankings
        at = entry_list(r)
        names = {
            "query": np.array(r.queries, object)[r.list_query[at]],
            "expert": np.array(r.experts, object)[r.list_expert[at]],
            "item": r.items[r.slot_item[r.entry_slot]],
        }
        return pl.DataFrame({name: pl.Series(v, dtype=pl.String) for name, v in names.items()} | {"rank": r.entry_rank})

    @cached_property
    def dicts(self) -> dict[str, Scores]:
        """``{expert: {query: {item: score}}}`` with the negative rank as score; every expert has every query."""
        r = self.data.rankings
        dicts: dict[str, Scores] = {expert: {query: {} for query in r.queries} for expert in r.experts}
        for query, expert, item, rank in self.entries.iter_rows():
            dicts[expert][query][item] = -rank
        return dicts

    @cached_property
    def labels(self) -> dict[str, dict[str, int]]:
        """``{query: {item: label}}``."""
        r = self.data.rankings
        names, values = r.items[r.slot_item].tolist(), self.data.slot_labels.astype(int).tolist()
        ptr = r.slot_ptr.tolist()
        return {
            query: dict(zip(names[ptr[q] : ptr[q + 1]], values[ptr[q] : ptr[q + 1]], strict=True))
            for q, query in enumerate(r.queries)
        }

    @cached_property
    def ranx_runs(self) -> list[Any]:
        """The lists as runs of ranx, one per expert."""
        return ranx_runs(self.dicts)

    @cached_property
    def run_files(self) -> Path:
        """A folder with one TREC run per expert."""
        path = self.folder / "runs"
        jr.write(jr.Dataset(rankings=self.data.rankings), path, format="trec-run")
        return path

    @cached_property
    def pyflagr_table(self) -> Path:
        """The table that pyflagr parses: six columns, though it documents five."""
        path = self.folder / "pyflagr.csv"
        columns = self.entries.with_columns(score=-pl.col("rank"), dataset=pl.lit("bench"))
        columns.write_csv(path, include_header=False)
        return path

    def fresh_data(self) -> jr.Dataset:
        """The data without cached results of earlier calls."""
        return replace(self.data, rankings=replace(self.data.rankings))


def ranx_runs(dicts: dict[str, Scores]) -> list[Any]:
    """Dicts as runs of ranx."""
    ranx = load("ranx")
    assert ranx is not None
    return [ranx.Run(queries, name=expert) for expert, queries in dicts.items()]


def find_inputs(folder: Path) -> Inputs:
    """MQ2008-agg if it is beside the project, otherwise random data, with a description that says so."""
    if MQ2008.is_dir():
        data = jr.read(MQ2008)
        return Inputs(data, f"MQ2008-agg: {_shape(data)}.", folder)
    data = random_dataset()
    return Inputs(data, f"Random data, because MQ2008-agg is not in ../shared/data: {_shape(data)}.", folder)


def _shape(data: jr.Dataset) -> str:
    return f"{len(data.experts)} experts × {len(data)} queries, {data.rankings.n_entries:,} entries"


def random_dataset(n_queries: int = 784, n_experts: int = 25, seed: int = 0) -> jr.Dataset:
    """Random lists with the number of items, the missing entries and the labels of MQ2008-agg; no ties."""
    rng = np.random.default_rng(seed)
    frames, judged = [], []
    for q in range(n_queries):
        n = int(np.clip(rng.lognormal(2.6, 0.75), 5, 121))
        label = rng.choice(3, n, p=[0.807, 0.132, 0.061])
        names = [f"q{q}i{i}" for i in range(n)]
        judged.append(pl.DataFrame({"query": [f"q{q}"] * n, "item": names, "label": label.astype(float)}))
        order = np.argsort(rng.normal(size=(n_experts, n)) - label, axis=1)
        listed = rng.random((n_experts, n)) < 0.35
        listed[0] = True
        expert, place = np.nonzero(np.take_along_axis(listed, order, axis=1))
        rows = {
            "query": [f"q{q}"] * len(expert),
            "item": np.array(names)[order[expert, place]],
            "expert": (expert + 1).astype(str),
            "rank": place + 1.0,
        }
        frames.append(pl.DataFrame(rows))
    return jr.read(pl.concat(frames), labels=pl.concat(judged))


def orders_of(kind: str, n: int, seed: int, experts: int = 15) -> list[list[int]]:
    """Orders of n items: ``uniform``, or ``mallows`` around 0, 1, 2, … with dispersion 0.9 (repeated insertion)."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return [rng.permutation(n).tolist() for _ in range(experts)]
    orders = []
    for _ in range(experts):
        order: list[int] = []
        for item in range(n):
            chance = 0.9 ** np.arange(item, -1, -1.0)
            order.insert(int(rng.choice(item + 1, p=chance / chance.sum())), item)
        orders.append(order)
    return orders
