"""TREC text by the scanner of ``kernels.trec``, in several threads: runs as a Dataset or as rows, qrels as rows."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.arrays import Codes, Ints
from juryrank.data.names import sorted_naturally
from juryrank.errors import DataError
from juryrank.io.experts import aliases
from juryrank.io.list_rankings import Team, rankings_of_lists
from juryrank.io.rows import Rows, report_contradictions
from juryrank.io.source import Source
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.kernels.slots import gather_lists
from juryrank.kernels.threads import threads
from juryrank.kernels.trec import Lines, Names
from juryrank.polars import is_imported, pl

BYTES_PER_THREAD = 500_000  # below, a thread costs more than it saves
LITTLE = 1_000_000  # bytes of names, which Python splits in the time that the import of polars takes
NUMBERS = ("rank", "score", "label")
Columns = tuple[str, ...]


class Pieces(NamedTuple):
    """Lines of some texts, in the order in which they are read."""

    source: Ints
    start: Ints  # in bytes
    stop: Ints


class Lists(NamedTuple):
    """The lists of all parts, ordered by query and expert."""

    queries: list[str]
    experts: list[str]
    order: Ints  # numbers of lists, which are counted through all parts
    list_ptr: Ints
    list_expert: Ints
    entry_ptr: Ints
    aliases: dict[str, str]


class Runs:
    """The lines of some runs with these columns, read in several threads.

    ``pieces`` are read one after the other, in one thread: if the lists of a query are consecutive, names are still in
    the cache.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        columns: Sequence[Columns],
        pieces: Pieces | None = None,
        *,
        bytes_per_thread: int = BYTES_PER_THREAD,
    ) -> None:
        self.sources, self.columns, self.pieces = sources, columns, pieces
        ends = np.cumsum([len(source.data) for source in sources])
        n = 1 if pieces is not None else max(1, min(threads(), int(ends[-1]) // bytes_per_thread))
        cuts = [0, *np.searchsorted(ends, ends[-1] * np.arange(1, n) / n).tolist(), len(ends)]
        self.cuts = [(first, last) for first, last in pairwise(cuts) if first < last]
        self.parts = self._scan()

    def _scan(self) -> list[Lines]:
        """The lines in a part for each thread."""
        with Team(len(self.cuts)) as team:
            parts = [(self.sources[first:last], self.columns[first:last]) for first, last in self.cuts]
            return team.call([partial(scan, *part, self.pieces) for part in parts])

    def rows(self) -> list[Rows]:
        """The rows of each run; an error for the first line that is not one of a run."""
        out: list[Rows] = []
        for lines in self.parts or self._scan():
            names = [names_in(bytes(each)) for each in (lines.queries, lines.items, lines.experts)]
            for n in range(len(lines.contradictions)):
                source = self.sources[len(out)]
                if lines.bad is not None and lines.bad[0] == n:
                    raise line_error(source, self.columns[len(out)], lines.bad[1])
                report_contradictions(int(lines.contradictions[n]), str(source.path), "scores")
                entries = frame_of(lines, names, n)
                out.append(Rows(name=str(source.path), entries=entries, one_expert=entries["expert"].n_unique() == 1))
        return out

    def dataset(self) -> Dataset | None:
        """The Dataset of all runs, in a fifth of the time that their rows take; it takes their memory.

        None where there is nothing, or what ``rows`` repair or report: lines that are not of runs, scores that are not
        finite, lists that rise in score or are in two places, an item twice in a list, and experts that files share.
        """
        if any(lines.bad is not None or not np.isfinite(lines.score).all() for lines in self.parts):
            return None
        with Team(len(self.parts)) as team:
            (items, places), lists = team.call([self._order_items, self._order_lists])
            if lists is None:
                return None
            entry_item, score = np.empty(lists.entry_ptr[-1], np.int32), np.empty(lists.entry_ptr[-1])
            first = sizes_to_ptr([len(lines.list_source) for lines in self.parts])

            def gather(n: int) -> None:
                lines = self.parts[n]
                start, known = lines.list_start[:-1], (lines.item, places[n], lines.score)
                gather_lists(lists.order, first[n], start, lists.entry_ptr, *known, entry_item, score)

            team.call([partial(gather, n) for n in range(len(self.parts))])
            contradictions, self.parts = np.concatenate([lines.contradictions for lines in self.parts]), []
            names = lists.queries, lists.experts, items
            rankings = rankings_of_lists(
                names, lists.list_ptr, lists.list_expert, lists.entry_ptr, entry_item, score, {"score": score}, team
            )
        if rankings is None:
            return None
        for source, count in zip(self.sources, contradictions.tolist(), strict=True):
            report_contradictions(count, str(source.path), "scores")
        return Dataset(rankings=rankings, aliases=lists.aliases)

    def _order_items(self) -> tuple[Any, list[Codes]]:
        """Items in order, and the place of each item of each part among them."""
        names, codes = together([lines.items for lines in self.parts])
        items, place = in_order(names)
        return items, [place[code] for code in codes]

    def _order_lists(self) -> Lists | None:
        """The lists in order; None where there is none, or an expert has two for a query."""
        queries, query = _in_natural_order([lines.queries for lines in self.parts])
        experts, expert = _in_natural_order([lines.experts for lines in self.parts])
        list_query = np.concatenate([q[lines.list_query] for q, lines in zip(query, self.parts, strict=True)])
        list_expert = np.concatenate([e[lines.list_expert] for e, lines in zip(expert, self.parts, strict=True)])
        key = list_query * len(experts) + list_expert
        order = np.argsort(key, kind="stable")
        if not len(key) or (np.diff(key[order]) == 0).any():
            return None
        list_ptr = sizes_to_ptr(np.bincount(list_query, minlength=len(queries)))
        entry_ptr = sizes_to_ptr(np.concatenate([np.diff(lines.list_start) for lines in self.parts])[order])
        found = self._aliases(list_expert, experts)
        return Lists(queries, experts, order, list_ptr, list_expert[order], entry_ptr, found)

    def _aliases(self, list_expert: Ints, experts: Sequence[str]) -> dict[str, str]:
        before = sizes_to_ptr([len(lines.contradictions) for lines in self.parts])
        list_source = np.concatenate([lines.list_source + before[n] for n, lines in enumerate(self.parts)])
        tags: list[set[str]] = [set() for _ in self.sources]
        pairs = list_source * len(experts) + list_expert
        for pair in set(pairs[np.diff(pairs, prepend=-1) != 0].tolist()):  # most files have one expert
            tags[pair // len(experts)].add(experts[pair % len(experts)])
        return aliases([source.stem for source in self.sources], tags)


def scan(sources: Sequence[Source], columns: Sequence[Columns], pieces: Pieces | None = None) -> Lines:
    """The lines of some texts."""
    texts = [source.data for source in sources]
    pieces = pieces or Pieces(np.arange(len(texts)), np.zeros(len(texts), np.int64), np.array(list(map(len, texts))))
    return Lines(texts, map(len, columns), *pieces)


def read_frame(source: Source, columns: Columns) -> pl.DataFrame:
    """The columns query, item and score (or label) of one text; an error for the first line without them."""
    lines = scan([source], [columns])
    if lines.bad is not None:
        raise line_error(source, columns, lines.bad[1])
    names = [names_in(bytes(each)) for each in (lines.queries, lines.items, lines.experts)]
    return frame_of(lines, names, 0, tagged=False)


def frame_of(lines: Lines, names: Sequence[pl.Series], n: int, *, tagged: bool = True) -> pl.DataFrame:
    """The entries of one text, with their names; those of qrels are without experts."""
    first, last = np.searchsorted(lines.list_source, (n, n + 1))
    start = lines.list_start[first : last + 1]
    size, here = np.diff(start), slice(start[0], start[-1])
    queries, items, experts = names
    columns = {
        "query": queries.gather(np.repeat(lines.list_query[first:last], size)),
        "item": items.gather(lines.item[here]),
        "score": pl.Series(lines.score[here]),
    }
    if tagged:
        columns["expert"] = experts.gather(np.repeat(lines.list_expert[first:last], size))
    return pl.DataFrame(columns)


def line_error(source: Source, columns: Columns, at: int) -> DataError:
    """The error for the line that starts at a byte."""
    expected = " ".join(f"{name} (a number)" if name in NUMBERS else name for name in columns)
    return source.error(source.data.count(b"\n", 0, at) + 1, f"{len(columns)} columns: {expected}")


def together(names: Sequence[Names]) -> tuple[Names, list[NDArray[Any]]]:
    """The names of several parts as those of the first part, and the number of the names of each part."""
    return names[0], [np.arange(len(names[0])), *(names[0].number_all(bytes(others)) for others in names[1:])]


def _in_natural_order(parts: Sequence[Names]) -> tuple[list[str], list[Ints]]:
    """The names of all parts in natural order, and the place of each name of each part in it."""
    names, codes = together(parts)
    found = bytes(names).decode().split("\n")[:-1]
    ordered = sorted_naturally(found)
    number = {name: n for n, name in enumerate(ordered)}
    place = np.array([number[name] for name in found], np.int64)
    return ordered, [place[code] for code in codes]


def in_order(names: Names) -> tuple[pl.Series | NDArray[np.object_], Codes]:
    """Names in the order of their letters, and the place of each in it; few are sorted without polars."""
    ordered: Any
    text = bytes(names)
    if len(text) > LITTLE or is_imported():
        ordered = names_in(text).sort(multithreaded=False)
        joined = ordered.str.join("\n").item()
    else:
        listed = sorted(text.decode().split("\n")[:-1])
        ordered, joined = np.array(listed, object), "\n".join(listed)
    place = np.empty(len(names), np.int32)
    if len(names):
        place[names.number_all(f"{joined}\n".encode())] = np.arange(len(names), dtype=np.int32)
    return ordered, place


def names_in(text: bytes) -> pl.Series:
    """The names in a text that has a newline after each."""
    return pl.read_lines(io.BytesIO(text)).to_series().rechunk() if text else pl.Series(dtype=pl.String)
