"""User Behavior Insights (UBI, schema 1.3): documents about queries and events, as a click log.

A query document has ``query_id`` (one execution of a query), ``user_query`` (its text) and the ids of the hits in
order. An event has ``action_name``, ``query_id`` and in ``event_attributes`` the ``object.object_id`` and
``position.ordinal``. Each execution is a session here, and the text names the query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from juryrank.errors import DataError
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.polars import pl
from juryrank.tasks.clicks.log import ClickLog, build_log, one_spelling

SHOWN = "impression"
HITS = ("query_response_hit_ids", "query_response_object_ids", "query_response_objects_ids")  # 1.3, then older names
QUERY_FIELDS, EVENT_FIELDS = ("user_query", *HITS), ("action_name",)
WRAPPER = "_source"  # around a document that was exported from an index
PAGE_SIZES = frozenset({"pagesize", "perpage", "resultsperpage"})  # attributes of a query, whatever their case and _
NO_QUERY_ID, BROKEN = "without a query_id", "that are not a UBI document"


def is_ubi(headers: Iterable[str]) -> bool:
    """Whether the names are those of a UBI document, or of one wrapped by an export of an index."""
    names = set(headers)
    return ("query_id" in names and bool(names.intersection((*QUERY_FIELDS, *EVENT_FIELDS)))) or _is_wrapped(names)


def _is_wrapped(names: set[str]) -> bool:
    return WRAPPER in names or names in ({"index"}, {"create"})


class UBIDocuments:
    """The queries and events of UBI, collected from files and tables."""

    def __init__(self, name: str, actions: Sequence[str], n_shown: int | None = None) -> None:
        if isinstance(actions, str) or not actions or SHOWN in actions:
            raise DataError(f"actions must be names of actions that count as clicks, such as ['click'], got {actions}")
        self.name, self.actions = name, frozenset(actions)
        self.n_shown = n_shown  # hits of a query that people saw, if there are no impression events
        self.page_sizes: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.hits: dict[str, list[str]] = {}
        self.times: dict[str, str] = {}
        self.shown: list[tuple[str, str, int | None]] = []  # query_id, item, position
        self.clicks: list[tuple[str, str]] = []
        self.dropped: dict[str, int] = {}

    def add(self, part: Source | pl.DataFrame) -> None:
        """Add the documents of a file or a table."""
        for document in _documents(part):
            if document is None:
                self._drop(BROKEN)
            elif document.get("action_name") is not None:
                self._add_event(document)
            elif any(field in document for field in QUERY_FIELDS):
                self._add_query(document)
            elif not _is_wrapped(set(document)):  # else the line of a bulk request before a document
                self._drop(BROKEN)

    def log(self, first: int, *, normalise: bool) -> ClickLog:
        """The click log; ``first`` is the number of the first position, ``normalise`` as in ``one_spelling``."""
        if not self.texts:
            raise DataError(
                f"{self.name}: there are no query documents (with query_id and user_query), so the queries of the "
                "events are not known; give the files of queries and of events together"
            )
        notes = []
        if self.shown and self.n_shown is not None:
            raise DataError(
                f"{self.name}: shown={self.n_shown} (--shown) is for logs without impression events, but there are "
                f"{len(self.shown)}, which say what was shown; leave it out"
            )
        if not self.shown and self.hits:
            notes.append(self._show_hits(first))
        rows = self._impressions()
        if not rows.height:
            raise DataError(
                f"{self.name}: it is not known what was shown: there are neither impression events with positions "
                f"nor queries with {HITS[0]}"
            )
        rows, merged = one_spelling(rows, self.name, normalise=normalise)
        return build_log(rows.with_columns(position=pl.col("position") + 1 - first), self.name, self.dropped,
                         (*notes, *merged))  # fmt: skip

    def _impressions(self) -> pl.DataFrame:
        """One row per impression; clicks without one are counted."""
        clicked, clicks = set(self.clicks), len(self.clicks)
        self._drop("clicks again on the same item", clicks - len(clicked))
        known = [each for each in self.shown if each[0] in self.texts]
        self._drop("impressions of an unknown query_id", len(self.shown) - len(known))
        seen = {(query, item) for query, item, _ in known}
        self._drop("clicks of an unknown query_id", sum(query not in self.texts for query, _ in clicked))
        lost = sum(query in self.texts and (query, item) not in seen for query, item in clicked)
        self._drop("clicks without an impression", lost)
        return pl.DataFrame(
            {
                "query": pl.Series([self.texts[query] for query, _, _ in known], dtype=pl.String),
                "item": pl.Series([item for _, item, _ in known], dtype=pl.String),
                "position": pl.Series([position for *_, position in known], dtype=pl.Int64),
                "clicked": pl.Series([(query, item) in clicked for query, item, _ in known], dtype=pl.Boolean),
                "session": pl.Series([query for query, _, _ in known], dtype=pl.String),
                "time": pl.Series([self.times.get(query) for query, _, _ in known], dtype=pl.String),
            }
        )

    def _show_hits(self, first: int) -> str:
        """Add the hits of each query that people saw, and say what is assumed; an error if it is unknown."""
        sizes = self.page_sizes if self.n_shown is None else dict.fromkeys(self.hits, self.n_shown)
        if unknown := [query for query in self.hits if query not in sizes]:
            longest = max(len(self.hits[query]) for query in unknown)
            raise DataError(
                f"{self.name}: there are no impression events, and {len(unknown)} of {len(self.hits)} queries (the "
                f"first is {unknown[0]}) do not say in query_attributes.page_size how many of their hits (up to "
                f"{longest}) were shown; those that nobody saw would get labels near 0: log impression events, or give "
                "the number of items on a page with shown=N (--shown N)"
            )
        for query, hits in self.hits.items():
            self.shown += [(query, item, place) for place, item in enumerate(hits[: sizes[query]], first)]
        most, given = max(sizes[query] for query in self.hits), self.n_shown is not None
        number = f"first {most}" if given else f"first hits up to the page size in the log (at most {most})"
        return (
            f"there are no impression events: the {number}{' hits' * given} of a query count as shown, in the order of "
            "the response"
        )

    def _add_query(self, document: dict[str, Any]) -> None:
        query, text = _name(document.get("query_id")), _name(document.get("user_query"))
        if query is None or text is None:
            self._drop(NO_QUERY_ID if query is None else "queries without a user_query")
            return
        if query in self.texts:
            self._drop("queries again with the same query_id")
            return
        self.texts[query] = text
        if (time := _name(document.get("timestamp"))) is not None:
            self.times[query] = time
        hits = next((document[field] for field in HITS if document.get(field)), None)
        if isinstance(hits, str):  # a cell of a table
            hits = _list(hits)
        if isinstance(hits, list):
            names = [_name(item) for item in hits]
            self.hits[query] = [item for item in names if item is not None]
        for name, value in _mapping(document.get("query_attributes")).items():
            if name.lower().replace("_", "").replace("-", "") in PAGE_SIZES and (size := _whole(value)) and size > 0:
                self.page_sizes[query] = size

    def _add_event(self, document: dict[str, Any]) -> None:
        action, query = str(document["action_name"]), _name(document.get("query_id"))
        if action != SHOWN and action not in self.actions:
            self._drop(f"of the action {action}")
            return
        attributes = _mapping(document.get("event_attributes"))
        item = _name(_mapping(attributes.get("object")).get("object_id"))
        if query is None or item is None:
            self._drop(NO_QUERY_ID if query is None else "without an object_id")
        elif action == SHOWN:
            self.shown.append((query, item, self._position(query, item, attributes)))
        else:
            self.clicks.append((query, item))

    def _position(self, query: str, item: str, attributes: dict[str, Any]) -> int | None:
        """The ordinal of an event: a number, or as in the JSON schema ``{"index": number}``."""
        ordinal = _mapping(attributes.get("position")).get("ordinal")
        if isinstance(ordinal, dict):
            ordinal = ordinal.get("index")
        return _whole(ordinal)

    def _drop(self, reason: str, n: int = 1) -> None:
        if n:
            self.dropped[reason] = self.dropped.get(reason, 0) + n


def _documents(part: Source | pl.DataFrame) -> Iterator[dict[str, Any] | None]:
    """The documents of a part; None for a line that is not a JSON object."""
    if isinstance(part, Source) and frames.is_json(part):
        for line in part.data.split(b"\n"):
            if line.strip():
                yield _unwrapped(_parsed(line))
        return
    frame = frames.frame_of(part) if isinstance(part, Source) else part
    for row in frame.iter_rows(named=True):
        yield _unwrapped(_nested(row))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _unwrapped(document: Any) -> dict[str, Any] | None:
    if not isinstance(document, dict):
        return None
    inner = document.get(WRAPPER)
    return inner if isinstance(inner, dict) else document


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table as a document: ``event_attributes.object.object_id`` is a field inside of others."""
    out: dict[str, Any] = {}
    for header, value in row.items():
        *outer, last = header.split(".")
        inside = out
        for name in outer:
            inside = inside.setdefault(name, {})
        if value is not None and value != "":
            inside[last] = value
    return out


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: Any) -> int | None:
    """A whole number, which may be a text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def _name(value: Any) -> str | None:
    """An id or a text; schema and practice allow numbers."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    return text or None


def _list(text: str) -> list[Any] | None:
    """A list in a cell of a table: JSON, or names separated by commas."""
    found = _parsed(text.encode())
    return found if isinstance(found, list) else text.split(",")
