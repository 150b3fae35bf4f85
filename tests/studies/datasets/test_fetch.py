"""Downloads from a server on this machine that cuts off, forgets, lies and refuses."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from juryrank.errors import DataError
from studies.datasets import DataSet, data_set
from studies.datasets.fetch import fetch

TEXT = b"".join(b"line %d\n" % n for n in range(50_000))


@dataclass
class Server:
    """What the server does next, and what it was asked."""

    address: str = ""
    cut_off: int = 0  # answers that end halfway
    ranges: bool = True
    length: str | None = None  # in place of the true Content-Length
    code: int = 200
    asked: list[str] = field(default_factory=list)  # the ranges


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            state.asked.append(asked)
            if state.code != 200:
                self.send_error(state.code)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and state.ranges else 0
            if start >= len(TEXT):
                self.send_error(416)
                return
            body = TEXT[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)) if state.length is None else state.length)
            self.end_headers()
            if state.cut_off:
                state.cut_off -= 1
                body = body[: len(body) // 2]
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        state.address = f"http://127.0.0.1:{made.server_port}/"
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield state
        made.shutdown()
        thread.join()


def a_set(server: Server, text: bytes = TEXT) -> DataSet:
    files = {"deep/a.txt": hashlib.sha256(text).hexdigest()}
    return DataSet("some", "lines", "at home", "open", (), files, server.address)


def test_a_file_is_fetched_once_and_shown_on_the_way(server, tmp_path):
    seen: list[tuple[str, int, int | None]] = []
    assert fetch(a_set(server), tmp_path, lambda *each: seen.append(each)) == ["deep/a.txt"]
    assert (tmp_path / "some" / "deep" / "a.txt").read_bytes() == TEXT
    assert seen[-1] == ("deep/a.txt", len(TEXT), len(TEXT))
    assert len(seen) > 2
    assert fetch(a_set(server), tmp_path) == []
    assert len(server.asked) == 1


@pytest.mark.parametrize("length", ["many", "-5", "", "1e3", "٣", "9" * 5000, "12, 12", "+7"])
def test_a_length_that_is_no_number_is_passed_over(server, tmp_path, length):
    server.length = length
    try:
        fetch(a_set(server), tmp_path)
    except DataError as error:  # what a reader of HTTP may believe of it
        assert "the part downloaded so far is kept" in str(error) or "SHA-256 should be" in str(error)  # noqa: PT017
        return
    assert (tmp_path / "some" / "deep" / "a.txt").read_bytes() == TEXT


@pytest.mark.parametrize("length", [0, 10, len(TEXT) - 1, len(TEXT) + 1, 10 * len(TEXT)])
def test_a_wrong_length_never_gives_a_wrong_file(server, tmp_path, length):
    server.length = str(length)
    try:
        fetch(a_set(server), tmp_path)
    except DataError as error:
        assert "SHA-256 should be" in str(error) or "cut off" in str(error)  # noqa: PT017
        assert not (tmp_path / "some" / "deep" / "a.txt").exists()
        return
    assert (tmp_path / "some" / "deep" / "a.txt").read_bytes() == TEXT


def test_a_planted_link_is_not_written_through(server, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "some" / "deep").mkdir(parents=True)
    (tmp_path / "some" / "deep" / ".a.txt.part").symlink_to(victim)
    with pytest.raises(DataError, match="Too many levels of symbolic links"):
        fetch(a_set(server), tmp_path)
    assert victim.read_bytes() == b"precious"


def test_an_answer_that_is_cut_off_is_gone_on_with(server, tmp_path):
    server.cut_off = 2
    fetch(a_set(server), tmp_path)
    assert (tmp_path / "some" / "deep" / "a.txt").read_bytes() == TEXT
    assert server.asked == ["", f"bytes={len(TEXT) // 2}-", f"bytes={len(TEXT) // 2 + len(TEXT) // 4}-"]


def test_what_came_is_kept_for_the_next_time(server, tmp_path):
    server.cut_off = 3
    with pytest.raises(DataError, match=r"cut off .* bytes before the end; the part downloaded so far is kept"):
        fetch(a_set(server), tmp_path)
    assert not (tmp_path / "some" / "deep" / "a.txt").exists()
    fetch(a_set(server), tmp_path)
    assert (tmp_path / "some" / "deep" / "a.txt").read_bytes() == TEXT
    assert server.asked[-1].startswith("bytes=")


def test_a_server_without_ranges_begins_again(server, tmp_path):
    server.cut_off, server.ranges = 1, False
    fetch(a_set(server), tmp_path)
    assert (tmp_path / "some" / "deep" / "a.txt").read_bytes() == TEXT


@pytest.mark.parametrize("left", [b"", b"something else"])
def test_a_file_with_another_checksum_is_thrown_away(server, tmp_path, left):
    part = tmp_path / "some" / "deep" / ".a.txt.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(left)
    wrong = a_set(server, b"not this")
    with pytest.raises(DataError, match="SHA-256 should be"):
        fetch(wrong, tmp_path)
    assert list(part.parent.iterdir()) == []


def test_a_whole_file_under_its_first_name_is_only_renamed(server, tmp_path):
    part = tmp_path / "some" / "deep" / ".a.txt.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(TEXT)
    fetch(a_set(server), tmp_path)
    assert [path.name for path in part.parent.iterdir()] == ["a.txt"]


def test_a_file_that_is_not_there_is_asked_for_once(server, tmp_path):
    server.code = 404
    with pytest.raises(DataError, match="the server says 404"):
        fetch(a_set(server), tmp_path)
    assert len(server.asked) == 1


def test_a_server_in_trouble_is_asked_again(server, tmp_path):
    server.code = 503
    with pytest.raises(DataError, match="the server says 503"):
        fetch(a_set(server), tmp_path)
    assert len(server.asked) == 3


def test_no_server_at_all_is_an_error_that_says_so(tmp_path):
    nowhere = DataSet("some", "", "", "", (), {"a": "0"}, "http://127.0.0.1:9/")
    with pytest.raises(DataError, match="refused"):
        fetch(nowhere, tmp_path)


def test_what_a_licence_keeps_from_programs_is_not_fetched(tmp_path):
    with pytest.raises(DataError, match=r"cannot be fetched by a program: .*agreement.*Get it from https://"):
        fetch(data_set("MQ2008-agg"), tmp_path)
