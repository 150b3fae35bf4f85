"""Lists ranked by a Dataset: what any method can do, for one query or many."""

from __future__ import annotations

from copy import copy
from typing import Any

from juryrank.data.shapes import ItemList, as_texts, warn_of_lists_without_scores
from juryrank.methods import Aggregator

Runs = dict[str, dict[str, ItemList]]  # by expert and query


def rank_by_dataset(runs: Runs, model: Aggregator, values: str) -> dict[str, dict[Any, float]]:
    """The ranking of every query, also of one without a single item."""
    from juryrank.data.build import from_lists  # of one query, most methods need neither

    own = as_texts([item for queries in runs.values() for listed in queries.values() for item in listed.items])[1]
    if own is not None:
        runs = {
            e: {q: ItemList(list(map(str, of.items)), of.numbers) for q, of in qs.items()} for e, qs in runs.items()
        }
    if model.uses_scores and values == "score":
        warn_of_lists_without_scores([listed for queries in runs.values() for listed in queries.values()])
    data = from_lists([(e, query, listed) for e, queries in runs.items() for query, listed in queries.items()], values)
    here = model.for_experts(data.experts)
    fused = (here if here.is_fitted else copy(here).fit(data)).predict(data, warn_unknown=False).to_dict()
    for queries in runs.values():
        for query in queries:
            fused.setdefault(query, {})
    if model.ties_by_appearance:
        fused = {query: _by_appearance(scores, query, runs, values) for query, scores in fused.items()}
    if own is None:
        return fused
    return {query: {own[item]: score for item, score in scores.items()} for query, scores in fused.items()}


def _by_appearance(scores: dict[str, float], query: str, runs: Runs, values: str) -> dict[str, float]:
    """The same scores, equal ones in the order in which the lists, as they are given, have the items."""
    seen: dict[str, None] = {}
    for queries in runs.values():
        items, numbers = queries.get(query, ([], None))
        if numbers is not None:
            order = sorted(range(len(items)), key=numbers.__getitem__, reverse=values == "score")
            items = [items[n] for n in order]
        seen.update(dict.fromkeys(items))
    order_of_scores = sorted((item for item in seen if item in scores), key=scores.__getitem__, reverse=True)
    return {item: scores[item] for item in order_of_scores}
