"""The store of feedback: rows that are only added, what refits have learned, and the models that they started from.

Rows are ordered by their number, which the database gives, not by time: clocks jump. A key is stored once; the same key
with the same content is a duplicate, with other content a conflict. SQLite is in ``store_sqlite``, PostgreSQL in
``store_postgres``; this module has what they share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from juryrank.errors import DataError
from juryrank.server.problems import Problem

VERSION = 1  # of the tables; grows when an older service could not use them
KEYS_AT_ONCE = 500  # in one statement
ROWS_AT_ONCE = 500  # that are read


@dataclass(frozen=True)
class Row:
    """Feedback about one query; ``content`` is its JSON and ``digest`` the SHA-256 of that."""

    key: str
    model: str
    digest: str
    content: bytes


@dataclass(frozen=True)
class Outcome:
    """What became of the rows of a request; with conflicts, nothing of it is stored."""

    stored: int = 0
    duplicates: int = 0
    conflicts: tuple[str, ...] = ()  # keys


@dataclass(frozen=True)
class Refit:
    """A refit: ``version`` is ``base`` with the rows of its model up to the number ``until``."""

    model: str
    base: str
    version: str
    until: int
    report: bytes  # JSON


class Store(ABC):
    """A connection to the store; each thread has its own."""

    mark: str  # for a value in a statement

    def __init__(self, seconds: float) -> None:
        """``seconds`` is how long to wait for a lock."""
        self._seconds = seconds
        self._connection: Any = None

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection, with tables of our version."""

    @abstractmethod
    def _begin(self) -> None:
        """Start a transaction that no other writer can join, so that numbers are in the order of commits."""

    @abstractmethod
    def _problem(self, error: Exception) -> Problem | None:
        """What a client is told of an error of the database; None for a fault of ours."""

    @abstractmethod
    def refitting(self) -> AbstractContextManager[None]:
        """Allows one refit at a time among all workers; a Problem if another is under way."""

    def open(self) -> Self:
        """Connect, if that was not done."""
        if self._connection is None:
            self._connection = self._connect()
        return self

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def __enter__(self) -> Self:
        with self._problems():
            return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Errors of the database become problems."""
        try:
            yield
        except Exception as error:
            if (problem := self._problem(error)) is None:
                raise
            raise problem from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, on the disk at the end; after an error the next transaction has a new connection."""
        with self._problems():
            self.open()
            try:
                self._begin()
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self.close()  # which rolls back
                raise

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement.replace("?", self.mark), values)

    def add(self, requests: Sequence[Sequence[Row]]) -> list[Outcome]:
        """Store the rows of several requests in one transaction; when this returns, they are on the disk."""
        with self._transaction():
            known = self._digests([row.key for rows in requests for row in rows])
            outcomes, new = [], []
            for rows in requests:
                outcome, missing = _compare(rows, known)
                known.update((row.key, row.digest) for row in missing)
                outcomes.append(outcome)
                new += missing
            if new:
                now = datetime.now(UTC).isoformat(timespec="seconds")
                marks = ", ".join([self.mark] * 5)
                self._connection.cursor().executemany(
                    f"INSERT INTO juryrank_feedback (key, model, digest, content, received) VALUES ({marks})",
                    [(row.key, row.model, row.digest, row.content, now) for row in new],
                )
        return outcomes

    def _digests(self, keys: list[str]) -> dict[str, str]:
        """The digests of the keys that are stored."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), KEYS_AT_ONCE):
            part = keys[start : start + KEYS_AT_ONCE]
            marks = ", ".join(["?"] * len(part))
            found.update(self._execute(f"SELECT key, digest FROM juryrank_feedback WHERE key IN ({marks})", part))
        return found

    def last(self, model: str) -> int:
        """The number of the last row of a model; 0 without rows."""
        with self._problems():
            found = self.open()._execute("SELECT MAX(number) FROM juryrank_feedback WHERE model = ?", [model])
            return found.fetchone()[0] or 0

    def read(self, model: str, until: int) -> Iterator[tuple[int, bytes]]:
        """Number and content of the rows of a model up to a number, in order."""
        after = 0
        statement = (
            "SELECT number, content FROM juryrank_feedback "
            "WHERE model = ? AND number > ? AND number <= ? ORDER BY number LIMIT ?"
        )
        while True:
            with self._problems():
                rows = self.open()._execute(statement, [model, after, until, ROWS_AT_ONCE]).fetchall()
            yield from rows
            if len(rows) < ROWS_AT_ONCE:
                return
            after = rows[-1][0]

    def record(self, refit: Refit, base: bytes) -> None:
        """Remember a refit, and the model file that it started from."""
        with self._transaction():
            if self._execute("SELECT 1 FROM juryrank_bases WHERE version = ?", [refit.base]).fetchone() is None:
                self._execute("INSERT INTO juryrank_bases (version, content) VALUES (?, ?)", [refit.base, base])
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._execute(
                "INSERT INTO juryrank_refits (model, base, version, learned_until, report, recorded) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [refit.model, refit.base, refit.version, refit.until, refit.report, now],
            )

    def find_refit(self, model: str, version: str) -> Refit | None:
        """The refit that made a version; None if it was uploaded."""
        with self._problems():
            found = self.open()._execute(
                "SELECT model, base, version, learned_until, report FROM juryrank_refits "
                "WHERE model = ? AND version = ? ORDER BY learned_until DESC LIMIT 1",
                [model, version],
            )
            return None if (row := found.fetchone()) is None else Refit(*row)

    def base(self, version: str) -> bytes:
        """A model file that refits started from."""
        with self._problems():
            found = self.open()._execute("SELECT content FROM juryrank_bases WHERE version = ?", [version])
            content: bytes = found.fetchone()[0]
            return content

    def reports(self, model: str, most: int) -> list[tuple[str, bytes]]:
        """When the last refits of a model were recorded, and their reports, newest first."""
        statement = "SELECT recorded, report FROM juryrank_refits WHERE model = ? ORDER BY number DESC LIMIT ?"
        with self._problems():
            return list(self.open()._execute(statement, [model, most]).fetchall())


def _compare(rows: Sequence[Row], known: dict[str, str]) -> tuple[Outcome, list[Row]]:
    """The outcome of a request, and the rows to store."""
    own: dict[str, Row] = {}
    duplicates, conflicts = 0, []
    for row in rows:
        before = own[row.key].digest if row.key in own else known.get(row.key)
        if before is None:
            own[row.key] = row
        elif before == row.digest:
            duplicates += 1
        else:
            conflicts.append(row.key)
    if conflicts:
        return Outcome(conflicts=tuple(conflicts)), []
    return Outcome(len(own), duplicates), list(own.values())


def check_version(found: Any, place: str) -> None:
    """A DataError if the tables were made by a service of another version."""
    if found != VERSION:
        raise DataError(
            f"{place}: the store has version {found}, and this service uses version {VERSION}; "
            f"{'upgrade juryrank' if isinstance(found, int) and found > VERSION else 'give another --store'}"
        )
