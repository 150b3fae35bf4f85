"""The store of feedback, in SQLite and in PostgreSQL: what is in it once, in order, and after a failure."""

import sqlite3
import threading
from contextlib import closing

import pytest

from juryrank.errors import DataError
from juryrank.server.problems import Problem
from juryrank.server.store import Outcome, Refit, Row
from juryrank.server.store_address import make_store
from server.stores import new_database, new_file, postgres_server


@pytest.fixture(scope="module")
def postgres():
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    if request.param == "sqlite":
        return new_file(tmp_path)
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def store(address):
    with make_store(address, 5.0) as opened:
        yield opened


def row(key, content=b"{}", model="m"):
    return Row(key, model, f"digest of {content!r}", content)


def contents(store, model="m", until=10**9):
    return [content for _, content in store.read(model, until)]


def test_rows_are_read_in_the_order_in_which_they_were_added_also_by_another_connection(store, address):
    keys = [f"k{n}" for n in range(1203)]  # more than are read at once
    for start in range(0, len(keys), 100):
        store.add([[row(key, key.encode())] for key in keys[start : start + 100]])
    with make_store(address, 5.0) as other:
        assert contents(other) == [key.encode() for key in keys]
        numbers = [number for number, _ in other.read("m", 10**9)]
        assert numbers == sorted(set(numbers))
        assert other.last("m") == numbers[-1]
        assert [number for number, _ in other.read("m", numbers[600])] == numbers[:601]


def test_a_key_is_stored_once_and_other_content_under_it_is_a_conflict(store):
    assert store.add([[row("a"), row("b")]]) == [Outcome(2, 0)]
    assert store.add([[row("a"), row("c")]]) == [Outcome(1, 1)]
    assert store.add([[row("d"), row("a", b"other")]]) == [Outcome(0, 0, ("a",))]
    assert len(contents(store)) == 3  # nothing of the request with the conflict, not even d


def test_requests_of_one_transaction_have_outcomes_of_their_own(store):
    found = store.add(
        [[row("a")], [row("a")], [row("a", b"other"), row("b")], [row("b", b"new")], [row("c"), row("c")]]
    )
    assert found == [Outcome(1, 0), Outcome(0, 1), Outcome(0, 0, ("a",)), Outcome(1, 0), Outcome(1, 1)]
    assert contents(store) == [b"{}", b"new", b"{}"]


def test_models_are_kept_apart(store):
    store.add([[row("a", b"1", "one"), row("b", b"2", "two"), row("c", b"3", "one")]])
    assert contents(store, "one") == [b"1", b"3"]
    assert contents(store, "two") == [b"2"]
    assert store.last("one") > store.last("two") > 0
    assert store.last("three") == 0


def test_keys_and_contents_are_data_whatever_characters_they_have(store):
    keys = ["'; DROP TABLE juryrank_feedback; --", "%s", "?", "naïve 检索 🎯", "\\", '"', "x" * 255]
    store.add([[row(key, key.encode() + b"\0\xff") for key in keys]])
    assert contents(store) == [key.encode() + b"\0\xff" for key in keys]
    assert store.add([[row(key, key.encode() + b"\0\xff") for key in keys]]) == [Outcome(0, len(keys))]


def test_writers_at_the_same_time_lose_nothing_and_store_no_key_twice(address):
    def write(n):
        with make_store(address, 30.0) as own:
            for start in range(20):
                outcomes[n] += own.add([[row(f"{n}-{start}", b"own"), row(f"shared-{start}", b"shared")]])

    outcomes = {n: [] for n in range(4)}
    threads = [threading.Thread(target=write, args=[n]) for n in outcomes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with make_store(address, 5.0) as store:
        found = contents(store)
    assert found.count(b"own") == 80
    assert found.count(b"shared") == 20
    assert sum(each.stored for found in outcomes.values() for each in found) == 100


def test_refits_are_found_by_their_version_and_bases_are_kept_once(store):
    assert store.find_refit("m", "v1") is None
    store.record(Refit("m", "v0", "v1", 10, b"{}"), b"base")
    store.record(Refit("m", "v0", "v2", 20, b'{"n":2}'), b"base")
    store.record(Refit("m", "v0", "v2", 15, b'{"n":3}'), b"base")
    assert store.find_refit("m", "v1") == Refit("m", "v0", "v1", 10, b"{}")
    assert store.find_refit("m", "v2") == Refit("m", "v0", "v2", 20, b'{"n":2}')
    assert store.find_refit("other", "v1") is None
    assert store.base("v0") == b"base"
    assert [bytes(report) for _, report in store.reports("m", 2)] == [b'{"n":3}', b'{"n":2}']


def test_there_is_one_refit_at_a_time(address):
    with make_store(address, 5.0) as one, make_store(address, 5.0) as two:
        with one.refitting(), pytest.raises(Problem, match="a refit is under way") as caught, two.refitting():
            pass
        assert caught.value.status == 409
        with two.refitting():
            assert two.last("m") == 0


def hold_lock(address):
    """A connection of somebody else that holds what writers need."""
    if "://" not in address:
        connection = sqlite3.connect(address, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        return connection
    import psycopg

    connection = psycopg.connect(address)
    connection.execute("LOCK TABLE juryrank_feedback IN EXCLUSIVE MODE")
    return connection


def test_a_lock_of_somebody_else_is_a_503_after_the_time_and_no_obstacle_afterwards(address):
    with make_store(address, 0.3) as store:
        store.add([[row("a")]])
        with closing(hold_lock(address)), pytest.raises(Problem, match="locked; try again") as caught:
            store.add([[row("b")]])
        assert caught.value.status == 503
        assert caught.value.headers == {"retry-after": "1"}
        assert store.add([[row("b")]]) == [Outcome(1, 0)]
        assert len(contents(store)) == 2


def test_reading_does_not_wait_for_a_writer(address):
    with make_store(address, 0.3) as store:
        store.add([[row("a")]])
        with closing(hold_lock(address)):
            assert contents(store) == [b"{}"]


def test_a_full_disk_is_a_507_and_what_was_stored_stays(tmp_path):
    path = new_file(tmp_path)
    with make_store(path, 1.0) as store:
        store.add([[row("a")]])
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")  # as a disk with that much room
        with pytest.raises(Problem, match="the disk is full") as caught:
            store.add([[row("b", b"x" * 100_000)]])
        assert caught.value.status == 507
        assert contents(store) == [b"{}"]
        assert store.add([[row("b")]]) == [Outcome(1, 0)]  # by a new connection


def test_commits_reach_the_disk_before_they_are_acknowledged(store, address):
    if "://" in address:
        assert store._connection.execute("SHOW synchronous_commit").fetchone()[0] == "on"
    else:
        assert store._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL


def test_a_store_of_a_newer_service_is_refused(address):
    with make_store(address, 1.0) as store:
        version = "UPDATE juryrank_store SET version = 99" if "://" in address else "PRAGMA user_version = 99"
        store._connection.execute(version)
    with pytest.raises(DataError, match="the store has version 99, and this service uses version 1; upgrade juryrank"):
        make_store(address, 1.0).open()


def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(tmp_path):
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_bytes(b"not a database, but long enough to look at" * 100)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (a)")
        connection.commit()
    with pytest.raises(DataError, match=r"text\.db: not a store of feedback, or damaged"):
        make_store(str(text), 1.0).open()
    with pytest.raises(DataError, match=r"other\.db: not a store of feedback, but another SQLite file"):
        make_store(str(other), 1.0).open()
    assert text.read_bytes().startswith(b"not a database")
    with closing(sqlite3.connect(other)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_a_damaged_store_is_refused_when_it_is_opened(tmp_path):
    path = new_file(tmp_path)
    with make_store(path, 1.0) as store:
        store.add([[row(f"k{n}", b"x" * 2000) for n in range(200)]])
    with open(path, "r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 5)
    with pytest.raises(DataError, match="damaged"):
        make_store(path, 1.0).open()


def test_an_address_that_is_neither_a_file_nor_postgresql_is_refused_without_its_password():
    with pytest.raises(DataError, match=r"store must be the path of an SQLite file or postgresql://…, got mysql://…"):
        make_store("mysql://me:secret@host/x", 1.0)
    with pytest.raises(DataError, match="there is no folder"):
        make_store("/no/such/folder/feedback.db", 1.0).open()


def test_a_server_that_cannot_be_reached_is_a_503():
    pytest.importorskip("psycopg")
    with pytest.raises(Problem, match="cannot be reached") as caught:
        make_store("postgresql://me:secret@127.0.0.1:9/none", 1.0).add([[row("a")]])
    assert caught.value.status == 503
    assert "secret" not in caught.value.detail


def test_a_connection_that_was_lost_is_made_again(postgres):
    import psycopg

    address = new_database(postgres)
    with make_store(address, 2.0) as store:
        store.add([[row("a")]])
        pid = store._connection.info.backend_pid
        with psycopg.connect(address, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", [pid])
        with pytest.raises(Problem) as caught:
            store.add([[row("b")]])
        assert caught.value.status == 503
        assert store.add([[row("b")]]) == [Outcome(1, 0)]
