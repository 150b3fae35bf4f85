"""Splits of the queries of a dataset, and tests of paired differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import juryrank as jr
from studies.arrays import Floats, Ints

DRAWS, CHUNK = 100_000, 2_000


@dataclass(frozen=True)
class Split:
    """Positions of training, validation and test queries."""

    train: Ints
    valid: Ints
    test: Ints


@dataclass(frozen=True, eq=False)
class Part:
    """The data of one split."""

    train: jr.Dataset
    valid: jr.Dataset | None
    test: jr.Dataset


def own_splits(data: jr.Dataset) -> list[Split]:
    """The folds that come with a dataset."""
    return [Split(*(np.array(part, np.int64) for part in (f.train, f.valid, f.test))) for f in data.folds]


def rotation(data: jr.Dataset, n: int, seed: int = 0) -> list[Split]:
    """``n`` random parts of the labelled queries, each once for testing and once for validation, as in ``compare``."""
    assert data.labels is not None
    labelled = np.flatnonzero(np.diff(data.labels.label_ptr) > 0)
    parts = [np.sort(part) for part in np.array_split(np.random.default_rng(seed).permutation(labelled), n)]
    splits = []
    for test in range(n):
        valid = (test + 1) % n
        train = np.sort(np.concatenate([part for k, part in enumerate(parts) if k not in (test, valid)]))
        splits.append(Split(train, parts[valid], parts[test]))
    return splits


def part_of(data: jr.Dataset, split: Split) -> Part:
    """The training, validation and test queries of a split; validation queries may be absent."""
    return Part(data.take(split.train), data.take(split.valid) if len(split.valid) else None, data.take(split.test))


def randomisation_test(differences: Floats, seed: int = 0) -> Floats:
    """Two-sided p of each column of paired differences [n_pairs, n_tests]: how often random signs give such a mean."""
    rng, total = np.random.default_rng(seed), differences.sum(axis=0)
    slack, as_far = 1e-12 * np.abs(differences).sum(axis=0), np.zeros(differences.shape[1])
    for _ in range(DRAWS // CHUNK):
        bits = rng.integers(0, 256, (CHUNK, -(-len(differences) // 8)), np.uint8)
        positive = np.unpackbits(bits, axis=1, count=len(differences)).astype(np.float64)
        as_far += (np.abs(2 * (positive @ differences) - total) >= np.abs(total) - slack).sum(axis=0)
    p: Floats = (as_far + 1) / (DRAWS + 1)
    return p
