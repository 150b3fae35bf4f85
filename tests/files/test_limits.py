"""What is read has an end: bombs, devices, endless pipes and lines are errors that name the limit."""

import gzip
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from juryrank.errors import DataError, ParameterError
from juryrank.io import read
from juryrank.io.limits import size_of, zstd_size

LINE = b"q Q0 d%d 1 %d x\n"
RAISE = "JURYRANK_MAX_SIZE="


def run_of(n: int) -> bytes:
    return b"".join(LINE % (i, n - i) for i in range(n))


def zstd(data: bytes) -> bytes:
    out = io.BytesIO()
    lines = pl.DataFrame({"line": data.decode().removesuffix("\n").split("\n")})
    lines.write_csv(out, include_header=False, quote_style="never", compression="zstd")
    return out.getvalue()


def parquet(n: int) -> bytes:
    out = io.BytesIO()
    pl.select(query=pl.lit("q").repeat_by(n).explode(), item=pl.int_range(n), score=pl.int_range(n)).write_parquet(out)
    return out.getvalue()


def halves(lines: bytes) -> tuple[bytes, bytes]:
    cut = lines.index(b"\n", len(lines) // 2) + 1
    return lines[:cut], lines[cut:]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setenv("JURYRANK_MAX_SIZE", text)


KINDS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("x.run", bytes),
    "gzip": ("x.run.gz", gzip.compress),
    "gzip in parts": ("x.run.gz", lambda data: gzip.compress(data[:5000]) + gzip.compress(data[5000:])),
    "zstd": ("x.run.zst", zstd),
    "zstd in parts": ("x.run.zst", lambda data: b"".join(zstd(part) for part in halves(data))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_more_than_the_limit_is_an_error_and_less_is_read(
    kind: str, tmp_path: Path, limit: Callable[[str], None]
) -> None:
    name, pack = KINDS[kind]
    (tmp_path / name).write_bytes(pack(run_of(40_000)))
    limit("500KB")
    with pytest.raises(DataError, match=rf"{name}: more than 500 KB .*{RAISE}2MB"):
        read(tmp_path / name)
    limit("2MB")
    assert read(tmp_path / name).rankings.n_entries == 40_000


def test_a_parquet_file_is_measured_by_its_cells(tmp_path: Path, limit: Callable[[str], None]) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet(10_000))
    assert read(path).rankings.n_entries == 10_000
    limit("200KB")
    with pytest.raises(DataError, match=rf"x.parquet: more than 200 KB .*{RAISE}"):
        read(path)


def test_a_file_without_content_on_disk_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    with path.open("wb") as file:
        file.truncate(10**13)
    with pytest.raises(DataError, match=RAISE):
        read(path)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends_is_an_error(device: str) -> None:
    with pytest.raises(DataError, match="not a text file: it has a NUL byte"):
        read(device)


def test_a_pipe_that_never_ends_is_an_error_at_the_limit(tmp_path: Path, limit: Callable[[str], None]) -> None:
    limit("1MB")
    path, written = tmp_path / "pipe", []
    os.mkfifo(path)

    def write() -> None:
        try:
            with path.open("wb", buffering=0) as pipe:
                while True:
                    written.append(pipe.write(run_of(1000)))
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=write)
    thread.start()
    with pytest.raises(DataError, match=f"pipe: more than 1 MB .*{RAISE}"):
        read(path)
    thread.join()
    assert sum(written) < 10**8


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_line_is_an_error_that_names_it(kind: str, tmp_path: Path, limit: Callable[[str], None]) -> None:
    name, pack = KINDS[kind]
    limit("640KB")
    for size, wrong in ((9_000, False), (10_100, True), (25_000, True)):
        long = b"q Q0 %s 1 1 x\n" % (b"d" * size)
        (tmp_path / name).write_bytes(pack(run_of(700) + long + run_of(0)))
        if wrong:
            with pytest.raises(DataError, match=rf"{name}:701: a line of more than 10 KB.*{RAISE}"):
                read(tmp_path / name)
        else:
            assert read(tmp_path / name).rankings.n_entries == 701


@pytest.mark.parametrize("open_as", ["rb", "r"])
def test_an_open_file_has_the_same_limit(open_as: str, tmp_path: Path, limit: Callable[[str], None]) -> None:
    limit("500KB")
    (tmp_path / "x.run").write_bytes(run_of(40_000))
    with (tmp_path / "x.run").open(open_as) as file, pytest.raises(DataError, match=RAISE):
        read(file)


@pytest.mark.parametrize("text", ["none", "-1GB", "inf", "nan", "0", "5 XB"])
def test_a_limit_that_is_no_size_is_refused(text: str, tmp_path: Path, limit: Callable[[str], None]) -> None:
    limit(text)
    (tmp_path / "x.run").write_bytes(run_of(3))
    with pytest.raises(ParameterError, match=r"JURYRANK_MAX_SIZE: .*size"):
        read(tmp_path / "x.run")


def test_sizes() -> None:
    assert [size_of(text) for text in ("1", "1 kb", "0.5MB", "3GiB", "7b")] == [1, 1000, 500_000, 3 * 2**30, 7]


def test_zstd_data_never_unpacks_to_more_than_its_blocks_say() -> None:
    for n in (1, 100, 30_000, 300_000):
        text = run_of(n)
        assert len(text) <= zstd_size(zstd(text)) <= len(text) + 2 * 2**17


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak of memory")
def test_memory_stays_near_the_limit_when_a_bomb_is_read(tmp_path: Path) -> None:
    """600 MB in a file of less than a megabyte, with a limit of 20 MB."""
    with gzip.open(tmp_path / "x.run.gz", "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(LINE % (1, 1) * 140_000)
    program = (
        "import sys, juryrank\n"
        "try:\n    juryrank.read(sys.argv[1])\n"
        "except juryrank.errors.DataError as error:\n    assert 'MAX_SIZE' in str(error)\n"
        "else:\n    raise SystemExit('read')\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    environment = {**os.environ, "JURYRANK_MAX_SIZE": "20MB"}
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "x.run.gz"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 350_000  # KB, most of them the program
