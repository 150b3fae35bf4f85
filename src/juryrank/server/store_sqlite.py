"""Feedback in an SQLite file: in WAL mode, so that readers and the writer do not wait for each other."""

from __future__ import annotations

import fcntl
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from juryrank.errors import DataError
from juryrank.server.problems import Problem
from juryrank.server.store import VERSION, Store, check_version

APPLICATION = 0x6A727266  # in the header of the file, so that no other database is taken for a store
CHECKED_UP_TO = 64 << 20  # bytes of a file that is checked as a whole when it is opened
BETWEEN_ATTEMPTS = 0.001  # seconds
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
TABLES = """
    CREATE TABLE juryrank_feedback (
        number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, digest TEXT NOT NULL,
        content BLOB NOT NULL, received TEXT NOT NULL
    );
    CREATE INDEX juryrank_feedback_by_model ON juryrank_feedback (model, number);
    CREATE TABLE juryrank_refits (
        number INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, base TEXT NOT NULL, version TEXT NOT NULL,
        learned_until INTEGER NOT NULL, report BLOB NOT NULL, recorded TEXT NOT NULL
    );
    CREATE TABLE juryrank_bases (version TEXT PRIMARY KEY, content BLOB NOT NULL);
"""


class SQLiteStore(Store):
    """A store in a file."""

    mark = "?"

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__(seconds)
        self._path, self._is_checked = path, False

    def _connect(self) -> sqlite3.Connection:
        if not self._path.parent.is_dir():
            raise DataError(f"{self._path}: cannot be made: there is no folder {self._path.parent}")
        connection = sqlite3.connect(self._path, timeout=self._seconds, isolation_level=None)
        try:
            self._prepare(connection)
        except sqlite3.Error as error:
            connection.close()
            if _kind(error) in DAMAGED:
                raise DataError(
                    f"{self._path}: not a store of feedback, or damaged ({error}); restore a copy, or move it away to "
                    "start with an empty one"
                ) from None
            raise
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        self._when_free(connection, "PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # each commit is on the disk before it is acknowledged
        if not self._is_checked and self._path.stat().st_size <= CHECKED_UP_TO:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise DataError(f"{self._path}: the store is damaged: {found}; restore a copy, or move it away")
        if self._application(connection) == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            self._create(connection)
        if self._application(connection) != APPLICATION:
            raise DataError(f"{self._path}: not a store of feedback, but another SQLite file; give another --store")
        check_version(connection.execute("PRAGMA user_version").fetchone()[0], str(self._path))
        self._is_checked = True

    def _when_free(self, connection: sqlite3.Connection, statement: str) -> None:
        """Execute a statement that needs a lock, as soon as it is free.

        SQLite itself waits longer and longer between its attempts, up to 0.1 s, and not at all for the mode of a
        journal; with several workers that would take most of the time.
        """
        end = time.monotonic() + self._seconds
        connection.execute("PRAGMA busy_timeout = 0")
        while True:
            try:
                connection.execute(statement)
                break
            except sqlite3.OperationalError as error:
                if _kind(error) not in LOCKED or time.monotonic() > end:
                    raise
                time.sleep(BETWEEN_ATTEMPTS)
        connection.execute(f"PRAGMA busy_timeout = {round(self._seconds * 1000)}")

    @staticmethod
    def _application(connection: sqlite3.Connection) -> int:
        found: int = connection.execute("PRAGMA application_id").fetchone()[0]
        return found

    @staticmethod
    def _create(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN EXCLUSIVE")
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():  # else another process was faster
            for statement in filter(str.strip, TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")

    def _begin(self) -> None:
        self._when_free(self._connection, "BEGIN IMMEDIATE")

    def _problem(self, error: Exception) -> Problem | None:
        if not isinstance(error, sqlite3.Error):
            return None
        kind = _kind(error)
        if kind in LOCKED:
            return Problem(503, "the store of feedback is locked; try again", headers={"retry-after": "1"})
        if kind in FULL:
            return Problem(507, "the store of feedback cannot be written: the disk is full, or fails")
        if kind in DAMAGED:
            return Problem(500, "the store of feedback is damaged; nothing was stored")
        return Problem(503, "the store of feedback cannot be used; nothing was stored", headers={"retry-after": "5"})

    @contextmanager
    def refitting(self) -> Iterator[None]:
        """Holds a lock on a file beside the store, which ends with the process."""
        with self._path.with_name(f"{self._path.name}-refit.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Problem(409, "a refit is under way; wait for its end") from None
            yield


def _kind(error: sqlite3.Error) -> int:
    """The primary code of an error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
