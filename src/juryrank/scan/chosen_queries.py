"""Some of the queries of files, in batches: the training queries of a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.scan.batches import Batch
from juryrank.scan.labelled_files import LabelledFiles

T = TypeVar("T")


class ChosenQueries:
    """Batches of the queries with some numbers."""

    def __init__(self, files: LabelledFiles, chosen: Ints) -> None:
        self.files, self.n_queries = files, len(chosen)
        self.position = np.full(files.n_queries, -1, np.int64)
        self.position[chosen] = np.arange(len(chosen))

    def map(self, work: Callable[[Batch], T], together: Ints | None = None) -> Iterator[T]:
        """As ``LabelledFiles.map``; ``together`` is about the chosen queries, and batches without any are left out."""

        def on_chosen(batch: Batch) -> list[T]:
            here = np.flatnonzero(self.position[batch.numbers] >= 0)
            if not len(here):
                return []
            return [work(Batch(batch.data.take(here), self.position[batch.numbers[here]]))]

        if together is not None:
            before = np.cumsum(self.position >= 0)
            together = together[np.maximum(before - 1, 0)]
        for found in self.files.map(on_chosen, together):
            yield from found
