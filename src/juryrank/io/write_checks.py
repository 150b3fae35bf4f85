"""Checks before writing: content that a format cannot represent is an error, content that it omits a warning."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, warn_about_data

ANY_BLANK = r"[\s\x00]"


def demand_one_line(names: Iterable[str], what: str) -> None:
    """A DataError for the first name that is empty or cannot be a line of its own."""
    for name in names:
        if not name or name != name.strip() or any(break_ in name for break_ in "\n\r\0"):
            raise DataError(
                f"{what} cannot represent the name {name!r}: empty, or with a line break, a NUL or whitespace at an end"
            )


def demand_single_lists(rankings: Rankings, what: str) -> None:
    """A DataError when an expert has several lists for one query, or when lists have weights."""
    if (rankings.list_weight != 1).any():
        raise DataError(f"{what} cannot represent weights of lists, and some are not 1; write a table instead")
    keys = rankings.list_query * max(len(rankings.experts), 1) + rankings.list_expert
    if len(np.unique(keys)) != len(keys):
        raise DataError(f"{what} cannot represent several lists of one expert for one query; write a table instead")


def demand_one_query(rankings: Rankings, what: str) -> None:
    """A DataError if there are queries other than the default one."""
    if rankings.queries != (ONE_QUERY,):
        raise DataError(
            f"{what} has no queries, and the data has {len(rankings)}; choose one, or write a table instead"
        )


def warn_of_lost_weights(data: Dataset) -> None:
    """Warn of weights of labels in a format that has none."""
    if data.labels is not None and data.labels.label_weight is not None:
        count = int((data.labels.label_weight != 1).sum())
        warn_of_loss(count, "labels have weights other than 1, which are left out; write a table to keep them")


def warn_of_loss(count: int, what: str) -> None:
    """Warn of things that a format leaves out."""
    if count:
        warn_about_data(f"{count} {what}")
