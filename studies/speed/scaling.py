"""How cost grows: seconds and memory of every consensus method from a thousand to ten million entries."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import juryrank as jr
from studies.speed.clock import Effort, Timing, memory_before, memory_since, time_once
from studies.speed.inputs import Inputs
from studies.speed.table import Results, Row, Series

N_EXPERTS, LENGTH, POOL = 5, 20, 40  # of each query; only the number of queries grows
HIGHEST = 5.0  # score, as ballots of star voting have them
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
PATIENCE = 2.0  # seconds of one call after which a method stops
LEARNED = ("crf", "ridge", "svd-lambdarank")
FIRST = 1000  # training queries of learned methods


def measure(inputs: Inputs, effort: Effort) -> Results:
    """A row for each method: the time at its largest size, and the slope of time over entries in logarithms."""
    rows = []
    for name in [*without_labels(), *(n for n in LEARNED if n in jr.METHODS)]:
        series = measure_growth(name, PATIENCE * effort.patience)
        last = Timing(series.seconds[0], series.seconds[-1], 1, None, series.memory[-1])
        text = f"slope {series.slope:.2f} over {series.entries[0]:,} … {series.entries[-1]:,} entries"
        rows.append(Row(f"{name}, {series.entries[-1]:,} entries", "–", last, None, text, series=series))
    return rows, []


def without_labels() -> list[str]:
    """The methods that need neither labels nor item features."""
    return [name for name, cls in jr.METHODS.items() if not cls.supervised and not cls.needs_features]


def measure_growth(name: str, patience: float, most: int = SIZES[-1]) -> Series:
    """Times of one method up to ``most`` entries, until one call takes longer than ``patience``."""
    entries: list[int] = []
    seconds: list[float] = []
    memory: list[int | None] = []
    model = jr.method(name)
    if jr.METHODS[name].supervised:
        model = model.fit(with_labels(growing_dataset(FIRST)))
    for size in [size for size in SIZES if size <= most]:
        data = growing_dataset(size // (N_EXPERTS * LENGTH))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not entries:
                _rank(model, data)  # compiles
            spent: list[float] = []
            held = memory_before()
            while sum(spent) < min(0.2, patience) and len(spent) < 5:
                spent.append(time_once(partial(_rank, model, data))[0])
        entries.append(data.rankings.n_entries)
        seconds.append(min(spent))
        memory.append(memory_since(held))
        if 10 * seconds[-1] > 2.5 * patience:
            break
    return Series(name, entries, seconds, memory)


def _rank(model: Any, data: jr.Dataset) -> object:
    return (model if jr.METHODS[model.name].supervised else model.fit(data)).predict(data).order


def growing_dataset(n_queries: int, seed: int = 0) -> jr.Dataset:
    """Random lists without ties, with scores; every query has the same shape."""
    rng = np.random.default_rng(seed)
    chosen = rng.random((n_queries, N_EXPERTS, POOL)).argsort(2)[:, :, :LENGTH]
    slots = chosen + POOL * np.arange(n_queries)[:, None, None]
    n_lists = n_queries * N_EXPERTS
    rankings = jr.Rankings(
        queries=tuple(map(str, range(n_queries))),
        experts=tuple(f"e{m}" for m in range(N_EXPERTS)),
        items=np.array([f"i{i:02d}" for i in range(POOL)], object),
        slot_ptr=np.arange(n_queries + 1) * POOL,
        slot_item=np.tile(np.arange(POOL, dtype=np.int32), n_queries),
        list_ptr=np.arange(n_queries + 1) * N_EXPERTS,
        list_expert=np.tile(np.arange(N_EXPERTS, dtype=np.int32), n_queries),
        list_weight=np.ones(n_lists),
        entry_ptr=np.arange(n_lists + 1) * LENGTH,
        entry_slot=slots.ravel().astype(np.int32),
        entry_rank=np.tile(np.arange(1.0, LENGTH + 1), n_lists),
        entry_score=np.tile(HIGHEST / LENGTH * np.arange(LENGTH, 0.0, -1.0), n_lists),
    )
    return jr.Dataset(rankings=rankings)


def with_labels(data: jr.Dataset) -> jr.Dataset:
    """The data with random labels."""
    r = data.rankings
    value = np.random.default_rng(1).integers(0, 2, r.n_slots).astype(float)
    return replace(data, labels=jr.Labels(
        queries=r.queries, items=r.items, label_ptr=r.slot_ptr, label_item=r.slot_item, label_value=value,
    ))  # fmt: skip
