"""Click logs: the items that were shown, at which positions, and which were clicked; one spelling of each query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints, Names, freeze
from juryrank.data.entries import codes
from juryrank.data.names import sort_naturally
from juryrank.errors import DataError, warn_about_data
from juryrank.polars import pl

IMPRESSION = ("session", "query", "item", "position")  # rows that agree in these are one impression


@dataclass(frozen=True, eq=False, kw_only=True)
class ClickLog:
    """Impressions: one row for each item of each list that was shown, sorted by query, session and position.

    A session is one list that was shown to somebody for a query. Where the log has no sessions, it is not known which
    impressions belong together. ``propensity`` is the probability with which the item was shown at that position, as
    ``Fuser(explore=…)`` logs it. ``dropped`` counts what was not used, by reason, and ``notes`` state assumptions.
    """

    name: str
    queries: tuple[str, ...]
    items: Names
    query: Ints  # [n_impressions] index into queries
    item: Ints  # [n_impressions] index into items
    position: Ints  # [n_impressions] 1 is the first
    clicked: NDArray[np.bool_]  # [n_impressions]
    session: Ints | None = None  # [n_impressions]
    propensity: Floats | None = None  # [n_impressions] 0 < p <= 1
    rankings: tuple[str, ...] = ()  # names of the rankings that were shown
    period: tuple[str, str] | None = None  # the first and the last time
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        sessions = "" if self.session is None else f"{self.n_sessions} sessions, "
        return f"ClickLog({sessions}{len(self.queries)} queries, {len(self)} impressions, {self.n_clicks} clicks)"

    @property
    def n_clicks(self) -> int:
        return int(self.clicked.sum())

    @property
    def n_sessions(self) -> int:
        """The number of sessions; 0 if they are not known."""
        return 0 if self.session is None else int(self.session.max(initial=-1)) + 1


def build_log(rows: pl.DataFrame, name: str, dropped: Mapping[str, int], notes: tuple[str, ...] = ()) -> ClickLog:
    """The log of rows with query, item, position (whole, or null), clicked, and perhaps session, ranking, time, …

    Rows without a query, an item or a position, and positions below 1, are dropped; repeated rows of one impression are
    merged, and it is clicked if one of them is. A DataWarning counts them.
    """
    counts = dict(dropped)
    rows = _keep(rows, pl.col("query").is_not_null() & pl.col("item").is_not_null(), "without query or item", counts)
    rows = _keep(rows, pl.col("position").is_not_null(), "without a position", counts)
    _demand_first_position(rows, name)
    rows = _keep(rows, pl.col("position") >= 1, "with a position below 1", counts)
    if "session" in rows.columns:
        rows = _keep(rows, pl.col("session").is_not_null(), "without a session", counts)
        before = rows.height
        rows = rows.group_by(IMPRESSION).agg(pl.all().max())
        _count(counts, "repeated in a session", before - rows.height)
    broken = {reason: n for reason, n in counts.items() if not reason.startswith("of the action ")}
    if sum(broken.values()):
        text = ", ".join(f"{n} {reason}" for reason, n in broken.items())
        warn_about_data(f"{name}: rows that are not used: {text}")
    return _log(rows, name, counts, notes)


def _keep(rows: pl.DataFrame, good: pl.Expr, reason: str, counts: dict[str, int]) -> pl.DataFrame:
    kept = rows.filter(good)
    _count(counts, reason, rows.height - kept.height)
    return kept


def _count(counts: dict[str, int], reason: str, n: int) -> None:
    if n:
        counts[reason] = counts.get(reason, 0) + n


def _demand_first_position(rows: pl.DataFrame, name: str) -> None:
    """A DataError if so many rows have position 0 that the log must count from 0."""
    zero = int((rows["position"] == 0).sum())
    if zero and 100 * zero >= rows.height:
        raise DataError(
            f"{name}: positions count from 1 (1 is the first), but {zero} of {rows.height} rows have position 0; "
            "if the positions count from 0, use first_position=0 (--first-position 0)"
        )


def _log(rows: pl.DataFrame, name: str, dropped: Mapping[str, int], notes: tuple[str, ...]) -> ClickLog:
    queries, items = sort_naturally(rows["query"]), rows["item"].unique().sort(multithreaded=False)
    query, item = codes(rows["query"], queries), codes(rows["item"], items)
    position = rows["position"].to_numpy().astype(np.int64)
    session = None
    if "session" in rows.columns:
        # A session with several queries has shown a list for each of them.
        pairs = rows.select(pl.struct("query", "session").rank("dense")).to_series().to_numpy().astype(np.int64)
        session = pairs - 1
    clicked = rows["clicked"].to_numpy()
    share = rows["propensity"].to_numpy() if "propensity" in rows.columns else None
    keys = [clicked, item, position, *([] if session is None else [session]), query]
    order = np.lexsort(keys if share is None else [share, *keys])
    return ClickLog(
        name=name,
        queries=tuple(queries),
        items=items.to_numpy().astype(object),
        query=query[order],
        item=item[order],
        position=position[order],
        clicked=clicked[order],
        session=None if session is None else session[order],
        propensity=None if share is None else share[order],
        rankings=tuple(sort_naturally(rows["ranking"].drop_nulls())) if "ranking" in rows.columns else (),
        period=_period(rows),
        dropped=dropped,
        notes=notes,
    )


def _period(rows: pl.DataFrame) -> tuple[str, str] | None:
    times = rows["time"].drop_nulls() if "time" in rows.columns else pl.Series(dtype=pl.String)
    return (str(times.min()), str(times.max())) if len(times) else None


def one_spelling(rows: pl.DataFrame, name: str, *, normalise: bool) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of a log with one name for queries that differ only by case or blanks, and a note that says so.

    The name is the spelling with the most rows, which is most likely that of the runs; names of which there is one
    spelling stay as they are. Without ``normalise``, the rows stay as they are, and a DataWarning counts the queries.
    """
    spellings = defaultdict(list)
    counts = rows.drop_nulls("query").group_by("query").len().sort("len", "query", descending=[True, False])
    for query in counts["query"]:
        spellings[" ".join(query.lower().split())].append(query)
    several = [same for same in spellings.values() if len(same) > 1]
    if not several:
        return rows, ()
    n, names = sum(map(len, several)), " and ".join(map(repr, several[0][:2]))
    if not normalise:
        warn_about_data(
            f"{name}: {n} queries differ only by case or blanks from others, such as {names}, and would be "
            f"{len(several)}; each is learned from alone, with fewer clicks; make them one with "
            "normalise_queries=True (--normalise-queries)"
        )
        return rows, ()
    renamed = {query: same[0] for same in several for query in same}
    note = f"{n} queries that differ only by case or blanks are {len(several)}, named by the most frequent spelling"
    return rows.with_columns(pl.col("query").replace(renamed)), (note,)
