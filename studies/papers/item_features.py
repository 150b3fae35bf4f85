"""Lists beside item features: the synthetic data and the datasets of Bhowmik and Ghosh (WWW 2017)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import juryrank as jr
from studies.arrays import Floats, Ints, lists_by_score, merge_lists, slot_query

# Of the 15 numbers that LETOR 3.0 has for title, abstract and both: BM25, log(BM25) and three language models.
RETRIEVAL_SCORES = tuple(str(first + n) for first in (0, 15, 30) for n in range(11, 16))

# Of LETOR 4.0: BM25 and three language models, each for body, anchor, title, address and all of them, and PageRank.
RETRIEVAL_AND_PAGERANK = tuple(str(n) for n in range(21, 42))


@dataclass(frozen=True)
class Drawn:
    """Features of items, their true scores, and lists of scores [n_items, n_lists]."""

    features: Floats
    truth: Floats
    lists: Floats


def draw(
    seed: int, model: str = "gaussian", n_items: int = 200, n_features: int = 10,
    *, noise: float = 1.0, times: int = 1, poor: int = 3,
) -> Drawn:  # fmt: skip
    """Items with normal features and ten corrupted lists of their true scores.

    Two lists are shifted; three have added noise of 1/4, 1/2 and 1 standard deviation, two are multiplied by
    1 + noise of 1/4 and 1/2; the last three (``poor``) are pure noise. The noise of the good lists may be smaller, and
    all lists may be drawn several times.
    """
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_items, n_features))
    truth = features @ rng.normal(size=n_features)
    truth = truth if model == "gaussian" else np.exp(truth)
    deviation = truth.std()
    lists = []
    for _ in range(times):
        lists += [truth + 5 * deviation * rng.normal() for _ in range(2)]
        lists += [truth + noise * share * deviation * rng.normal(size=n_items) for share in (0.25, 0.5, 1.0)]
        lists += [truth * (1 + noise * share * rng.normal(size=n_items)) for share in (0.25, 0.5)]
        lists += [deviation * rng.normal(size=n_items) for _ in range(poor)]
    return Drawn(features, truth, np.column_stack(lists))


def synthetic(seed: int, model: str = "gaussian", n_items: int = 200, n_features: int = 10) -> jr.Dataset:
    """What ``draw`` draws as a dataset, with the true scores as labels."""
    drawn = draw(seed, model, n_items, n_features)
    return replace(from_matrix(drawn.lists, drawn.truth), features=drawn.features)


def from_matrix(scores: Floats, truth: Floats) -> jr.Dataset:
    """One query from scores [n_items, n_experts] and true scores; items and experts are numbered."""
    items = [f"{i:06d}" for i in range(len(scores))]
    slots = jr.from_array(np.ones((1, len(items))), items=items).rankings
    lists = lists_by_score(slots, [str(k + 1) for k in range(scores.shape[1])], scores)
    labels = jr.Labels(
        queries=lists.queries, items=lists.items, label_ptr=lists.slot_ptr, label_item=lists.slot_item,
        label_value=truth - truth.min(),
    )  # fmt: skip
    return jr.Dataset(rankings=lists, labels=labels)


def letor(folder: Path, name: str) -> jr.Dataset:
    """For example the lists of MQ2008-agg with the 46 features of MQ2008: its five parts, or the tests of its folds."""
    parts = sorted((folder / name).glob("S*.txt*")) or sorted((folder / name).glob("Fold*/test.txt*"))
    return jr.read(folder / f"{name}-agg", features=parts)


def letor_of_paper(folder: Path, name: str) -> jr.Dataset:
    """The same with PageRank and the scores of retrieval methods moved from the features to the lists."""
    data = letor(folder, name)
    assert data.features is not None
    at = [data.feature_names.index(name) for name in RETRIEVAL_AND_PAGERANK]
    rest = [n for n in range(len(data.feature_names)) if n not in at]
    experts = [f"feature {name}" for name in RETRIEVAL_AND_PAGERANK]
    lists = merge_lists(data.rankings, lists_by_score(data.rankings, experts, data.features[:, at]))
    names = tuple(data.feature_names[n] for n in rest)
    return replace(data, rankings=lists, features=data.features[:, rest], feature_names=names)


def ohsumed(folder: Path) -> jr.Dataset:
    """The retrieval scores of OHSUMED as 15 lists, the other 30 columns as features."""
    data = jr.read(folder / "OHSUMED")
    assert data.features is not None
    at = [data.feature_names.index(name) for name in RETRIEVAL_SCORES]
    rest = [n for n in range(len(data.feature_names)) if n not in at]
    names = tuple(data.feature_names[n] for n in rest)
    lists = lists_by_score(data.rankings, RETRIEVAL_SCORES, data.features[:, at])
    return replace(data, rankings=lists, features=data.features[:, rest], feature_names=names)


def with_list(data: jr.Dataset, expert: str, scores: Floats) -> jr.Dataset:
    """The data with one more list in every query."""
    return replace(data, rankings=merge_lists(data.rankings, lists_by_score(data.rankings, [expert], scores[:, None])))


def supervised_scores(data: jr.Dataset) -> Floats:
    """Scores of each fold's test queries by a ranker trained on its training queries; its penalty is validated."""
    out = np.zeros(data.rankings.n_slots)
    query = slot_query(data.rankings)
    for fold in data.folds:
        train, valid, test = (data[np.array(part)] for part in (fold.train, fold.valid, fold.test))
        models = [jr.method("retargeting", l2=l2).fit(train) for l2 in (0.001, 0.01, 0.1)]
        best = max(models, key=lambda model: model.score(valid))
        out[np.isin(query, fold.test)] = best.predict(test).scores[_sorted_slots(test, fold.test)]
    return out


def _sorted_slots(test: jr.Dataset, queries: tuple[int, ...]) -> Ints:
    """Slots of the test part in the order of the queries in the whole."""
    ptr = test.rankings.slot_ptr
    order = np.argsort(queries)
    return np.concatenate([np.arange(ptr[q], ptr[q + 1]) for q in order])
