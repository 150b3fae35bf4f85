"""The fast path for TREC runs, directly from bytes to a Dataset; ``trec_run`` reads the runs that it does not cover.

Covered: one blank or one tab between words, lists that are consecutive and descending in score, no item twice in a
list, no expert shared by two files. For these, both give the same Dataset, and this one takes a fifth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.arrays import Codes, Floats, Ints
from juryrank.io.experts import aliases
from juryrank.io.list_rankings import Team, rankings_of_lists
from juryrank.io.rows import report_contradictions
from juryrank.io.run_names import PADDING, Names, reserve, series_or_array
from juryrank.io.source import Source
from juryrank.io.words import first_words, separator_of
from juryrank.kernels.jit import threads
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.kernels.run_lines import (
    CAREFUL,
    ENTRY,
    EXPERT,
    FALL,
    ITEM,
    LIST,
    QUERY,
    WORDS,
    count_contradictions,
    scan_runs,
)
from juryrank.kernels.slots import gather_lists
from juryrank.kernels.words import NEWLINE, new_table

BYTES_PER_THREAD = 500_000  # below, a thread costs more than it saves


class Pieces(NamedTuple):
    """Lines of some sources, in the order in which they are read."""

    source: Ints
    start: Ints  # in bytes
    stop: Ints


def read(
    sources: Sequence[Source],
    pieces: Pieces | None = None,
    n_words: Sequence[int] | None = None,
    *,
    bytes_per_thread: int = BYTES_PER_THREAD,
) -> Dataset | None:
    """The Dataset of these runs, or None where a line is not covered; ``n_words`` of a line of each, if known.

    ``pieces`` are read one after the other: if the lists of a query are consecutive, names are still in the cache.
    Each ends with a line. Without them whole sources are read, in several threads.
    """
    counts = [len(first_words(source)) for source in sources] if n_words is None else n_words
    forms = [Form.of(source, n) for source, n in zip(sources, counts, strict=True)]
    if not {form.n_words for form in forms} <= {WORDS, WORDS - 1}:
        return None
    parts = _split_work(forms, threads(), bytes_per_thread) if pieces is None else [forms]
    with Team(len(parts)) as team:
        scans = team.call([partial(Scan, part, pieces) for part in parts])
        data = _dataset(scans, sources, team) if all(scan.covered for scan in scans) else None
    if data is not None:
        for source, count in zip(sources, np.concatenate([scan.contradictions for scan in scans]), strict=True):
            report_contradictions(int(count), str(source.path), "scores")
    return data


class Form(NamedTuple):
    """A text, and how its lines are written."""

    text: bytes
    separator: int
    n_words: int

    @classmethod
    def of(cls, source: Source, n_words: int) -> Form:
        text = source.data if source.data.endswith(b"\n") else source.data + b"\n"
        return cls(text, ord(separator_of(text)), n_words)

    def count_lines(self) -> int:
        return int(np.count_nonzero(np.frombuffer(self.text, np.uint8) == NEWLINE))


def _split_work(forms: Sequence[Form], n_threads: int, bytes_per_thread: int) -> list[Sequence[Form]]:
    """A part for each thread, of about the same size; fewer where there is little to do."""
    ends = np.cumsum([len(form.text) for form in forms])
    n = max(1, min(n_threads, int(ends[-1]) // bytes_per_thread))
    cuts = [0, *np.searchsorted(ends, ends[-1] * np.arange(1, n) / n).tolist(), len(ends)]
    return [forms[first:last] for first, last in pairwise(cuts) if first < last]


class Scan:
    """Lines of some runs, with numbers for names."""

    def __init__(self, forms: Sequence[Form], pieces: Pieces | None = None) -> None:
        n_lines = [form.count_lines() for form in forms]
        size, room = sum(len(form.text) for form in forms), sum(n_lines)
        at_once = max(n_lines) if pieces is None else room  # lines of one text
        self.names = tuple(Names(room, size) for _ in range(3))
        list_query, list_expert, item = (reserve(room, np.int32) for _ in range(3))
        list_start, score = reserve(room + 1, np.int64), reserve(room, np.float64)
        careful, rank = reserve(3 * at_once, np.int64), reserve(at_once, np.float64)
        tables, counts = (new_table(), new_table(), new_table()), np.zeros(7, np.int64)
        separators = np.array([form.separator for form in forms], np.uint8)
        n_words = np.array([form.n_words for form in forms])
        books, texts = tuple(names.book for names in self.names), tuple(names.text for names in self.names)
        list_source = []
        self.contradictions = np.zeros(len(forms), np.int64)  # of ranks and scores, in each source
        for data, (source, start, stop) in _texts(forms, pieces):
            piece_list, before = np.empty(len(source), np.int64), counts.copy()
            self.covered, *tables = scan_runs(
                data, start, stop, separators[source], n_words[source], tuple(tables), books, texts, piece_list,
                list_query, list_expert, list_start, item, score, rank, careful, counts,
            )  # fmt: skip
            if not self.covered:
                return
            # Scores that Python must parse: the entry, start and stop of each.
            for entry, first, last in careful[: counts[CAREFUL]].reshape(-1, 3).tolist():
                score[entry] = float(data[first:last].tobytes())
            list_source.append(np.repeat(source, np.diff(np.append(piece_list, counts[LIST]))))
            if counts[FALL] > before[FALL]:
                lists = list_start[before[LIST] : counts[LIST] + 1] - before[ENTRY]
                self._count_contradictions(list_source[-1], lists, score[before[ENTRY] :], rank)
        for names, count in zip(self.names, counts[:3], strict=True):
            names.count[0] = count
        n_lists, n_entries = int(counts[LIST]), int(counts[ENTRY])
        self.list_start, self.list_source = list_start[: n_lists + 1], np.concatenate(list_source)
        self.code = {QUERY: list_query[:n_lists], EXPERT: list_expert[:n_lists], ITEM: item[:n_entries]}
        self.score = score[:n_entries]
        self.covered = bool(np.isfinite(self.score).all())

    def _count_contradictions(self, source: Ints, start: Ints, score: Floats, rank: Floats) -> None:
        found = np.empty(len(source), np.int64)
        count_contradictions(start, score, rank, found)
        np.add.at(self.contradictions, source, found)

    def release(self) -> None:
        """Give back the memory of names and entries, which are not needed any more."""
        del self.names, self.code, self.score


def _texts(forms: Sequence[Form], pieces: Pieces | None) -> Iterator[tuple[NDArray[np.uint8], Pieces]]:
    """Padded texts and the pieces in each: all forms in one text, or each in the memory of the one before."""
    sizes = [len(form.text) for form in forms]
    if pieces is not None:
        source, before = pieces.source, sizes_to_ptr(sizes)[pieces.source]
        data = bytearray().join([*(form.text for form in forms), PADDING])
        yield np.frombuffer(data, np.uint8), Pieces(source, pieces.start + before, pieces.stop + before)
        return
    data = bytearray(max(sizes) + len(PADDING))
    for n, form in enumerate(forms):
        data[: sizes[n]] = form.text
        yield np.frombuffer(data, np.uint8), Pieces(np.array([n]), np.zeros(1, np.int64), np.array([sizes[n]]))


def _dataset(scans: Sequence[Scan], sources: Sequence[Source], team: Team) -> Dataset | None:
    """The Dataset, or None where lists are not covered; the memory of the scans is released on the way."""
    named, lists = team.call([lambda: _order_items(scans), lambda: _order_lists(scans, sources)])
    if named is None or lists is None:
        return None
    text, places = named
    entry_item, score = np.empty(lists.entry_ptr[-1], np.int32), np.empty(lists.entry_ptr[-1])
    first = sizes_to_ptr([len(scan.list_source) for scan in scans])

    def gather(n: int) -> None:
        code, start, known = scans[n].code[ITEM], scans[n].list_start[:-1], scans[n].score
        gather_lists(lists.order, first[n], start, lists.entry_ptr, code, places[n], known, entry_item, score)
        scans[n].release()

    gathering = [partial(gather, n) for n in range(len(scans))]
    items, *_ = team.call([lambda: series_or_array(text), *gathering])
    names = lists.queries, lists.experts, items
    rankings = rankings_of_lists(
        names, lists.list_ptr, lists.list_expert, lists.entry_ptr, entry_item, score, {"score": score}, team
    )
    return None if rankings is None else Dataset(rankings=rankings, aliases=lists.aliases)


def _order_items(scans: Sequence[Scan]) -> tuple[NDArray[np.uint8], list[Codes]] | None:
    """Items in order as text, and the place of each item of each scan among them; None where too many collide."""
    if (merged := _merge_names(scans, ITEM)) is None:
        return None
    names, codes = merged
    text, place = names.in_order()
    return text, [place[code] for code in codes]


class Lists(NamedTuple):
    """The lists of all scans, ordered by query and expert."""

    queries: list[str]
    experts: list[str]
    order: Ints  # numbers of lists, which are counted through all scans
    list_ptr: Ints
    list_expert: Ints
    entry_ptr: Ints
    aliases: dict[str, str]


def _order_lists(scans: Sequence[Scan], sources: Sequence[Source]) -> Lists | None:
    """The lists in order; None where an expert has two for a query, or too many names collide."""
    of_queries, of_experts = _merge_names(scans, QUERY), _merge_names(scans, EXPERT)
    if of_queries is None or of_experts is None:
        return None
    (query_names, query_code), (expert_names, expert_code) = of_queries, of_experts
    queries, query = query_names.in_natural_order()
    experts, expert = expert_names.in_natural_order()
    list_query = np.concatenate([query[code[s.code[QUERY]]] for s, code in zip(scans, query_code, strict=True)])
    list_expert = np.concatenate([expert[code[s.code[EXPERT]]] for s, code in zip(scans, expert_code, strict=True)])
    key = list_query * len(experts) + list_expert
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) == 0).any():
        return None
    list_ptr = sizes_to_ptr(np.bincount(list_query, minlength=len(queries)))
    entry_ptr = sizes_to_ptr(np.concatenate([np.diff(scan.list_start) for scan in scans])[order])
    found = _aliases(scans, sources, list_expert, experts)
    return Lists(queries, experts, order, list_ptr, list_expert[order], entry_ptr, found)


def _aliases(
    scans: Sequence[Scan], sources: Sequence[Source], list_expert: Ints, experts: Sequence[str]
) -> dict[str, str]:
    before = sizes_to_ptr([len(scan.contradictions) for scan in scans])
    list_source = np.concatenate([scan.list_source + before[n] for n, scan in enumerate(scans)])
    tags: list[set[str]] = [set() for _ in sources]
    pairs = list_source * len(experts) + list_expert
    for pair in set(pairs[np.diff(pairs, prepend=-1) != 0].tolist()):  # most files have one expert
        tags[pair // len(experts)].add(experts[pair % len(experts)])
    return aliases([source.stem for source in sources], tags)


def _merge_names(scans: Sequence[Scan], kind: int) -> tuple[Names, list[NDArray[Any]]] | None:
    """The names of a kind in all scans, and the number of the names of each; None where too many names collide."""
    names = [scan.names[kind] for scan in scans]
    if len(scans) == 1:
        return names[0], [np.arange(len(names[0]))]
    together = Names(sum(map(len, names)), sum(each.size for each in names))
    numbers = [together.adopt(each) for each in names]
    return None if any(number is None for number in numbers) else (together, [n for n in numbers if n is not None])
