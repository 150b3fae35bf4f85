"""However a file is damaged, reading it gives a Dataset or one clear error."""

import gzip
import os
import random
import warnings
from pathlib import Path

import polars as pl
import pytest

from juryrank.data import Dataset
from juryrank.errors import DataWarning, JuryrankError
from juryrank.io import FORMATS, read
from juryrank.io.files import load
from juryrank.io.formats import format_of

from .conftest import SAMPLES

TIMES = int(os.environ.get("JURYRANK_TEXT", "50"))  # how often each file is damaged
FILES = sorted(path.name for path in SAMPLES.iterdir())
STRANGE = [
    b"", b" ", b"\t", b"\n", b"\r", b",", b":", b"::", b"#", b'"', b"'", b"\\", b"{", b"}", b"\0", b"\xff", b"\xc3\xa9",
    b"\xef\xbb\xbf", b"NULL", b"nan", b"inf", b"-1", b"0", b"-0.0", b"1.5", b"1e999", b"9" * 23, b"qid:", b"x" * 500,
]  # fmt: skip


def flip(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] = rng.randrange(256)


def insert(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(STRANGE) * rng.choice((1, 1, 1, 3))


def delete(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 1, 5, 50))]


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def repeat(data: bytearray, rng: random.Random) -> None:
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    data[:] = b"\n".join(lines)


def swap_words(data: bytearray, rng: random.Random) -> None:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    separator = rng.choice([s for s in (b" ", b"\t", b",", b":") if s in data])
    words = lines[at].split(separator)
    rng.shuffle(words)
    lines[at] = bytearray(separator.join(words))
    data[:] = b"\n".join(lines)


def replace_word(data: bytearray, rng: random.Random) -> None:
    separator = rng.choice([s for s in (b" ", b"\t", b",", b":") if s in data])
    words = data.split(separator)
    words[rng.randrange(len(words))] = bytearray(rng.choice(STRANGE))
    data[:] = separator.join(words)


def change_every_line(data: bytearray, rng: random.Random) -> None:
    old, new = rng.choice([b" ", b"\t", b",", b":", b"1", b"\n"]), rng.choice(STRANGE)
    data[:] = data.replace(old, new)


DAMAGES = [flip, insert, delete, cut, repeat, swap_words, replace_word, change_every_line]


def damaged(whole: bytes, rng: random.Random) -> bytes:
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if any(separator in data for separator in b" \t,:"):
            rng.choice(DAMAGES)(data, rng)
    return bytes(data)


def outcome(path: Path, format: str | None) -> str:  # noqa: A002
    """What comes of reading a file: the kind of a Dataset, or the message of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            data = read(path, format=format)
        except JuryrankError as error:
            return str(error)
    assert isinstance(data, Dataset)
    assert data.rankings.entry_ptr[-1] == data.rankings.n_entries
    return "Dataset"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("forced", [False, True], ids=["sniffed", "forced"])
def test_damaged_text_gives_a_dataset_or_an_error_that_names_the_file(name: str, forced: bool, tmp_path: Path) -> None:
    whole = (SAMPLES / name).read_bytes()
    own = next(n for n, module in FORMATS.items() if module is format_of(load(SAMPLES / name)))
    rng = random.Random(name)
    path = tmp_path / name
    seen = set()
    for n in range(TIMES):
        path.write_bytes(damaged(whole, rng))
        seen.add(told := outcome(path, own if forced else None))
        assert told == "Dataset" or str(path) in told, f"damage {n}: {told}"
    assert len(seen) > 1
    assert "Dataset" in seen


@pytest.mark.parametrize("name", FILES)
def test_damaged_gzip_gives_a_dataset_or_one_error(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    packed = gzip.compress((SAMPLES / name).read_bytes(), mtime=0)
    path = tmp_path / f"{name}.gz"
    told = set()
    for _ in range(TIMES // 5):
        data = bytearray(packed)
        rng.choice((flip, delete, cut, insert))(data, rng)
        path.write_bytes(data)
        told.add(outcome(path, None))
    assert any("damaged or cut short" in message for message in told)


@pytest.mark.parametrize("format", sorted(FORMATS))
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_one_format_forced_into_another_gives_a_dataset_or_an_error(name: str, format: str) -> None:  # noqa: A002
    told = outcome(SAMPLES / name, format)
    assert told == "Dataset" or str(SAMPLES / name) in told


def test_damaged_parquet_gives_a_dataset_or_one_error(tmp_path: Path) -> None:
    rng = random.Random(0)
    whole = tmp_path / "whole.parquet"
    pl.read_csv(SAMPLES / "table.csv", infer_schema=False).write_parquet(whole)
    path = tmp_path / "a.parquet"
    told = set()
    for _ in range(TIMES):
        data = bytearray(whole.read_bytes())
        rng.choice((flip, delete, cut, insert))(data, rng)
        path.write_bytes(data)
        told.add(outcome(path, None))
    assert "Dataset" in told
    assert len(told) > 1
