"""When two Datasets say the same, whatever the order of their slots and lists."""

from collections import Counter

import numpy as np

from juryrank.data import Dataset
from juryrank.io.dataset_frames import entries_of, labels_frame, slot_frame

WEIGHT = "label_weight"


def lists_of(data: Dataset, *, experts: bool = True, scores: bool = True, gaps: bool = True) -> Counter[object]:
    """Every list as a plain value, counted by its weight; ``gaps=False`` keeps order and ties of ranks only."""
    r = data.rankings
    entries = entries_of(r)
    lists: Counter[object] = Counter()
    for (_,), rows in entries.group_by("list", maintain_order=True):
        ranks = rows["rank"].to_list()
        if not gaps:
            ranks = [sorted(set(ranks)).index(rank) for rank in ranks]
        told = rows["score"].to_list() if scores and "score" in rows.columns else [None] * len(ranks)
        members = frozenset(zip(rows["item"], ranks, told, strict=True))
        lists[rows["query"][0], rows["expert"][0] if experts else "", members] += rows["weight"][0]
    return lists


def slots_of(data: Dataset) -> set[tuple[str, ...]]:
    return set(slot_frame(data.rankings).iter_rows())


def labels_of(data: Dataset) -> dict[tuple[str, str], float]:
    if data.labels is None:
        return {}
    return {(query, item): label for query, item, label in labels_frame(data).drop(WEIGHT, strict=False).iter_rows()}


def label_weights_of(data: Dataset) -> dict[tuple[str, str], float]:
    if data.labels is None or data.labels.label_weight is None:
        return {}
    return {(query, item): weight for query, item, weight in labels_frame(data).drop("label").iter_rows()}


def features_of(data: Dataset) -> dict[object, list[float]]:
    if data.features is None:
        return {}
    rows = np.nan_to_num(data.features, nan=-99).tolist()
    return dict(zip(slot_frame(data.rankings).iter_rows(), rows, strict=True))


def assert_same(one: Dataset, other: Dataset) -> None:
    assert one.queries == other.queries
    assert slots_of(one) == slots_of(other)
    assert lists_of(one) == lists_of(other)
    assert labels_of(one) == labels_of(other)
    assert label_weights_of(one) == label_weights_of(other)
    assert features_of(one) == features_of(other)
