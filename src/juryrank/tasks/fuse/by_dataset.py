"""Lists of which each entry is looked at: ranked by the formula of a method, or by a Dataset."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from itertools import islice
from math import isfinite
from typing import Any

from juryrank.data.plain_lists import PlainList, as_item_lists, clean
from juryrank.data.shapes import ItemList, Key, as_item_list, as_texts, by_name, warn_of_lists_without_scores
from juryrank.errors import DataError, warn_about_data
from juryrank.methods import Aggregator
from juryrank.tasks.fuse.formula_sums import FormulaSums

Runs = Mapping[tuple[str, str], ItemList]  # by expert and query
ONE = "one"  # the name of the only query


def runs_of_one(lists: Mapping[Any, Any], values: str, key: Key) -> dict[tuple[str, str], ItemList]:
    """The lists of the only query."""
    return {
        (expert, ONE): as_item_list(given, f"expert {expert!r}", key, values)
        for expert, given in by_name(lists).items()
    }


def by_query(runs: Mapping[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """The lists of each query, by expert."""
    out: dict[str, dict[str, Any]] = {}
    for (expert, query), listed in runs.items():
        out.setdefault(query, {})[expert] = listed
    return out


def fuse_item_lists(
    model: Aggregator, sums: FormulaSums | None, runs: Runs, values: str, top: int | None
) -> dict[str, dict[Any, float]]:
    """The ranking of every query, by the formula of the method if it has one, else by a Dataset."""
    if sums is not None:
        cleaned = clean_for(model, runs, values)
        fused = {}
        for query, lists in by_query(cleaned).items():
            if (ranked := sums(lists, top)) is None:
                break
            fused[query] = ranked
        else:
            return fused
        runs, values = as_item_lists(cleaned)  # scores overflow, which a Dataset reports
    fused = rank_by_dataset(runs, model, values)
    return {query: dict(islice(ranked.items(), top)) for query, ranked in fused.items()}


def clean_for(model: Aggregator, runs: Runs, values: str) -> dict[tuple[str, str], PlainList]:
    """The lists cleaned; warns of gaps in ranks where they matter to the method."""
    cleaned = clean(runs, uses_scores=model.uses_scores, values=values)
    weights = getattr(model, "weights", None) or {}
    filled = [of for (expert, _), of in cleaned.items() if of.items and float(weights.get(expert, 1.0)) > 0]
    gaps = sum(of.ranks is not None and max(of.ranks) > len(of.items) for of in filled)
    if text := model.warning_of_gaps(gaps, len(filled)):
        warn_about_data(text)
    return cleaned


def clean_one(model: Aggregator, lists: Mapping[str, Any], values: str, key: Key) -> dict[str, PlainList]:
    """The same for the lists of the only query."""
    return {expert: of for (expert, _), of in clean_for(model, runs_of_one(lists, values, key), values).items()}


def rank_cleaned(
    model: Aggregator, sums: FormulaSums | None, lists: Mapping[str, PlainList], top: int | None
) -> dict[Any, float]:
    """The ranking of the cleaned lists of one query."""
    if sums is None:
        runs, values = as_item_lists({(expert, ONE): listed for expert, listed in lists.items()})
        return dict(islice(rank_by_dataset(runs, model, values).get(ONE, {}).items(), top))
    if (ranked := sums(lists, top)) is None:
        raise DataError("the scores of the lists are too large to be combined; scale them down")
    return ranked


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
