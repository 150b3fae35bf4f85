"""Folders with more than data, open files, and names of files as other names of experts."""

import io
from pathlib import Path

import pytest

from juryrank import method
from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning
from juryrank.io import read
from juryrank.tasks.files.rank_files import rank_files

from .sameness import assert_same

EVAL = "runid                 \tall\tbm25\nmap                   \tall\t0.2500\n"
PER_QUERY = "num_ret               \t301\t1000\nmap                   \t301\t0.2500\n"


@pytest.fixture
def runs(tmp_path: Path, samples: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("bm25.run", "dense.run"):
        (folder / name).write_bytes((samples / name).read_bytes())
    return folder


def test_files_of_a_folder_that_are_no_data_are_left_out_and_named(runs: Path, tmp_path: Path) -> None:
    plain = read(runs)
    rank_files([runs], method("rrf"), tmp_path / "plain.run", memory=10**6)
    others = {
        "bm25.run.eval": EVAL.encode(),
        "dense.run.eval": PER_QUERY.encode(),
        "README.md": b"# Runs\n\nof two systems\n",
        "config.json": b'{\n  "k": 60\n}\n',
        "plot.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    }
    for name, content in others.items():
        (runs / name).write_bytes(content)
    message = "runs: 5 files are not data, skipped: README.md, bm25.run.eval, config.json, dense.run.eval, plot.png"
    with pytest.warns(DataWarning, match=message):
        assert_same(read(runs), plain)
    with pytest.warns(DataWarning, match=message):
        rank_files([runs], method("rrf"), tmp_path / "some.run", memory=10**6)
    assert (tmp_path / "some.run").read_bytes() == (tmp_path / "plain.run").read_bytes()


@pytest.mark.parametrize("name", ["bm25.run.eval", "notes.md"])
def test_a_file_that_is_no_data_is_an_error_where_it_is_named(runs: Path, name: str) -> None:
    (runs / name).write_text(EVAL)
    with pytest.raises(DataError, match="expected one of the formats"):
        read([runs / "bm25.run", runs / name])


def test_a_damaged_run_is_not_left_out(runs: Path) -> None:
    (runs / "third.run").write_text("what is this?\n")
    with pytest.raises(DataError, match=r"third\.run:1: expected one of the formats"):
        read(runs)


def test_a_folder_without_data_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here\n")
    with pytest.raises(DataError, match=r"README\.md:1: expected one of the formats"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["bm25.run", "table.csv", "table.ndjson", "votes.toi"])
def test_an_open_file_is_read_as_the_file(samples: Path, name: str) -> None:
    with (samples / name).open("rb") as file:
        assert_same(read(file), read(samples / name))
    assert_same(read(io.StringIO((samples / name).read_text())), read(samples / name))


def long_run(tag: str, n: int) -> str:
    return "".join(f"q{q} Q0 d{i} {i + 1} {n - i} {tag}\n" for q in range(3) for i in range(n))


@pytest.mark.parametrize("n", [2, 8000])
def test_names_of_files_are_aliases_of_the_tags_inside(tmp_path: Path, n: int) -> None:
    names = {"bm25": "run-17", "dense": "run-18", "run-19": "dense2", "dense2": "run-19"}
    paths = [tmp_path / f"{stem}.run" for stem in names]
    for path, tag in zip(paths, names.values(), strict=True):
        path.write_text(long_run(tag, n))
    assert dict(read(paths).aliases) == {"bm25": "run-17", "dense": "run-18"}  # the others are experts themselves


def test_a_file_with_two_experts_is_no_alias(tmp_path: Path) -> None:
    (tmp_path / "both.run").write_text(long_run("x", 2) + long_run("y", 2))
    assert dict(read(tmp_path / "both.run").aliases) == {}


def test_aliases_stay_with_some_of_the_queries(runs: Path) -> None:
    (runs / "bm25.run").rename(runs / "words.run")
    data: Dataset = read(runs)
    assert dict(data.aliases) == {"words": "bm25"}
    assert dict(data[[0]].aliases) == {"words": "bm25"}


def test_names_in_any_script_do_not_hinder_aliases_of_streamed_runs(tmp_path: Path) -> None:
    path = tmp_path / "words.run"
    path.write_text(
        "".join(f"q{q} Q0 блины{'é' * (i % 7)}{i} {i + 1} {300 - i} läufer\n" for q in range(3) for i in range(300))
    )
    rank_files([path], method("rrf", weights={"words": 2}), tmp_path / "parts.run", memory=10**6)
    first = (tmp_path / "parts.run").read_text().split()
    assert float(first[4]) == pytest.approx(2 / 61)
