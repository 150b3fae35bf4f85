"""``/v1/feedback``: labels and clicks of queries, checked so that whatever is stored can be learned from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from juryrank.data.labels import LARGEST_LABEL
from juryrank.data.shapes import as_item_list
from juryrank.errors import DataError, JuryrankError
from juryrank.server.api_document import STORED, answered
from juryrank.server.fuse_requests import MOST_CHARACTERS, List, misfit_of_list
from juryrank.server.fusing import Fusing, hearing
from juryrank.server.logs import log
from juryrank.server.problems import Problem
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings
from juryrank.server.store import Row
from juryrank.server.store_address import no_store
from juryrank.server.telemetry import Metrics
from juryrank.server.writer import Writer

LONGEST_KEY = 255  # characters
MOST_WARNINGS = 20  # in one answer
NEEDED = "{query, lists, labels or clicks, key}"


class Clicks(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The items that were shown, in order, and those that were clicked."""

    shown: list[str | int]
    clicked: list[str | int]
    propensity: dict[str, float] | None = None  # the probability with which an item was shown where it was


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """Feedback about one query."""

    query: str
    key: str | None = None
    lists: dict[str, Any] | None = None
    labels: dict[str, float | None] | None = None  # None takes back what the judge said
    clicks: Clicks | None = None
    model: str | None = None
    judge: str | None = None


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """Several entries."""

    feedback: list[Entry]


class Stored(msgspec.Struct, omit_defaults=True):
    """Feedback as it is stored: ids are texts, and a list has its items in order or by score."""

    query: str
    lists: dict[str, tuple[list[str], list[float] | None]] = {}
    labels: dict[str, float | None] = {}
    clicks: Clicks | None = None
    judge: str = ""


_shape = msgspec.json.Decoder(dict[str, msgspec.Raw])
_one, _several = msgspec.json.Decoder(Entry), msgspec.json.Decoder(Body)
encode = msgspec.json.Encoder(order="sorted").encode
decode_stored = msgspec.json.Decoder(Stored).decode


def decode(body: bytes) -> list[Entry]:
    """The entries of a request; a Problem says what is wrong with it."""
    try:
        if "feedback" in _shape.decode(body):
            return _several.decode(body).feedback
        return [_one.decode(body)]
    except msgspec.ValidationError as error:
        raise Problem(422, f"feedback must be {NEEDED}, or {{feedback: [several]}}: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"the body must be JSON in UTF-8: {error}") from None


class Feedback:
    """Turns requests into rows of the store."""

    def __init__(self, registry: Registry, fusing: Fusing, settings: Settings) -> None:
        self._registry, self._fusing, self._settings = registry, fusing, settings

    def rows(self, body: bytes, header: str | None) -> tuple[list[Row], list[str]]:
        """The rows of a request and its warnings; ``header`` is the key for entries that have none of their own."""
        entries = decode(body)
        if not entries:
            raise Problem(422, f"feedback must have at least one entry, {NEEDED}")
        if len(entries) > self._settings.max_queries:
            raise Problem(413, f"a request may have {self._settings.max_queries} entries, got {len(entries)}")
        rows, warnings, size = [], [], 0
        for number, entry in enumerate(entries, 1):
            where = "" if len(entries) == 1 else f"entry {number}: "
            try:
                stored, told, entry_size = self._check(entry)
                key = _key(entry.key, header if len(entries) == 1 or header is None else f"{header}/{number}")
                model = self._model(entry.model)
            except JuryrankError as error:
                raise Problem(422, f"{where}{error}") from None
            size += entry_size
            warnings += [where + text for text in told]
            content = encode(stored)
            digest = hashlib.sha256(model.encode() + b"\0" + content).hexdigest()
            rows.append(Row(key, model, digest, content))
        if size > self._settings.max_items:
            raise Problem(413, f"a request may have {self._settings.max_items} items, got {size}")
        if len(warnings) > MOST_WARNINGS:
            warnings = [*warnings[:MOST_WARNINGS], f"and {len(warnings) - MOST_WARNINGS} more warnings"]
        return rows, warnings

    def _model(self, name: str | None) -> str:
        """The model that the feedback is for, which must exist."""
        chosen = self._fusing.default_model() if name is None else name
        if chosen not in (names := self._registry.names()):
            raise Problem(404, f"no model {chosen!r:.80}; known: {', '.join(names[:10])}")
        return chosen

    def _check(self, entry: Entry) -> tuple[Stored, list[str], int]:
        """The entry as it is stored, what was noticed, and its number of items."""
        if not entry.query.strip():
            raise DataError("query must be a text that is not blank")
        if not entry.labels and entry.clicks is None:
            raise DataError(
                'feedback needs labels, {id: grade}, or clicks, {"shown": [ids], "clicked": [ids]}; an item of which '
                "nothing is known is left out"
            )
        given, most = entry.lists or {}, self._settings.max_experts
        if len(given) > most:
            raise Problem(413, f"a query may have {most} experts, got {len(given)}")
        if (longest := max(map(len, [entry.judge or "", *given]))) > MOST_CHARACTERS:
            raise DataError(f"the name of an expert or a judge may have {MOST_CHARACTERS} characters, got {longest}")
        warnings: list[str] = []
        lists = {expert: check_list(expert, listed, warnings) for expert, listed in given.items()}
        labels = check_labels(entry.labels or {})
        clicks = None if entry.clicks is None else check_clicks(entry.clicks)
        listed = {item for items, _ in lists.values() for item in items}
        if lists and labels and listed.isdisjoint(labels):
            warnings.append("no item with a label is in the lists; are the ids the same?")
        size = (
            sum(len(items) for items, _ in lists.values()) + len(labels) + (0 if clicks is None else len(clicks.shown))
        )
        return Stored(entry.query, lists, labels, clicks, entry.judge or ""), warnings, size


def _key(own: str | None, header: str | None) -> str:
    """The key of an entry."""
    key = own if own is not None else header
    if key is None:
        raise DataError(
            "feedback needs a key (or the header Idempotency-Key): a text of your choice that stays the same when the "
            "request is repeated, so that it is stored once"
        )
    if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        raise DataError(f"a key must have 1 to {LONGEST_KEY} printable characters, got {key!r:.80}")
    return key


def check_list(expert: str, listed: Any, warnings: list[str]) -> tuple[list[str], list[float] | None]:
    """The ids of a list as texts, and their scores, if there are any."""
    where = f"expert {expert!r:.80}"
    try:
        with hearing():  # that ids repeat is told below, without naming them
            found = as_item_list(msgspec.convert(listed, List), where)
    except msgspec.ValidationError:
        raise DataError(misfit_of_list(expert, listed) or where) from None
    items, numbers = [str(item) for item in found.items], found.numbers
    if again := len(items) - len(set(items)):
        warnings.append(f"{where}: {again} items are in the list more than once; the best place counts")
    return items, numbers


def check_labels(labels: Mapping[str, float | None]) -> dict[str, float | None]:
    """The labels, if they can be learned from."""
    for item, grade in labels.items():
        if grade is not None and not 0 <= grade <= LARGEST_LABEL:
            raise DataError(
                f"labels: a grade must be a number from 0 to {LARGEST_LABEL:g}, or null to take one back, and that of "
                f"item {item!r:.80} is {grade:g}"
            )
    return dict(labels)


def check_clicks(clicks: Clicks) -> Clicks:
    """The clicks with ids as texts, if they fit together."""
    shown, clicked = [str(item) for item in clicks.shown], [str(item) for item in clicks.clicked]
    if not shown or len(set(shown)) < len(shown):
        raise DataError("clicks: shown must have the items in the order in which they were shown, each once")
    known = set(shown)
    _demand_shown("clicked", clicked, known)
    if clicks.propensity is not None:
        _demand_shown("propensity", clicks.propensity, known)
        if known - clicks.propensity.keys() or not all(0 < share <= 1 for share in clicks.propensity.values()):
            raise DataError("clicks: propensity must give every shown item a probability above 0 and at most 1")
    return Clicks(list(shown), list(dict.fromkeys(clicked)), clicks.propensity)


def _demand_shown(what: str, items: Iterable[str], shown: set[str]) -> None:
    if (other := next((item for item in items if item not in shown), None)) is not None:
        raise DataError(f"clicks: {what} has the item {other!r:.80}, which is not among those that were shown")


def add_feedback_routes(routes: FastAPI, feedback: Feedback, writer: Writer | None, metrics: Metrics) -> None:
    """``POST /v1/feedback``."""

    answers: dict[int | str, dict[str, Any]] = {
        201: answered("Stored on the disk", STORED),
        200: answered("Everything was there already", STORED),
    }

    @routes.post("/v1/feedback", summary="Store labels or clicks of queries", status_code=201, responses=answers)
    async def add_feedback(request: Request) -> Response:
        if writer is None:
            raise no_store()
        rows, warnings = feedback.rows(await request.body(), request.headers.get("idempotency-key"))
        try:
            outcome = await writer.add(rows)
        except Problem as problem:
            metrics.feedback("failed", len(rows))
            log.error("feedback was not stored: %s (%s)", problem.detail, problem.__cause__)
            raise
        if outcome.conflicts:
            metrics.feedback("conflict", len(rows))
            raise Problem(
                409,
                f"the key {outcome.conflicts[0]!r} was used for other feedback; nothing of this request was stored",
            )
        metrics.feedback("stored", outcome.stored)
        metrics.feedback("duplicate", outcome.duplicates)
        content = {"stored": outcome.stored, "duplicates": outcome.duplicates, "warnings": warnings}
        return Response(encode(content), 201 if outcome.stored else 200, media_type="application/json")
