"""The inputs of ``evaluate``: rankings of any kind as consensuses by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juryrank.data import Consensus, Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, warn_about_data
from juryrank.kernels.ragged import children, parents, sizes_to_ptr

Evaluable = Consensus | Dataset | Rankings | Mapping[str, Any]


def consensus_by_name(given: Evaluable) -> tuple[dict[str, Consensus], bool]:
    """The rankings as consensuses by name, and whether there is only one."""
    if isinstance(given, Consensus):
        return {"consensus": given}, True
    if isinstance(given, Dataset | Rankings):
        return consensus_by_expert(as_dataset(given).rankings), False
    if not isinstance(given, Mapping):
        raise DataError(f"only a Consensus, a Dataset or a mapping can be evaluated; got {type(given).__name__}")
    if is_run(given):
        return {"run": _from_run(given)}, True
    things: dict[str, Consensus] = {}
    for name, thing in given.items():
        found, single = consensus_by_name(thing)
        things.update(
            {str(name): found[only] for only in found} if single else {f"{name}/{e}": found[e] for e in found}
        )
    return things, False


def consensus_by_expert(rankings: Rankings) -> dict[str, Consensus]:
    """The lists of each expert as a consensus over the items that it ranked."""
    score = _entry_scores(rankings)
    return {name: _consensus_of(rankings, score, expert) for expert, name in enumerate(rankings.experts)}


def _consensus_of(r: Rankings, entry_score: Floats, expert: int) -> Consensus:
    lists = np.flatnonzero(r.list_expert == expert)
    query = r.list_query[lists]
    if len(again := np.flatnonzero(query[1:] == query[:-1])):
        where = f"expert {r.experts[expert]!r} has several in query {r.queries[query[again[0]]]!r}"
        raise DataError(f"an expert can be evaluated only with one list per query, but {where}")
    entries = children(r.entry_ptr, lists)
    sizes = np.zeros(len(r), np.int64)
    sizes[query] = r.list_size[lists]
    alone = Rankings(
        queries=r.queries,
        experts=r.experts[expert : expert + 1],
        items=r.items,
        slot_ptr=sizes_to_ptr(sizes),
        slot_item=r.slot_item[r.entry_slot[entries]],
        list_ptr=sizes_to_ptr((sizes > 0).astype(np.int64)),
        list_expert=np.zeros(int((sizes > 0).sum()), np.int32),
        list_weight=np.ones(int((sizes > 0).sum())),
        entry_ptr=sizes_to_ptr(sizes[sizes > 0]),
        entry_slot=np.arange(len(entries), dtype=np.int32),
        entry_rank=r.entry_rank[entries],
    )
    vars(alone)["items_sorted"] = r.items_sorted  # the same names, which are many
    return Consensus(alone, entry_score[entries])


def _entry_scores(r: Rankings) -> Floats:
    """The scores of the entries, or negative ranks if there are no scores or they contradict the ranks."""
    if r.entry_score is None:
        return -r.entry_rank
    if len(rising := rising_entries(r)):
        warn_of_rising_scores(len(rising))
        return -r.entry_rank
    return r.entry_score


def rising_entries(r: Rankings) -> Ints:
    """The entries with a higher score than the entry ranked above them."""
    if r.entry_score is None:
        return np.zeros(0, np.int64)
    same_list = np.diff(parents(r.entry_ptr)) == 0
    return np.flatnonzero(same_list & (np.diff(r.entry_score) > 0)) + 1


def warn_of_rising_scores(count: int) -> None:
    """Warn of scores that contradict the ranks."""
    warn_about_data(f"{count} entries have a higher score than the entry ranked above them; ranks are used")


def is_run(given: Mapping[str, Any]) -> bool:
    """Whether a mapping is ``{query: {item: score}}`` or ``{query: [item, …]}``, rather than rankings by name."""
    for inner in given.values():
        if isinstance(inner, Consensus | Dataset):
            return False
        if not isinstance(inner, Mapping):
            return True
        if inner:
            return not isinstance(next(iter(inner.values())), Mapping | list | tuple)
    return True


def _from_run(run: Mapping[str, Any]) -> Consensus:
    from juryrank.data.build import from_dicts

    alone = consensus_by_expert(from_dicts({"run": run}).rankings)
    if not alone:
        raise DataError("the run is empty")
    return alone["run"]
