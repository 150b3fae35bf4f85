"""Lists ranked by a Dataset: what any method can do, for one query or many."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import isfinite
from typing import Any

from juryrank.data.shapes import ItemList, as_texts, warn_of_lists_without_scores
from juryrank.methods import Aggregator

Runs = Mapping[tuple[str, str], ItemList]  # by expert and query


def rank_by_dataset(runs: Runs, model: Aggregator, values: str) -> dict[str, dict[Any, float]]:
    """The ranking of every query with an item."""
    from juryrank.data.build import from_lists  # of one query, most methods need neither

    own = as_texts([item for listed in runs.values() for item in listed.items])[1]
    if own is not None:
        runs = {name: ItemList(list(map(str, of.items)), of.numbers) for name, of in runs.items()}
    if model.uses_scores and values == "score":
        warn_of_lists_without_scores(list(runs.values()))
    data = from_lists([(expert, query, listed) for (expert, query), listed in runs.items()], values)
    here = model.for_experts(data.experts)
    fused = (here if here.is_fitted else copy(here).fit(data)).predict(data, warn_unknown=False).to_dict()
    if model.ties_by_appearance:
        fused = {query: _by_appearance(scores, query, runs, values) for query, scores in fused.items()}
    if own is None:
        return fused
    return {query: {own[item]: score for item, score in scores.items()} for query, scores in fused.items()}


def _by_appearance(scores: dict[str, float], query: str, runs: Runs, values: str) -> dict[str, float]:
    """The same scores, equal ones in the order in which the lists, as they are given, have the items."""
    seen: dict[str, None] = {}
    for (_, of_query), (items, numbers) in runs.items():
        if of_query != query:
            continue
        if numbers is not None:
            known = [n for n, number in enumerate(numbers) if isfinite(number)]
            order = sorted(known, key=numbers.__getitem__, reverse=values == "score")
            items = [items[n] for n in order]
        seen.update(dict.fromkeys(items))
    order_of_scores = sorted((item for item in seen if item in scores), key=scores.__getitem__, reverse=True)
    return {item: scores[item] for item in order_of_scores}
