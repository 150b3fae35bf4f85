"""Click logs with a bias that no model of clicks here has: what they are recognised by, and what to do about them.

Each check needs sessions, and gives a sentence or None. All are warnings: what looks like a bias may be how people use
that search, and only those who keep the log can know.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.clicks.counts import clicks_above, sums
from juryrank.clicks.log import ClickLog
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import warn_about_data

FEWEST_SESSIONS = 20  # that must show a bias
FEWEST_LISTS = 5  # of different queries or lengths: in one list the last item may well be the only good one
NEARLY_ALL = 0.95
FEWEST_MISSING = 5.0  # sessions without a click that one would expect; 2300 simulated honest logs stay below 2
MOST_BELOW = 5  # of the last items of a list that are looked at
MOST_OF_LIST = 10  # sessions with one list that count


def warn_about_bias(log: ClickLog) -> None:
    """A DataWarning for each bias of the log that is recognised."""
    if log.session is None or not len(log):
        return
    lists = Lists.of(log)
    for text in filter(None, [_only_clicked(lists)]):
        warn_about_data(f"{log.name}: {text}")


@dataclass(frozen=True, eq=False)
class Lists:
    """The sessions of a log: one list that was shown for one query."""

    log: ClickLog
    of_row: Ints  # [n_impressions] the session
    query: Ints  # [n_sessions]
    size: Ints  # [n_sessions]
    clicks: Floats  # [n_sessions]
    last: NDArray[np.bool_]  # [n_sessions] whether something is clicked at the lowest position

    @classmethod
    def of(cls, log: ClickLog) -> Lists:
        assert log.session is not None
        first = np.flatnonzero(np.r_[True, log.session[1:] != log.session[:-1]])  # rows are sorted by session
        size = np.diff(np.r_[first, len(log)])
        of_row, end = np.repeat(np.arange(len(first)), size), first + size - 1
        lowest = log.position == log.position[end][of_row]
        clicks = sums(of_row, log.clicked.astype(np.float64), len(first))
        last = sums(of_row, (log.clicked & lowest).astype(np.float64), len(first)) > 0
        return cls(log, of_row, log.query[first], size, clicks, last)

    def different(self, chosen: NDArray[np.bool_]) -> int:
        """How many of the chosen lists differ in their query or their length."""
        return len(np.unique(np.stack([self.query[chosen], self.size[chosen]]), axis=1).T)


def _only_clicked(lists: Lists) -> str | None:
    """Rows only down to the last click, or only sessions with a click.

    The first is seen where clicks and misses are in one session: nearly all of them end with a click.
    """
    mixed = (lists.clicks > 0) & (lists.clicks < lists.size)
    if _enough(lists, mixed) and (share := float(lists.last[mixed].mean())) >= NEARLY_ALL:
        return (
            f"{share:.0%} of {int(mixed.sum())} sessions with clicks and misses end with a click, as in a log that "
            "keeps a list only down to the last click: lower positions then look far more examined than they are, and "
            "labels of items there are too high; log every item that was shown, also below the last click"
        )
    if lists.clicks.all() and _missing(lists) >= FEWEST_MISSING:
        return (
            f"all {len(lists.size)} sessions have a click, as in a log that leaves out sessions without one: lower "
            "positions then look more examined than they are, and labels are too high; log every list that was shown, "
            "clicked or not"
        )
    return None


def _missing(lists: Lists) -> float:
    """How many sessions without a click one would expect in a log where each session has one; a low estimate.

    Whoever has clicked on nothing down to one of the last items clicks there no more often than in the upper half of
    lists, as better items are shown first and users may give up. Some of these sessions would so end without a click.
    """
    log, end = lists.log, np.cumsum(lists.size)
    below, none_above = end[lists.of_row] - np.arange(len(log)), clicks_above(log) == 0  # below: with the row itself
    upper = none_above & (2 * below > lists.size[lists.of_row])
    hazard = log.clicked[upper].sum() / upper.sum()
    largest = 0.0
    for n in range(1, MOST_BELOW + 1):
        chosen = lists.of_row[none_above & (below == n) & (2 * n <= lists.size[lists.of_row])]
        _, count = np.unique(np.stack([lists.query[chosen], lists.size[chosen]]), axis=1, return_counts=True)
        if len(count) >= FEWEST_LISTS:
            largest = max(largest, np.minimum(count, MOST_OF_LIST).sum() * (1.0 - hazard) ** n)
    return float(largest)


def _enough(lists: Lists, chosen: NDArray[np.bool_]) -> bool:
    return int(chosen.sum()) >= FEWEST_SESSIONS and lists.different(chosen) >= FEWEST_LISTS
