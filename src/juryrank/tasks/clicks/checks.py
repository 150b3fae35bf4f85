"""Click logs with a bias that no model of clicks here has: what they are recognised by, and what to do about them.

Each check needs sessions. All give warnings: what looks like a bias may be how people use that search, and only those
who keep the log can know.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import warn_about_data
from juryrank.polars import pl
from juryrank.tasks.clicks.counts import clicks_above, sums
from juryrank.tasks.clicks.log import IMPRESSION, ClickLog

FEWEST_SESSIONS = 20  # that must show a bias
FEWEST_LISTS = 5  # of different queries or lengths: in one list the last item may well be the only good one
FEWEST_AGAIN, LEAST_AGAIN = 5, 0.01  # sessions in which positions or items are there again, and their share
NEARLY_ALL = 0.95
FEWEST_MISSING = 5.0  # sessions without a click that one would expect; 2300 simulated honest logs stay below 2
EQUAL_CLICKS = 3  # clicks from which equal sessions are looked at: many users click on the first item alone
FEWEST_EQUAL, TIMES_EXPECTED = 5, 10.0  # equal sessions of a query, also relative to what its click rates make likely
LEAST_EQUAL = 0.01  # of all sessions
RANDOM_CLICKS = (1, EQUAL_CLICKS)  # sessions with so many clicks are looked at, as machines often have more than people
FEWEST_RANDOM, FEWEST_CELLS, FEWEST_SHOWN = 500, 50, 5  # clicks, pairs of query and item, and impressions of each
LEAST_RATIO, MOST_CHI_SQUARE = 0.85, 1.5  # of click rates in the lower half and the upper half; per degree of freedom
MOST_BELOW = 5  # of the last items of a list that are looked at
MOST_OF_LIST = 10  # sessions with one list that count


def warn_about_bias(log: ClickLog) -> None:
    """A DataWarning for each bias of the log that is recognised."""
    if log.session is None or not len(log):
        return
    lists = Lists.of(log)
    for text in filter(
        None, [_only_clicked(lists), _shared_positions(lists), _equal_clicks(lists), _random_clicks(lists)]
    ):
        warn_about_data(f"{log.name}: {text}")


def warn_about_repetition(rows: pl.DataFrame, name: str) -> None:
    """A DataWarning if a session of a table, before its rows are merged, has shown the list of a query several times.

    An impression with a click may well have a row for each; two rows without a click are two impressions, or one that
    was logged twice.
    """
    if "session" not in rows.columns:
        return
    impressions = rows.drop_nulls(IMPRESSION).group_by(IMPRESSION).agg(misses=(~pl.col("clicked")).sum())
    again = (pl.col("misses") > 1).any() | pl.col("item").is_duplicated().any()
    lists = impressions.group_by("session", "query").agg(again=again)["again"]
    if _often(int(lists.sum()), len(lists)):
        warn_about_data(
            f"{name}: {int(lists.sum())} of {len(lists)} sessions have shown an item several times for one query, as "
            "where a session is a user or a visit: the clicks of several searches then count as those of one, so that "
            "labels are too high and users seem to examine more; use a column with the id of each request as session "
            "(--columns session=HEADER), or remove that column"
        )


@dataclass(frozen=True, eq=False)
class Lists:
    """The sessions of a log: one list that was shown for one query."""

    log: ClickLog
    of_row: Ints  # [n_impressions] the session
    query: Ints  # [n_sessions]
    size: Ints  # [n_sessions]
    clicks: Floats  # [n_sessions]
    last: NDArray[np.bool_]  # [n_sessions] whether something is clicked at the lowest position
    pair_query: Ints  # [n_pairs] pairs of query and item
    pair: Ints  # [n_impressions]

    @classmethod
    def of(cls, log: ClickLog) -> Lists:
        assert log.session is not None
        first = np.flatnonzero(np.r_[True, log.session[1:] != log.session[:-1]])  # rows are sorted by session
        size = np.diff(np.r_[first, len(log)])
        of_row, end = np.repeat(np.arange(len(first)), size), first + size - 1
        lowest = log.position == log.position[end][of_row]
        clicks = sums(of_row, log.clicked.astype(np.float64), len(first))
        last = sums(of_row, (log.clicked & lowest).astype(np.float64), len(first)) > 0
        pairs, pair = np.unique(log.query * len(log.items) + log.item, return_inverse=True)
        return cls(log, of_row, log.query[first], size, clicks, last, pairs // len(log.items), pair)

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


def _shared_positions(lists: Lists) -> str | None:
    """Several items at one position of a session, as where each page counts its positions from 1 again."""
    log, new = lists.log, np.ones(len(lists.log), bool)
    new[1:] = (lists.of_row[1:] != lists.of_row[:-1]) | (log.position[1:] != log.position[:-1])
    shared = np.bincount(lists.of_row[~new], minlength=len(lists.size)) > 0
    items = np.bincount(np.unique(np.stack([lists.of_row, log.item]), axis=1)[0])
    n = int((shared & (items == lists.size)).sum())  # others have an item again: warn_about_repetition
    if not _often(n, len(lists.size)):
        return None
    return (
        f"{n} of {len(lists.size)} sessions have several items at one position, as where positions start again on each "
        "page: items of the second page then count as examined like the first ones, and clicks on the first page as "
        "beside them; count positions on from page to page. If positions are rows of a grid, this is right"
    )


def _equal_clicks(lists: Lists) -> str | None:
    """Many sessions of one query with equal clicks on several items, where its click rates make that unlikely."""
    log, n_queries = lists.log, len(lists.log.queries)
    rate = (sums(lists.pair, log.clicked.astype(np.float64), len(lists.pair_query)) / np.bincount(lists.pair))[
        lists.pair
    ]
    chance = np.exp(np.bincount(lists.of_row, np.log(np.where(log.clicked, rate, 1.0 - rate))))
    chosen = lists.clicks >= EQUAL_CLICKS
    number = np.random.default_rng(0).integers(2**62, size=len(lists.pair_query))  # the sum names a set of items
    clicked = np.zeros(len(lists.size), np.int64)
    np.add.at(clicked, lists.of_row, np.where(log.clicked, number[lists.pair], 0))
    kinds, kind, count = np.unique(
        np.stack([lists.query, clicked])[:, chosen], axis=1, return_inverse=True, return_counts=True
    )
    mean = sums(kind.ravel(), chance[chosen], len(count)) / np.maximum(count, 1)
    expected = mean * np.bincount(lists.query, minlength=n_queries)[kinds[0]]
    n = int(count[(count >= FEWEST_EQUAL) & (count >= TIMES_EXPECTED * expected)].sum())
    if n < max(FEWEST_SESSIONS, LEAST_EQUAL * len(lists.size)):
        return None
    return (
        f"{n} of {len(lists.size)} sessions have the same {EQUAL_CLICKS} or more clicks as others of their query, at "
        f"least {TIMES_EXPECTED:g} times as many as its click rates make likely, as where a machine clicks: its clicks "
        "count like those of people, so that its items look relevant and lower positions examined; leave out machines"
    )


def _random_clicks(lists: Lists) -> str | None:
    """Clicks that depend neither on the position nor on the item."""
    log, n_pairs = lists.log, len(lists.pair_query)
    end = np.cumsum(lists.size)
    below = end[lists.of_row] - np.arange(len(log))  # with the row itself
    for fewest in RANDOM_CLICKS:
        sessions = (lists.clicks >= fewest) & (lists.clicks < lists.size)
        rows = sessions[lists.of_row]
        upper, lower = (rows & (sign * (2 * below - 1 - lists.size[lists.of_row]) > 0) for sign in (1, -1))
        shown = np.bincount(lists.pair[rows], minlength=n_pairs)
        clicks = np.bincount(lists.pair[rows & log.clicked], minlength=n_pairs)
        used = shown >= FEWEST_SHOWN
        query, shown, clicks = lists.pair_query[used], shown[used], clicks[used]
        if clicks.sum() < FEWEST_RANDOM or len(query) - len(np.unique(query)) < FEWEST_CELLS:
            continue
        rate = np.bincount(query, clicks)[query] / np.bincount(query, shown)[query]
        variance = np.maximum(shown * rate * (1.0 - rate), 1e-9)
        chi_square = ((clicks - shown * rate) ** 2 / variance).sum() / (len(query) - len(np.unique(query)))
        ratio = log.clicked[lower].mean() / max(log.clicked[upper].mean(), 1e-9)
        if ratio >= LEAST_RATIO and chi_square <= MOST_CHI_SQUARE:
            return (
                f"in {int(sessions.sum())} of {len(lists.size)} sessions (those with {fewest} or more clicks), clicks "
                f"depend neither on the position (the lower half has {ratio:.0%} of the click rate of the upper half) "
                "nor on the item, as where machines click: lower positions then look more examined than they are, and "
                "labels tell little; leave out machines"
            )
    return None


def _often(n: int, of: int) -> bool:
    return n >= max(FEWEST_AGAIN, LEAST_AGAIN * of)


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
