"""Gram matrices of position curves and gains, centred in queries, of parts of the labelled queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.dense import centre_features, gram_products
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.linear_algebra import gram_matrix


@dataclass(frozen=True)
class BlockSizes:
    """Sizes of blocks of computation; results do not depend on them."""

    features: int = 1 << 23  # numbers of features: 64 MB
    grams: int = 1 << 17  # numbers of Gram matrices: they stay in the processor's cache
    threaded_width: int = 200  # columns from which a matrix product pays for the threads that it starts


BLOCK_SIZES = BlockSizes()


@dataclass(frozen=True, eq=False)
class GramMatrices:
    """The factors of Gram matrices: the curves of each entry, and the column of each list.

    The columns of a matrix are curve by curve of column 0, of column 1, and so on, then the gain.
    """

    queries: LabelledQueries
    entry_curves: Floats  # [n_entries, n_curves]
    list_column: Ints  # [n_lists]
    n_columns: int
    block_sizes: BlockSizes = BLOCK_SIZES

    @property
    def width(self) -> int:
        return self.n_columns * int(self.entry_curves.shape[1]) + 1

    def blocks(self, parts: Ints) -> Iterator[tuple[int, Floats]]:
        """Blocks of parts of the queries (``parts`` are offsets): the first part's number, and a Gram matrix each."""
        step = max(1, self.block_sizes.grams // self.width**2)
        for begin, end, row_ptr, z in self._centred_features(parts):
            for part in range(begin, end, step):
                here = parts[part : min(part + step, end) + 1]
                yield part, self._products(row_ptr[here - parts[begin]], z)

    def _centred_features(self, parts: Ints) -> Iterator[tuple[int, int, Ints, Floats]]:
        """Blocks of parts, as many as fit in memory: first and last, offsets of rows by query, centred features."""
        queries, r = self.queries, self.queries.rankings
        row_ptr = sizes_to_ptr(queries.weights > 0)[r.slot_ptr]
        points = self.entry_curves * np.repeat(r.list_weight, r.list_size)[:, None]
        most = self.block_sizes.features // self.width
        begin = 0
        while begin < len(parts) - 1:
            fit = np.searchsorted(row_ptr[parts], row_ptr[parts[begin]] + most, side="right") - 1
            end = max(int(fit), begin + 1)
            here = slice(parts[begin], parts[end] + 1)
            rows = row_ptr[here] - row_ptr[parts[begin]]
            z = np.zeros((rows[-1], self.width))
            centre_features(
                r.slot_ptr[here], rows, r.list_ptr[here], r.entry_ptr, r.entry_slot, points, self.list_column,
                queries.weights, queries.gains, z,
            )  # fmt: skip
            yield begin, end, rows, z
            begin = end

    def _products(self, row_ptr: Ints, z: Floats) -> Floats:
        if self.width >= self.block_sizes.threaded_width:
            return np.stack([gram_matrix(z[a:b]) for a, b in pairwise(row_ptr)])
        out = np.empty((len(row_ptr) - 1, self.width, self.width))
        gram_products(row_ptr - row_ptr[0], z[row_ptr[0] : row_ptr[-1]], out)
        return out
