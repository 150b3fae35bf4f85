"""How the time of inference grows with experts and items: the runtime study of CIKM 2013, section 5.2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import ParameterError
from studies.arrays import Ints, entry_list
from studies.console import track
from studies.papers.singular_vectors import log_preferences

TIMES = tuple(range(1, 11))
EXPANSIONS = {
    "experts": "every list repeated, by another expert",
    "items": "every item repeated, tied with its copies in every list, as the paper appends matrices",
    "items in a row": "every item repeated, its copies directly below it in every list, without ties",
}
MODELS: dict[str, tuple[str, dict[str, Any], int]] = {  # method, parameters, numbers per expert
    "crf": ("crf", {}, 3),
    "svd, binary": ("svd-lambdarank", {"form": "binary"}, 3),
    "svd, log-rank": ("svd-lambdarank", {"form": "log-rank"}, 3),
}
DENSE = "dense svd"
SAME = "crf, same queries"  # as dense svd
REPEATS = 5
DENSE_QUERIES = 16


@dataclass(frozen=True)
class Scale:
    """The size of the study: expansions, repeats of each measurement, and queries of the dense factorisation."""

    times: tuple[int, ...] = TIMES
    repeats: int = REPEATS
    dense_queries: int = DENSE_QUERIES


def runtime(data: jr.Dataset, scale: Scale | None = None) -> list[dict[str, Any]]:
    """A row for each expansion and size, of the test queries of the first fold (of all, if there are no folds).

    ``… ms`` are milliseconds of one query: the scores and the order of all its items by a model with random weights
    (they do not matter for the time), the mean over queries that are ranked in one call. ``dense svd ms`` is
    ``numpy.linalg.svd`` alone, and ``features ms`` and ``crf, same queries ms`` are whole predictions by the log-rank
    model and the CRF, all three for the same ``dense queries``, which are evenly spaced in the order of their number of
    entries; ``dense / features`` and ``dense / crf`` are their ratios. Times are the minimum of some repeats, and the
    smaller of elapsed and processor time.
    """
    scale = scale or Scale()
    rankings = data.rankings.take(np.array(data.folds[0].test)) if data.folds else data.rankings
    sizes = [(expansion, times) for expansion in EXPANSIONS for times in scale.times]
    return [_row(rankings, expansion, times, scale) for expansion, times in track(sizes, "runtime")]


def growth(rows: Iterable[dict[str, Any]], expansion: str, column: str) -> float:
    """The slope of a time over entries, both in logarithms: 1 is linear."""
    chosen = [row for row in rows if row["expansion"] == expansion]
    entries, taken = (np.log([row[name] for row in chosen]) for name in ("entries", column))
    return float(np.polyfit(entries, taken, 1)[0])


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each expansion: slopes, the largest ratio to the CRF at any size, and to dense matrices at the largest."""
    found = []
    for expansion in dict.fromkeys(row["expansion"] for row in rows):
        here = [row for row in rows if row["expansion"] == expansion]
        slopes = {f"{label} slope": growth(rows, expansion, f"{label} ms") for label in (*MODELS, DENSE)}
        ratios = {
            f"{label} / crf, at most": max(row[f"{label} ms"] / row["crf ms"] for row in here)
            for label in MODELS
            if label != "crf"
        }
        last = max(here, key=lambda row: row["times"])["dense / features"]
        found.append({"expansion": expansion, **slopes, **ratios, "dense / features, at last": last})
    return found


def expanded(rankings: jr.Rankings, expansion: str, times: int) -> jr.Rankings:
    """The rankings with ``times`` as many experts or items."""
    if expansion == "experts":
        return more_experts(rankings, times)
    if expansion in EXPANSIONS:
        return more_items(rankings, times, tied=expansion == "items")
    raise ParameterError(f"expansion must be one of {', '.join(EXPANSIONS)}, got {expansion!r}")


def more_experts(rankings: jr.Rankings, times: int) -> jr.Rankings:
    """Every list ``times`` times, each by a different expert."""
    r, copies = rankings, np.tile(np.arange(times), rankings.n_lists)
    lists = np.repeat(np.arange(r.n_lists), times)
    entries = np.concatenate([np.arange(r.entry_ptr[m], r.entry_ptr[m + 1]) for m in lists])
    return replace(
        r,
        experts=tuple(f"{name}, {c}" for name in r.experts for c in range(times)),
        list_ptr=r.list_ptr * times,
        list_expert=(r.list_expert[lists] * times + copies).astype(np.int32),
        list_weight=r.list_weight[lists],
        entry_ptr=np.concatenate([[0], np.cumsum(r.list_size[lists])]),
        entry_slot=r.entry_slot[entries],
        entry_rank=r.entry_rank[entries],
        entry_score=None if r.entry_score is None else r.entry_score[entries],
    )


def more_items(rankings: jr.Rankings, times: int, *, tied: bool) -> jr.Rankings:
    """Every item ``times`` times, tied with its copies in every list, or directly above them."""
    r = rankings
    copies = np.tile(np.arange(times), r.n_entries)
    rank = np.repeat(r.entry_rank, times)
    return replace(
        r,
        items=np.array([f"{name}, {c}" for name in r.items for c in range(times)], object),
        slot_ptr=r.slot_ptr * times,
        slot_item=(np.repeat(r.slot_item, times) * times + np.tile(np.arange(times), r.n_slots)).astype(np.int32),
        entry_ptr=r.entry_ptr * times,
        entry_slot=(np.repeat(r.entry_slot, times) * times + copies).astype(np.int32),
        entry_rank=rank if tied else (rank - 1.0) * times + copies + 1.0,
        entry_score=None,
    )


def _row(rankings: jr.Rankings, expansion: str, times: int, scale: Scale) -> dict[str, Any]:
    r = expanded(rankings, expansion, times)
    row: dict[str, Any] = {
        "expansion": expansion,
        "times": times,
        "queries": len(r),
        "entries": r.n_entries / len(r),
    }
    for label in MODELS:
        row[f"{label} ms"] = least(partial(_orders, _model(label, r), r), scale.repeats) / len(r)
    few = r.take(spread(r, scale.dense_queries))
    ours, crf = (
        least(partial(_orders, _model(label, r), few), scale.repeats) / len(few) for label in ("svd, log-rank", "crf")
    )
    dense = dense_svd(few) / len(few)
    return {
        **row,
        "dense queries": len(few),
        "dense svd ms": dense,
        "features ms": ours,
        f"{SAME} ms": crf,
        "dense / features": dense / ours,
        "dense / crf": dense / crf,
    }


def _orders(model: Any, rankings: jr.Rankings) -> object:
    return model.predict(rankings).order


def _model(label: str, rankings: jr.Rankings) -> Any:
    name, params, width = MODELS[label]
    unfitted = jr.method(name, **params)
    weights = np.random.default_rng(0).normal(size=(len(rankings.experts) + 1) * width)
    learned = {"experts_": list(rankings.experts), "weights_": weights, "passes_": [1]}
    return type(unfitted).from_learned(unfitted.params(), learned)


def spread(rankings: jr.Rankings, most: int) -> Ints:
    """At most so many queries, evenly spaced in the order of their number of entries."""
    entries = np.bincount(rankings.list_query, rankings.list_size, minlength=len(rankings))
    at = np.linspace(0, len(rankings) - 1, min(most, len(rankings))).round().astype(np.int64)
    return np.sort(np.argsort(entries, kind="stable")[at])


def least(step: Callable[[], object], repeats: int) -> float:
    """The minimum time of ``step`` in milliseconds, after a first call."""
    step()
    return min(_milliseconds(step) for _ in range(repeats))


def _milliseconds(step: Callable[[], object]) -> float:
    elapsed, busy = time.perf_counter(), time.process_time()
    step()
    return 1000 * min(time.perf_counter() - elapsed, time.process_time() - busy)


def dense_svd(rankings: jr.Rankings) -> float:
    """Milliseconds that numpy needs to factorise the log-rank preferences of all lists."""
    total = 0.0
    owner = entry_list(rankings)
    for rank in np.split(rankings.entry_rank, np.flatnonzero(np.diff(owner)) + 1):
        total += _milliseconds(partial(np.linalg.svd, log_preferences(rank)))
    return total
