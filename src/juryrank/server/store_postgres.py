"""Feedback in a PostgreSQL database, in tables whose names start with juryrank_."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from juryrank.errors import DataError, MissingExtraError
from juryrank.server.problems import Problem
from juryrank.server.store import VERSION, Store, check_version

try:
    import psycopg
except ImportError:
    raise MissingExtraError.of("postgres", "a store in PostgreSQL needs psycopg") from None

REFIT_LOCK, TABLES_LOCK = 0x6A727266, 0x6A727274  # advisory locks
TABLES = """
    CREATE TABLE juryrank_feedback (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL,
        digest TEXT NOT NULL, content BYTEA NOT NULL, received TEXT NOT NULL
    );
    CREATE INDEX juryrank_feedback_by_model ON juryrank_feedback (model, number);
    CREATE TABLE juryrank_refits (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, model TEXT NOT NULL, base TEXT NOT NULL,
        version TEXT NOT NULL, learned_until BIGINT NOT NULL, report BYTEA NOT NULL, recorded TEXT NOT NULL
    );
    CREATE TABLE juryrank_bases (version TEXT PRIMARY KEY, content BYTEA NOT NULL);
    CREATE TABLE juryrank_store (version INTEGER NOT NULL)
"""


class PostgresStore(Store):
    """A store in a database."""

    mark = "%s"

    def __init__(self, address: str, seconds: float) -> None:
        super().__init__(seconds)
        self._address = address

    def _connect(self) -> Any:
        try:
            wait = max(2, round(self._seconds))
            connection = psycopg.connect(
                self._address, autocommit=True, connect_timeout=wait, application_name="juryrank"
            )
        except psycopg.ProgrammingError as error:
            raise DataError(f"store: not the address of a PostgreSQL database: {error}") from None
        try:
            connection.execute("SELECT set_config('lock_timeout', %s, false)", [f"{round(self._seconds * 1000)}ms"])
            connection.execute("SET synchronous_commit TO on")  # whatever the server's default is
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Any) -> None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [TABLES_LOCK])  # another process may start, too
            if connection.execute("SELECT to_regclass('juryrank_store')").fetchone()[0] is None:
                for statement in TABLES.split(";"):
                    connection.execute(statement)
                connection.execute("INSERT INTO juryrank_store VALUES (%s)", [VERSION])
        found = connection.execute("SELECT version FROM juryrank_store").fetchone()
        check_version(None if found is None else found[0], self._name)

    @property
    def _name(self) -> str:
        """The address without user and password."""
        parts = urlsplit(self._address)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    def _begin(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.execute("LOCK TABLE juryrank_feedback IN EXCLUSIVE MODE")  # readers do not wait

    def _problem(self, error: Exception) -> Problem | None:
        if not isinstance(error, psycopg.Error):
            return None
        if isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
            return Problem(503, "the store of feedback is locked; try again", headers={"retry-after": "1"})
        if isinstance(error, psycopg.errors.DiskFull | psycopg.errors.IoError):
            return Problem(507, "the store of feedback cannot be written: the disk is full, or fails")
        return Problem(503, "the store of feedback cannot be reached; try again", headers={"retry-after": "5"})

    @contextmanager
    def refitting(self) -> Iterator[None]:
        """Holds an advisory lock, which ends with the connection at the latest."""
        with self._problems():
            self.open()
            if not self._connection.execute("SELECT pg_try_advisory_lock(%s)", [REFIT_LOCK]).fetchone()[0]:
                raise Problem(409, "a refit is under way; wait for its end")
        try:
            yield
        finally:
            if self._connection is not None:  # the server notices the end of a connection only after a while
                with suppress(psycopg.Error):
                    self._connection.execute("SELECT pg_advisory_unlock(%s)", [REFIT_LOCK])
            self.close()
