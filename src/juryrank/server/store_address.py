"""Where the store of feedback is: an SQLite file or a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path

from juryrank.errors import DataError
from juryrank.server.problems import Problem
from juryrank.server.settings import Settings
from juryrank.server.store import Store

FILE = "feedback.db"  # in the folder of models


def address_of(settings: Settings) -> str | None:
    """Where feedback is kept: as the settings say, or beside the models; None for the demo."""
    if settings.store is not None:
        return settings.store
    return None if settings.models is None else str(settings.models / FILE)


def no_store() -> Problem:
    """What a service without a store answers."""
    return Problem(
        409, "this service keeps no feedback: start it with juryrank serve MODELS, or with --store feedback.db"
    )


def make_store(address: str, seconds: float) -> Store:
    """The store at an address, which is not opened yet."""
    scheme, separator, _ = address.partition("://")
    if not separator:
        from juryrank.server.store_sqlite import SQLiteStore

        return SQLiteStore(Path(address), seconds)
    if scheme not in ("postgresql", "postgres"):
        raise DataError(f"store must be the path of an SQLite file or postgresql://…, got {scheme}://…")
    from juryrank.server.store_postgres import PostgresStore

    return PostgresStore(address, seconds)
