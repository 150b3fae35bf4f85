"""A forest of decision trees as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.dense import tree_scores


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees one after the other, with consecutive node numbers; a child comes after its parent."""

    root: Ints  # [n_trees]
    feature: Ints  # [n_nodes]
    threshold: Floats  # [n_nodes] smaller or equal goes left
    left: Ints  # [n_nodes] -1 at leaves
    right: Ints  # [n_nodes]
    missing_left: NDArray[np.bool_]  # [n_nodes]
    value: Floats  # [n_nodes] of leaves

    def __len__(self) -> int:
        return len(self.root)

    def fault(self, n_columns: int) -> str | None:
        """The fault of an invalid forest: an index out of range, or a child that does not come after its parent."""
        inner = np.flatnonzero(self.left >= 0)
        for name, child in (("left_", self.left), ("right_", self.right)):
            if len(astray := inner[(child[inner] <= inner) | (child[inner] >= len(self.left))]):
                return f"{name} must lead from a node to a later one, found {child[astray[0]]} at node {astray[0]}"
        for name, index, end in (("root_", self.root, len(self.left)), ("feature_", self.feature[inner], n_columns)):
            if ((index < 0) | (index >= end)).any():
                return f"{name} must be from 0 to {end - 1}, found {index.min()} to {index.max()}"
        return None

    def first(self, n_trees: int) -> Forest:
        """The first trees."""
        end = int(self.root[n_trees]) if n_trees < len(self) else len(self.left)
        return Forest(
            self.root[:n_trees], self.feature[:end], self.threshold[:end], self.left[:end], self.right[:end],
            self.missing_left[:end], self.value[:end],
        )  # fmt: skip

    def add_scores(self, x: Floats, slot_ptr: Ints, out: Floats, trees: slice = slice(None)) -> None:
        """Add the score of some of the trees to each slot's."""
        tree_scores(
            slot_ptr, x, self.root[trees], self.feature, self.threshold, self.left, self.right, self.missing_left,
            self.value, out,
        )  # fmt: skip
