import gzip
import os
from pathlib import Path

import pytest

from juryrank.errors import DataError
from juryrank.readers.atomic import save


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    save(tmp_path / "a.txt", b"one\n")
    save(tmp_path / "a.txt", b"two\n")
    assert (tmp_path / "a.txt").read_bytes() == b"two\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    save(path, b"old\n")

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DataError, match=r"a\.txt: cannot be written: No space left on device"):
        save(path, b"new\n")
    assert path.read_bytes() == b"old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_equal_content_gives_equal_compressed_files(tmp_path: Path) -> None:
    save(tmp_path / "a.gz", b"text\n")
    save(tmp_path / "b.gz", b"text\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text\n"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    save(tmp_path / "a.txt", b"x")
    (tmp_path / "plain").write_bytes(b"x")
    assert os.stat(tmp_path / "a.txt").st_mode == os.stat(tmp_path / "plain").st_mode


def test_a_device_is_never_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="only a file can be written"):
        save(tmp_path / "pipe", b"x")
    assert not (tmp_path / "pipe").is_file()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    save(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"
