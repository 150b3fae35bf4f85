"""Singular vectors of the preferences in a list, their signs, and a linear ranker on them."""

from __future__ import annotations

import numpy as np

import juryrank as jr
from studies.arrays import Floats, entry_list, slot_query
from studies.papers.folds import Split

PENALTY = 1.0  # of the squared weights


def log_preferences(rank: Floats) -> Floats:
    """The matrix of how strongly a list prefers one of its items to another, by the logarithms of ranks."""
    log = np.log(rank)
    matrix: Floats = np.maximum(log[None, :] - log[:, None], 0.0) / (log.max() or 1.0)
    return matrix


def first_vectors(r: jr.Rankings) -> Floats:
    """The first left and right singular vector of each list, [n_entries, 2], with the signs that numpy returns."""
    out = np.zeros((r.n_entries, 2))
    for start, end in zip(r.entry_ptr[:-1], r.entry_ptr[1:], strict=True):
        if end > start:
            left, _, right = np.linalg.svd(log_preferences(r.entry_rank[start:end]))
            out[start:end] = np.stack([left[:, 0], right[0]], axis=1)
    return out


def non_negative(vectors: Floats, r: jr.Rankings) -> Floats:
    """The same vectors with the signs that make their sums non-negative."""
    lists = entry_list(r)
    sums = np.bincount(lists, vectors.sum(axis=1), r.n_lists)
    signed: Floats = vectors * np.where(sums < 0, -1.0, 1.0)[lists, None]
    return signed


def random_signs(vectors: Floats, r: jr.Rankings) -> Floats:
    """The same vectors with a random sign for each list."""
    signed: Floats = vectors * np.random.default_rng(0).choice([-1.0, 1.0], r.n_lists)[entry_list(r), None]
    return signed


def columns(vectors: Floats, r: jr.Rankings) -> Floats:
    """Three numbers per slot and expert: whether it is ranked, and both vectors; centred within queries."""
    out = np.zeros((r.n_slots, len(r.experts), 3))
    expert = r.list_expert[entry_list(r)]
    out[r.entry_slot, expert, 0] = 1.0
    out[r.entry_slot, expert, 1:] = vectors
    return _centred(out.reshape(r.n_slots, -1), r)


def ranking(columns: Floats, data: jr.Dataset, split: Split) -> jr.Consensus:
    """The test queries of a split, ranked by a ridge regression of labels that was fitted on its training queries."""
    train = np.isin(slot_query(data.rankings), split.train)
    labels = _centred(np.nan_to_num(data.slot_labels)[:, None], data.rankings)[train, 0]
    x = columns[train]
    weights = np.linalg.solve(x.T @ x + PENALTY * np.eye(x.shape[1]), x.T @ labels)
    return jr.Consensus(data.rankings, columns @ weights).take(split.test)


def _centred(values: Floats, r: jr.Rankings) -> Floats:
    sums = np.add.reduceat(values, r.slot_ptr[:-1], axis=0)
    centred: Floats = values - np.repeat(sums / r.query_size[:, None], r.query_size, axis=0)
    return centred
