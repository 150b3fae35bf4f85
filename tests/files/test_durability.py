"""What is said to be saved is on the disk: files and the names of new ones are flushed, and appended rows locked."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from juryrank.io.files import save_all, save_interleaved
from juryrank.tasks.judge.judgements import Judgement
from juryrank.tasks.judge.store import JudgementFile

Event = tuple[str, int, int]  # what happened to which file or folder, and its size then


class Disk:
    """Which files and folders were flushed when, as the system sees them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.while_flushing: Callable[[], None] = lambda: None

    def flushed(self, path: Path) -> Event:
        """The event that a file or folder, as it now is, was flushed."""
        found = path.stat()
        return "flushed", found.st_ino, 0 if path.is_dir() else found.st_size

    def replaced(self, path: Path) -> Event:
        return "replaced", path.stat().st_ino, path.stat().st_size

    def has_in_order(self, *expected: Event) -> None:
        places = [self.events.index(each) for each in expected if each in self.events]
        assert len(places) == len(expected), (expected, self.events)
        assert places == sorted(places), (expected, self.events)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk()
    replace = os.replace

    def flush(call: Callable[[int], None]) -> Callable[[int], None]:
        def recorded(descriptor: int) -> None:
            call(descriptor)
            found = os.fstat(descriptor)
            made.events.append(("flushed", found.st_ino, 0 if stat.S_ISDIR(found.st_mode) else found.st_size))
            made.while_flushing()

        return recorded

    def recorded_replace(source: Path, target: Path) -> None:
        replace(source, target)
        made.events.append(made.replaced(Path(target)))

    for name in ("fsync", "fdatasync"):
        if hasattr(os, name):
            monkeypatch.setattr(os, name, flush(getattr(os, name)))
    monkeypatch.setattr(os, "replace", recorded_replace)
    return made


def in_order(contents: dict[Path, list[bytes]]) -> None:
    save_all(contents)


def interleaved(contents: dict[Path, list[bytes]]) -> None:
    save_interleaved(list(contents), [(path, chunk) for path, chunks in contents.items() for chunk in chunks])


@pytest.mark.parametrize("save", [in_order, interleaved])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_files_are_flushed_before_they_replace_others_and_folders_after(disk, tmp_path, save, ending) -> None:
    paths = [tmp_path / folder / f"{name}{ending}" for folder, name in (("x", "one"), ("x", "two"), ("y", "three"))]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old")
    save({path: [b"new ", f"content of {path.name}\n".encode()] for path in paths})
    for path in paths:
        disk.has_in_order(disk.flushed(path), disk.replaced(path), disk.flushed(path.parent))
        for other in paths:  # all are complete before the first replaces its target
            disk.has_in_order(disk.flushed(other), disk.replaced(path))


def row(item: str) -> Judgement:
    return Judgement("q", item, "ann", 1.0)


def test_an_answer_is_on_the_disk_when_it_is_saved(disk, tmp_path) -> None:
    file = JudgementFile(tmp_path / "judgements.csv")
    for item in ("a", "b"):
        disk.events.clear()
        file.append(row(item))
        disk.has_in_order(disk.flushed(file.path))
        if item == "a":  # the file is new, and so is its name in the folder
            disk.has_in_order(disk.flushed(file.path), disk.flushed(tmp_path))


def test_a_row_is_appended_under_a_lock_that_no_other_session_can_have(disk, tmp_path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows has no such locks")
    file = JudgementFile(tmp_path / "judgements.csv")
    refused: list[int] = []

    def ask_for_lock() -> None:
        for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
            with file.path.open("rb") as other:
                try:
                    fcntl.flock(other, kind | fcntl.LOCK_NB)
                except BlockingIOError:
                    refused.append(kind)

    disk.while_flushing = ask_for_lock
    file.append(row("a"))
    file.append(row("b"))
    # The third time is of the folder of the new file, after the lock.
    assert refused == [fcntl.LOCK_EX, fcntl.LOCK_SH] * 2
    refused.clear()
    ask_for_lock()
    assert refused == []


def test_a_session_reads_the_file_only_once_it_has_the_lock(monkeypatch, tmp_path) -> None:
    """While this one waits, another one appends the first rows of the file."""
    fcntl = pytest.importorskip("fcntl", reason="Windows has no such locks")
    file, others = JudgementFile(tmp_path / "judgements.csv"), JudgementFile(tmp_path / "others.csv")
    others.append(row("a"))
    lock = fcntl.flock

    def wait_for_lock(opened: int, kind: int) -> None:
        if kind == fcntl.LOCK_EX:
            file.path.write_bytes(others.path.read_bytes())
        lock(opened, kind)

    monkeypatch.setattr(fcntl, "flock", wait_for_lock)
    file.append(row("b"))
    assert [each.item for each in file.read()] == ["a", "b"]
    assert file.path.read_text().count("query") == 1
