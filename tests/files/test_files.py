"""A file is replaced whole or not at all, whoever else writes to the folder and whenever the process ends."""

import gzip
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import juryrank
from juryrank.errors import DataError
from juryrank.io.files import deliver, save, save_all


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Larger files cannot be written while this lasts, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    save(tmp_path / "a.txt", b"one\n")
    save(tmp_path / "a.txt", b"two\n")
    assert (tmp_path / "a.txt").read_bytes() == b"two\n"
    assert names_in(tmp_path) == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    save(path, b"old\n")
    with files_of_at_most(1000), pytest.raises(DataError, match=r"a\.txt: cannot be written: File too large"):
        save(path, bytes(100_000))
    assert path.read_bytes() == b"old\n"
    assert names_in(tmp_path) == ["a.txt"]


def test_a_failure_of_one_file_leaves_all_others_as_they_were(tmp_path: Path) -> None:
    save(tmp_path / "a", b"old")
    with files_of_at_most(1000), pytest.raises(DataError, match="b: cannot be written: File too large"):
        save_all({tmp_path / "a": [b"new"], tmp_path / "b": [bytes(100_000)]})
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names_in(tmp_path) == ["a"]


def test_an_error_between_two_pieces_leaves_the_old_file_and_keeps_its_own_words(tmp_path: Path) -> None:
    save(tmp_path / "a", b"old")

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        deliver(chunks(), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names_in(tmp_path) == ["a"]


def test_equal_content_gives_equal_compressed_files(tmp_path: Path) -> None:
    save(tmp_path / "a.gz", b"text\n")
    save(tmp_path / "b.gz", b"text\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text\n"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    save(tmp_path / "a.txt", b"x")
    (tmp_path / "plain").write_bytes(b"x")
    assert mode_of(tmp_path / "a.txt") == mode_of(tmp_path / "plain")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755, 0o400])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "model.json"
    path.touch()
    path.chmod(mode)
    model = juryrank.method("rrf").fit(juryrank.read("src/juryrank/demo/cooking.csv"))
    juryrank.save(model, path)
    assert mode_of(path) == mode
    assert juryrank.load(path).name == "rrf"


def test_nobody_else_can_read_a_private_file_while_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o600)

    def chunks() -> Iterator[bytes]:
        yield b"secret"
        assert [mode_of(path) for path in tmp_path.iterdir()] == [0o600, 0o600]

    deliver(chunks(), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"secret"


def test_a_device_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="only a file can be written"):
        save(tmp_path / "pipe", b"x")
    with pytest.raises(DataError, match="only a file can be written"):
        deliver(iter([b"x"]), tmp_path / "pipe")
    assert not (tmp_path / "pipe").is_file()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    save(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"


def test_a_link_that_leads_in_circles_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(DataError, match="a: cannot be written"):
        save(tmp_path / "a", b"x")


def test_links_that_others_planted_under_likely_names_are_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    planted = [f".a.{os.getpid()}.tmp", f"a.{os.getpid()}.tmp", ".a.tmp", "a.tmp", "a~", ".a.part"]
    for name in planted:
        (folder / name).symlink_to(victim)
    save(folder / "a", b"new")
    assert victim.read_bytes() == b"precious"
    assert (folder / "a").read_bytes() == b"new"
    assert names_in(folder) == sorted([*planted, "a"])


def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path: Path) -> None:
    name = "n" * 255
    save(tmp_path / name, b"x")
    assert names_in(tmp_path) == [name]


def test_threads_that_save_under_one_name_damage_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    contents = [bytes([65 + n]) * (20_000 + 7 * n) for n in range(4)]

    def write_often(content: bytes) -> int:
        whole = 0
        for _ in range(150):
            save(path, content)
            whole += path.read_bytes() in contents
        return whole

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(write_often, contents)) == 600
    assert names_in(tmp_path) == ["a.json"]


KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from juryrank.io.files import save

path, delays, seen = Path(sys.argv[1]), random.Random(1), set()
for kill in range(60):
    child = os.fork()
    if not child:
        n = 100 * kill
        while True:
            n += 1
            save(path, (b"%08d" % n) * 40_000)
    time.sleep(delays.uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    content = path.read_bytes()
    assert content == content[:8] * 40_000, (kill, len(content))
    seen.add(content[:8])
print(len(seen))
"""


def test_a_killed_process_leaves_the_old_content_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "a"
    save(path, b"00000000" * 40_000)
    done = subprocess.run([sys.executable, "-c", KILLER, str(path)], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert int(done.stdout) > 10  # it was killed at different times
    left = set(names_in(tmp_path)) - {"a"}
    assert all(name.startswith(".a.") and name.endswith(".tmp") for name in left)
