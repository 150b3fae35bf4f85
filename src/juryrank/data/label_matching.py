"""Check that labels and lists have queries and items in common, and find out how their names differ if not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data.names import natural_key
from juryrank.errors import DataError, warn_about_data
from juryrank.kernels.ragged import children, parents

if TYPE_CHECKING:
    from juryrank.data.arrays import Ints
    from juryrank.data.labels import Labels
    from juryrank.data.rankings import Rankings

SAMPLES = 20  # names of the shorter side that are searched for a prefix or suffix
SEARCHED = 20_000  # names that they are searched in
SURE = 3  # names that a cause must explain where names that differ may be right: most match, or there are few
CONVINCING = 10  # a cause must explain at least one name in this many


def check_match(labels: Labels, rankings: Rankings) -> None:
    """Raise a DataError if labels and lists share no query or no item; warn if they share few.

    Few means: fewer than half of the queries of the smaller side; or, in more than half of the shared queries, no item
    is both ranked and judged; or a simple change of names would match half of the queries that do not match. Labels of
    a part of the queries, or of items that no list has, are no reason for a warning.
    """
    labelled, listed = np.flatnonzero(np.diff(labels.label_ptr)), np.flatnonzero(rankings.query_size)
    if not len(labelled) or not len(listed):
        return
    check_queries(labels, rankings, labelled, listed)
    n, empty = count_matches(labels, rankings)
    check_counts(n, empty, lambda: unmatched_text(labels, rankings))


def count_matches(labels: Labels, rankings: Rankings) -> tuple[int, int]:
    """The number of queries with labels and items, and of those in which no ranked item is judged."""
    here = labels.align_to(rankings)
    shared = _have_labels(here, rankings)
    return int(shared.sum()), int((shared & ~_have_matches(here, rankings)).sum())


def check_counts(n: int, empty: int, names: Callable[[], str]) -> None:
    """The part of ``check_match`` about items: an error if all of ``n`` queries have no match, a warning if most."""
    if empty == n:
        raise DataError(f"no ranked item is judged in any of the {n} queries with labels; {names()}")
    if 2 * empty > n:
        warn_about_data(f"in {empty} of the {n} queries with labels no ranked item is judged; {names()}")


def unmatched_text(labels: Labels, rankings: Rankings) -> str:
    """Examples of item names in shared queries without a match, and what would make them match."""
    names, cause = unmatched_items(labels, rankings)
    return f"{names}{cause or ''}"


def check_queries(labels: Labels, rankings: Rankings, labelled: Ints, listed: Ints, data: str = "the data") -> None:
    """The part of ``check_match`` about queries; ``labelled`` and ``listed`` are the positions of those that count."""
    ours, theirs = ([side.queries[q] for q in at] for side, at in ((rankings, listed), (labels, labelled)))
    shared = set(ours).intersection(theirs)
    if len(shared) == min(len(ours), len(theirs)):
        return
    only_ours, lost = ([q for q in side if q not in shared] for side in (ours, theirs))
    swapped = not shared and _are_swapped(labels, rankings)
    counts = QueryCounts(len(ours), len(theirs), len(shared))
    report_unmatched_queries(counts, only_ours, lost, data=data, swapped=swapped)


class QueryCounts(NamedTuple):
    """The numbers of queries with lists, with labels, and with both."""

    listed: int
    labelled: int
    shared: int


def report_unmatched_queries(
    counts: QueryCounts, ours: Iterable[str], lost: Sequence[str], *, data: str = "the data", swapped: bool = False
) -> None:
    """A DataError if no query is shared, and a warning if few are or if names differ by a simple change.

    ``ours`` and ``lost`` are queries of the data and of the labels that are not shared, all or some of them.
    """
    shared, fewer = counts.shared, min(counts.listed, counts.labelled)
    cause = find_cause(ours, lost)
    few = 2 * shared < fewer
    if shared and not few and not (cause and cause.count >= max(SURE, len(lost) / 2)):
        return
    names = f"queries are named like {_example(ours)} in {data} and {_example(lost)} in the labels"
    why = "; in the labels the columns of queries and items look swapped" if swapped else str(cause or "")
    count = f"none of the {counts.labelled} queries with labels is" if not shared else (
        f"only {shared} of the {counts.labelled} queries with labels are"
    )  # fmt: skip
    text = f"{count} in {data}, which has {counts.listed} queries; {names}{why}"
    if not shared:
        raise DataError(text)
    warn_about_data(text)


def unmatched_items(labels: Labels, rankings: Rankings) -> tuple[str, Cause | None]:
    """Examples of item names in shared queries without a match, and the change that would make them match."""
    here = labels.align_to(rankings)
    queries = np.flatnonzero(_have_labels(here, rankings) & ~_have_matches(here, rankings))
    ours = set(rankings.items[rankings.slot_item[children(rankings.slot_ptr, queries)]])
    theirs = set(here.items[here.label_item[children(here.label_ptr, queries)]])
    ours, theirs = ours - theirs, theirs - ours
    if not ours or not theirs:  # the same names, in other queries
        return "the judged items are ranked in other queries", None
    names = f"items are named like {_example(ours)} in the data and {_example(theirs)} in the labels"
    return names, find_cause(ours, theirs)


def _have_labels(labels: Labels, rankings: Rankings) -> NDArray[np.bool_]:
    """Whether each query has labels and items; the labels are joined to the rankings."""
    shared: NDArray[np.bool_] = (np.diff(labels.label_ptr) > 0) & (rankings.query_size > 0)
    return shared


def _have_matches(labels: Labels, rankings: Rankings) -> NDArray[np.bool_]:
    """Whether each query has an item with a label."""
    judged = ~np.isnan(labels.by_slot(rankings))
    found: NDArray[np.bool_] = np.bincount(parents(rankings.slot_ptr)[judged], minlength=len(rankings)) > 0
    return found


@dataclass(frozen=True)
class Cause:
    """A change of names, and how many names it would match."""

    text: str
    count: int
    of: int

    def __str__(self) -> str:
        many = "all" if self.count == self.of else f"{self.count} of {self.of}"
        return f"; {many} would match {self.text}"


def find_cause(ours: Iterable[str], theirs: Iterable[str]) -> Cause | None:
    """The change that would match most names of the labels with names of the data, if it matches enough."""
    ours, theirs = set(ours), set(theirs)
    if not ours or not theirs:
        return None
    found = [
        Cause(text, len({change_theirs(name) for name in theirs} & {change_ours(name) for name in ours}), len(theirs))
        for text, change_ours, change_theirs in _changes(ours, theirs)
    ]
    best = max(found, key=lambda cause: cause.count)
    return best if best.count * CONVINCING >= min(len(ours), len(theirs)) and best.count else None


Change = Callable[[str], str]


def _changes(ours: set[str], theirs: set[str]) -> Iterator[tuple[str, Change, Change]]:
    """Candidate changes, simple ones first: of equally good ones the first is reported."""
    for text, change in ALIKE.items():
        yield text, change, change
    for kind, cut in (("prefix", str.removeprefix), ("suffix", str.removesuffix)):
        for added in _find_affixes(ours, theirs, kind):
            yield f"without the {kind} {added!r} in the data", lambda n, cut=cut, a=added: cut(n, a), str  # type: ignore[misc]
        for added in _find_affixes(theirs, ours, kind):
            yield f"without the {kind} {added!r} in the labels", str, lambda n, cut=cut, a=added: cut(n, a)  # type: ignore[misc]
    yield "by the numbers in them alone", _number, _number


def _find_affixes(long: set[str], short: set[str], kind: str) -> list[str]:
    """The most frequent prefixes (or suffixes) that turn a name of one side into a name of the other."""
    some = sorted(short - {""}, key=lambda name: (-len(name), name))[:SAMPLES]
    extra = Counter[str]()
    for name in sorted(long)[:SEARCHED]:
        for part in some:
            if len(part) < len(name) and (name.endswith(part) if kind == "prefix" else name.startswith(part)):
                cut = len(name) - len(part) if kind == "prefix" else len(part)
                if not name[cut - 1 : cut + 1].isdigit():  # 621 is not 21 with a prefix: numbers match by accident
                    extra[name[:cut] if kind == "prefix" else name[cut:]] += 1
    return [text for text, _ in extra.most_common(2)]


def _remove_point(name: str) -> str:
    return re.sub(r"^(-?\d+)\.0*$", r"\1", name)


def _remove_zeros(name: str) -> str:
    return re.sub(r"^0+(?=\d)", "", name)


def _number(name: str) -> str:
    """The only number in a name; names with none or several are unchanged."""
    numbers = re.findall(r"\d+", name)
    return _remove_zeros(numbers[0]) if len(numbers) == 1 else name


ALIKE: dict[str, Change] = {
    "without the spaces around them": str.strip,
    "if case were ignored": str.casefold,
    "with whole numbers as '1', not '1.0'": _remove_point,
    "without leading zeros": _remove_zeros,
    "with the same signs between their parts": lambda name: re.sub(r"[\W_]+", "-", name),
    "without spaces around them, and if case were ignored": lambda name: name.strip().casefold(),
}


def _are_swapped(labels: Labels, rankings: Rankings) -> bool:
    """Whether queries and items are swapped in the labels."""
    return not set(rankings.queries).isdisjoint(labels.items[labels.label_item]) and not set(rankings.items).isdisjoint(
        labels.queries
    )


def _example(names: Iterable[str]) -> str:
    return repr(min(names, key=natural_key, default="")[:60])
