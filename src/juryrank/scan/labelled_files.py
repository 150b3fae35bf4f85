"""Files with lists and labels, in batches of queries that fit into the memory limit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from juryrank.data import Dataset, Labels, Rankings
from juryrank.data.arrays import Ints
from juryrank.data.label_matching import check_counts, check_queries, count_matches, unmatched_text
from juryrank.data.names import sort_naturally
from juryrank.errors import DataError, DataWarning
from juryrank.io.limits import size_text
from juryrank.io.tables.columns import Columns
from juryrank.polars import pl, require_threads
from juryrank.progress import track
from juryrank.scan import QueryFiles
from juryrank.scan.batches import Batch
from juryrank.scan.label_source import LabelSource, open_labels
from juryrank.scan.memory import batch_size, in_order
from juryrank.scan.parquet import TableFile
from juryrank.scan.trec_run import RunFile

R = TypeVar("R")
T = TypeVar("T")


class LabelledFiles:
    """Several files with lists, read in batches of about ``size`` bytes, each with the labels of its queries.

    All batches have the same experts.
    """

    def __init__(self, files: QueryFiles, labels: LabelSource | None, *, size: int) -> None:
        self.files, self.labels, self.size = files, labels, size
        self.n_queries = len(files.queries)
        self.has_labels = labels is not None or any(
            isinstance(file, TableFile) and "label" in file.layout.headers for file in files.files
        )
        self.cost = np.zeros(self.n_queries, np.int64)
        for file, places in zip(files.files, files.places, strict=True):
            np.add.at(self.cost, places.query, file.weight * (places.stop - places.start))
        self._label_number = np.full(self.n_queries, -1, np.int64)
        self.n_unused_labels = 0  # queries with labels that are in no list
        if labels is not None:
            self._join_queries(labels)
        self._checked = False  # whether the items of lists and labels have been compared
        self._passes = 0
        self.experts: tuple[str, ...] = ()
        self.experts = self._all_experts()

    def _join_queries(self, labels: LabelSource) -> None:
        """Find the labels of each query."""
        number = pl.DataFrame({"query": labels.queries, "number": np.arange(len(labels.queries))})
        ours = self.files.queries.alias("query").to_frame()
        found = ours.join(number, on="query", how="left", maintain_order="left")["number"]
        self._label_number = found.fill_null(-1).to_numpy().astype(np.int64)
        here = self._label_number >= 0
        self.n_unused_labels = len(labels.queries) - int(here.sum())
        if self.n_unused_labels > 0 and not here.all():
            theirs, mine = _labels_of(labels.queries.to_list()), _rankings_of(self.files.queries.to_list())
            check_queries(theirs, mine, np.arange(len(theirs)), np.arange(len(mine)))
        self.cost[here] += labels.sizes[self._label_number[here]]

    def _all_experts(self) -> tuple[str, ...]:
        """The experts of all files, in natural order."""
        files = self.files
        known = [{name} if name else file.experts for file, name in zip(files.files, files.names, strict=True)]
        if any(isinstance(file, RunFile) and len(file.tags) > 1 for file in files.files):  # some may not be known
            known = [set(batch.data.experts) for batch in self._results(self._read, self._split(None))]
        return tuple(sort_naturally(pl.Series(sorted(set[str]().union(*known)), dtype=pl.String)))

    def map(self, work: Callable[[Batch], T], together: Ints | None = None) -> Iterator[T]:
        """The result of ``work`` on each batch, in order; warnings about data are given in the first pass only.

        Neighbouring queries with equal numbers in ``together`` are in one batch.
        """
        matches: list[tuple[int, int, str]] = []
        first, self._passes = self._passes == 0, self._passes + 1

        def labelled(queries: range) -> tuple[T, tuple[int, int, str] | None]:
            batch = self._with_labels(self._read(queries))
            match = None if self._checked or self.labels is None else _match(batch.data)
            return work(batch), match

        with nullcontext() if first else warnings.catch_warnings():
            if not first:
                warnings.simplefilter("ignore", DataWarning)
            for result, match in self._results(labelled, self._split(together)):
                matches += [] if match is None else [match]
                yield result
        if matches and (n := sum(match[0] for match in matches)):
            names = next((match[2] for match in matches if match[1]), "")
            check_counts(n, sum(match[1] for match in matches), lambda: names)
        self._checked = True

    def _split(self, together: Ints | None) -> list[range]:
        """Batches of queries that take about ``size`` bytes; queries that belong together are never apart."""
        starts = np.arange(self.n_queries) if together is None else np.flatnonzero(np.diff(together, prepend=-1))
        ends = np.cumsum(np.add.reduceat(self.cost, starts))
        group, out = 0, []
        while group < len(starts):
            before = int(ends[group - 1]) if group else 0
            last = max(group + 1, int(np.searchsorted(ends, before + self.size, side="right")))
            if together is not None and int(ends[group]) - before > self.size:
                self._demand_room(int(ends[group]) - before)
            stop = starts[last] if last < len(starts) else self.n_queries
            out.append(range(int(starts[group]), int(stop)))
            group = last
        return out

    def _demand_room(self, needed: int) -> None:
        raise DataError(
            f"with so many experts, queries are held out in groups, and a group takes about {size_text(needed)} of "
            f"{size_text(self.size)} for a batch; raise the memory limit {needed / self.size:.1f} times"
        )

    def _results(self, work: Callable[[range], R], batches: list[range]) -> Iterator[R]:
        return in_order(work, track(batches, "queries"))

    def _read(self, queries: range) -> Batch:
        """The lists of some queries, with the experts of all files."""
        data, numbers = self.files.read(queries), np.arange(queries.start, queries.stop)
        if len(data) < len(queries):  # a query of which nothing can be used
            known = set(data.queries)
            numbers = numbers[[name in known for name in self.files.queries[queries.start : queries.stop]]]
        if self.experts and data.experts != self.experts:
            r = data.rankings
            place = r.positions_in(self.experts).astype(np.int32)
            data = replace(data, rankings=replace(r, experts=self.experts, list_expert=place[r.list_expert]))
        return Batch(data, numbers)

    def _with_labels(self, batch: Batch) -> Batch:
        """The batch with the labels of its queries, if there are labels at all."""
        data = batch.data
        if self.labels is None and (data.labels is not None or not self.has_labels):
            return batch
        chosen = self._label_number[batch.numbers]
        chosen = chosen[chosen >= 0]
        labels = self.labels.take(chosen) if self.labels is not None and len(chosen) else _labels_of(())
        return replace(batch, data=replace(data, labels=labels.align_to(data.rankings)))


def _match(data: Dataset) -> tuple[int, int, str]:
    """The number of queries with labels, of those in which no ranked item is judged, and examples of names."""
    assert data.labels is not None
    n, empty = count_matches(data.labels, data.rankings)
    return n, empty, unmatched_text(data.labels, data.rankings) if empty else ""


def _labels_of(queries: Sequence[str]) -> Labels:
    """One label of no item for each query: enough to compare names of queries."""
    n = len(queries)
    return Labels(
        queries=tuple(queries),
        items=np.array([""], object),
        label_ptr=np.arange(n + 1),
        label_item=np.zeros(n, np.int32),
        label_value=np.zeros(n),
    )


def _rankings_of(queries: Sequence[str]) -> Rankings:
    """Queries without items: enough to compare names of queries."""
    none, nothing = np.zeros(len(queries) + 1, np.int64), np.zeros(0, np.int32)
    return Rankings(
        queries=tuple(queries),
        experts=(),
        items=np.zeros(0, object),
        slot_ptr=none,
        slot_item=nothing,
        list_ptr=none,
        list_expert=nothing,
        list_weight=np.zeros(0),
        entry_ptr=np.zeros(1, np.int64),
        entry_slot=nothing,
        entry_rank=np.zeros(0),
    )


def open_files(
    paths: Sequence[str | os.PathLike[str]],
    labels: Any = None,
    *,
    memory: int,
    share: float = 1.0,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
    label_columns: Columns = None,
) -> LabelledFiles:
    """The files and labels, in batches for a memory limit; ``share`` is the part of it that is for reading a batch."""
    require_threads("to read query by query")
    files = QueryFiles([Path(path) for path in paths], format, options or {})
    source = None if labels is None else open_labels(labels, label_columns, memory)
    size = batch_size(files, memory, labels=None if source is None else source.nbytes, share=share)
    return LabelledFiles(files, source, size=size)


class ChosenQueries:
    """Batches of the queries with some numbers, such as the training queries of a fold."""

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
