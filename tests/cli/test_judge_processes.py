"""``juryrank judge --interactive`` in real processes: killed, interrupted, in a terminal, and several at a time."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cli.conftest import DEMO
from juryrank.tasks.judge.store import JudgementFile

PROMPT = "q quit > "
PATIENCE = 30.0  # seconds for one answer, on a machine that has little time for us


class Process:
    """A session that is answered step by step, through a pipe or, with ``terminal``, a pseudo-terminal."""

    def __init__(self, folder: Path, *args: object, terminal: bool = False) -> None:
        command = [sys.executable, "-m", "juryrank", "judge", str(DEMO), "--columns", "label=", "--interactive"]
        stdin: Any = subprocess.PIPE
        stdout: Any = subprocess.PIPE
        if terminal:
            self.end, self.terminal = pty.openpty()
            self.before = termios.tcgetattr(self.terminal)
            stdin = stdout = self.terminal
        self.process = subprocess.Popen(
            [*command, *map(str, args)], cwd=folder, stdin=stdin, stdout=stdout, stderr=subprocess.STDOUT,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
            preexec_fn=self._own_terminal if terminal else None,
        )  # fmt: skip
        self.output = self.end if terminal else self.process.stdout.fileno()  # type: ignore[union-attr]
        self.input = self.end if terminal else self.process.stdin.fileno()  # type: ignore[union-attr]
        self.shown, self.seen = "", 0
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def _own_terminal(self) -> None:
        os.setsid()
        fcntl.ioctl(self.terminal, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal for the process

    def read(self, until: str = PROMPT) -> str:
        """What is shown after what was read before, up to this text or the end."""
        start, deadline = self.seen, time.monotonic() + PATIENCE
        while (found := self.shown.find(until, start)) < 0:
            assert select.select([self.output], [], [], max(0.0, deadline - time.monotonic()))[0], self.shown
            try:
                piece = os.read(self.output, 4096)
            except OSError:  # the other end of the terminal is closed
                piece = b""
            if not piece:
                found = len(self.shown)
                break
            self.shown += self.decoder.decode(piece)
        self.seen = found + len(until)
        return self.shown[start : self.seen]

    def answer(self, text: str) -> str:
        os.write(self.input, text.encode())
        return self.read()

    def wait(self) -> int:
        return self.process.wait(PATIENCE)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def begin(*args: object, terminal: bool = False) -> Process:
        started.append(Process(tmp_path, *args, terminal=terminal))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait()
        for stream in (each.process.stdin, each.process.stdout):
            if stream is not None:
                stream.close()
        if hasattr(each, "terminal"):
            os.close(each.end)
            os.close(each.terminal)


def grades(folder: Path, judge: str = "ann") -> list[float | None]:
    return [each.grade for each in JudgementFile(folder / "judgements.csv").read() if each.judge == judge]


def test_after_kill_9_every_answer_is_there_and_the_session_continues(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    done: list[float] = []
    for turn in range(4):
        process = start("--judge", "ann")
        process.read()
        assert grades(tmp_path) == done
        assert f"── {len(done) + 1} of 100 ──" in process.shown
        for n in range(3):
            process.answer(f"{(turn + n) % 4}\n")
            done.append(float((turn + n) % 4))
        if turn % 2:  # one more answer, whose fate the judge does not learn
            os.write(process.input, b"0\n")
            time.sleep(0.002 * turn)
        process.process.kill()
        process.wait()
        found = grades(tmp_path)
        assert found[: len(done)] == done
        assert found[len(done) :] in ([], [0.0])
        done = [grade for grade in found if grade is not None]
    assert pl.read_csv(tmp_path / "judgements.csv").height == len(done)


def test_an_undo_survives_kill_9(start: Callable[..., Process], tmp_path: Path) -> None:
    process = start("--judge", "ann")
    process.read()
    first = process.answer("3\n")
    again = process.answer("u\n")
    process.process.kill()
    process.wait()
    assert grades(tmp_path) == []
    assert "Taken back" in again
    resumed = start("--judge", "ann").read()
    assert "── 1 of 100 ──" in resumed
    assert "── 2 of 100 ──" in first


def test_ctrl_c_and_the_end_of_the_input_end_cleanly(start: Callable[..., Process], tmp_path: Path) -> None:
    process = start("--judge", "ann")
    process.read()
    process.answer("2\n")
    process.process.send_signal(signal.SIGINT)
    end = process.read("never")
    assert process.wait() == 130
    assert "1 item graded; saved in judgements.csv." in end
    assert "Traceback" not in process.shown
    second = start("--judge", "ann")
    second.read()
    second.answer("1\n")
    assert second.process.stdin is not None
    second.process.stdin.close()
    end = second.read("never")
    assert "2 items graded; saved in judgements.csv.\n" in end
    assert "\nThe same command continues." in end
    assert second.wait() == 0
    assert grades(tmp_path) == [2.0, 1.0]


def test_in_a_terminal_a_key_is_an_answer_and_the_terminal_is_left_as_it_was(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    texts = tmp_path / "texts.parquet"
    items = pl.read_csv(DEMO)["item"].unique()
    pl.DataFrame({"id": items, "text": ["\x1b[31mred\x1b[0m \x07 \x9b2J"] * len(items)}).write_parquet(texts)
    process = start("--judge", "Zoë", "--texts", texts, terminal=True)
    assert "── 1 of 100 ──" in process.read()
    assert "── 2 of 100 ──" in process.answer("2")
    os.write(process.input, b"\x1b[A\x1b[B")  # arrow keys
    assert "There is no answer 'é'" in process.answer("é")
    assert "Taken back" in process.answer("u")
    process.answer("31")  # typed ahead
    assert "── 3 of 100 ──" in process.read()
    os.write(process.input, b"\x04")
    assert "2 items graded" in process.read("model.json")
    assert process.wait() == 0
    assert grades(tmp_path, "Zoë") == [3.0, 1.0]
    assert set(re.findall("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f].{,3}", process.shown)) <= {"\x1b[1m", "\x1b[0m"}
    assert termios.tcgetattr(process.terminal)[:4] == process.before[:4]


def test_ctrl_c_in_a_terminal_leaves_it_as_it_was(start: Callable[..., Process], tmp_path: Path) -> None:
    process = start("--judge", "ann", terminal=True)
    process.read()
    process.answer("0")
    os.write(process.input, b"\x03")
    assert "1 item graded" in process.read("judgements.csv.")
    assert process.wait() == 130
    assert termios.tcgetattr(process.terminal)[:4] == process.before[:4]
    assert grades(tmp_path) == [0.0]


def test_two_judges_may_work_on_one_file_at_the_same_time(start: Callable[..., Process], tmp_path: Path) -> None:
    ann, ben = start("--judge", "ann"), start("--judge", "ben")
    ann.read()
    ben.read()
    for n in range(5):
        ann.answer(f"{n % 4}\n")
        ben.answer(f"{(n + 1) % 4}\n")
    for process in (ann, ben):
        os.write(process.input, b"q\n")
        process.read("model.json")
        assert process.wait() == 0
    assert grades(tmp_path, "ann") == [0.0, 1.0, 2.0, 3.0, 0.0]
    assert grades(tmp_path, "ben") == [1.0, 2.0, 3.0, 0.0, 1.0]
    assert "ann and ben: weighted κ" in ben.shown  # both began with the same plan
