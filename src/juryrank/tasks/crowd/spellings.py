"""Labels that may not be what they seem: one in several spellings, no answer, scores. They are told, or made one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from juryrank.data.names import sort_naturally
from juryrank.errors import warn_about_data
from juryrank.io.tables.columns import NO_NUMBER
from juryrank.polars import pl
from juryrank.report import counted
from juryrank.tasks.crowd.encoding import as_number

MANY_NUMBERS = 20  # different numbers, above which they are rather scores than grades
SHOWN = 5  # groups of spellings in a message
MISSING = {word.casefold() for word in NO_NUMBER}


def one_spelling(labels: Iterable[pl.Series], given: Sequence[Any]) -> dict[str, str]:
    """Each label that has another spelling, and that which is used: the one ``given``, else the most frequent."""
    every = pl.concat([column.rename("label") for column in labels]).drop_nulls()
    counts = every.value_counts(name="n").sort("n", "label", descending=[True, False])
    used = {_key(str(name)): str(name) for name in reversed([*map(str, given), *counts["label"].to_list()])}
    return {name: used[_key(name)] for name in counts["label"].to_list() if used[_key(name)] != name}


def warn_of_labels(labels: pl.Series, gold: pl.DataFrame | None, *, graded: bool) -> None:
    """Warn of labels in several spellings, of those that look like no answer, and, if not ``graded``, like scores."""
    names = sort_naturally(labels.drop_nulls()).to_list()
    true = set() if gold is None else set(gold["gold"].drop_nulls())
    _warn_of_spellings([*names, *sorted(true.difference(names))])
    if missing := [name for name in names if name.casefold() in MISSING]:
        count = int(labels.is_in(missing).sum())
        means = "looks like a missing answer, and counts as a label"
        if len(missing) > 1:
            means = "look like missing answers, and count as labels"
        warn_about_data(
            f"{_names(missing)} ({count} of {counted(len(labels), 'answer')}) {means}; to leave "
            f"{'them' if count > 1 else 'it'} out, use ignore={missing}"
        )
    values = {number for number in map(as_number, names) if not math.isnan(number)}
    if len(values) > MANY_NUMBERS and not graded:
        warn_about_data(
            f"labels are {len(values)} different numbers, such as {names[0]!r}, and each is a class of its own; grades "
            "can be rounded to fewer; scores can be fused instead: columns={'item': 'TASK', 'expert': 'WORKER', "
            "'score': 'LABEL'} for fuse or rank; if another column has the labels, use columns={'label': 'HEADER'}"
        )


def _warn_of_spellings(names: Sequence[str]) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name.casefold() not in MISSING:
            groups[_key(name)].append(name)
    if several := [group for group in groups.values() if len(group) > 1]:
        shown = "; ".join(map(_names, several[:SHOWN])) + (" …" if len(several) > SHOWN else "")
        warn_about_data(
            "labels that differ only in upper and lower case, blanks or the form of a number are different labels: "
            f"{shown}; to count them as one, use merge_spellings=True"
        )


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _key(name: str) -> str:
    """What all spellings of a label have in common."""
    number = as_number(name)
    return " ".join(name.split()).casefold() if math.isnan(number) else repr(number + 0.0)  # -0 is 0
