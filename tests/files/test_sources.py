"""Files that are not there, not whole or not text."""

import gzip
import os
from pathlib import Path
from threading import Thread

import polars as pl
import pytest

from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning, UnknownNameError
from juryrank.io import read, write

from .sameness import assert_same


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.txt: cannot be read: No such file or directory"):
        read(tmp_path / "nowhere.txt")


def test_a_folder_without_files_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with pytest.raises(DataError, match="runs: the folder has no files to read"):
        read(tmp_path / "runs")


def test_small_and_large_and_packed_files_are_read_together(tmp_path: Path) -> None:
    def run(n: int, tag: str) -> str:
        return "".join(f"{q} Q0 d{i} {i} {-i} {tag}\n" for q in range(n) for i in range(9))

    small, large = run(2, "a"), run(9_000, "b")
    (tmp_path / "a.run").write_text(small)
    (tmp_path / "b.run").write_text(large)
    (tmp_path / "c.run.gz").write_bytes(gzip.compress(small.replace(" a\n", " c\n").encode()))
    together = read([tmp_path / name for name in ("a.run", "b.run", "c.run.gz")])
    assert together.experts == ("a", "b", "c")
    assert together.rankings.n_entries == 9 * (2 + 9_000 + 2)
    for missing in ("0.run", "d.run"):
        with pytest.raises(DataError, match=f"{missing}: cannot be read: No such file"):
            read([tmp_path / name for name in ("a.run", "b.run", missing)])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on Unix only")
def test_two_pipes_are_read_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURYRANK_THREADS", "2")
    pipes = [tmp_path / "a.run", tmp_path / "b.run"]
    for pipe in pipes:
        os.mkfifo(pipe)
    found: list[Dataset] = []
    reader = Thread(target=lambda: found.append(read(pipes)), daemon=True)
    reader.start()
    with pipes[1].open("w") as second, pipes[0].open("w") as first:  # blocks unless both are open for reading
        first.write("1 Q0 x 1 9 a\n")
        second.write("1 Q0 x 1 9 b\n")
    reader.join(60)
    assert found[0].experts == ("a", "b")


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.run").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.run: the file is empty"):
        read(tmp_path / "a.run")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 Q0 a 1 9 t\n1 Q0 \0 2 8 t\n", "a.run:2: not a text file: it has a NUL byte"),
        (b"1 Q0 a 1 9 t\n1 Q0 na\xefve 2 8 t\n", "a.run:2: not UTF-8: byte 0xef"),
        ("1 Q0 a 1 9 t\n".encode("utf-16"), "a.run: the text is UTF-16; save it as UTF-8"),
        (gzip.compress(b"1 Q0 a 1 9 t\n" * 1000, mtime=0)[:-20], "a.run: the compressed file is damaged or cut short"),
        (b"\x1f\x8b\x08garbage", "a.run: the compressed file is damaged or cut short"),
        (b"\x28\xb5\x2f\xfdgarbage", "a.run: the compressed file is damaged or cut short"),
        (b"PAR1 and no more", "a.run: the Parquet file is damaged"),
        (b'[{"item": "a"}]\n', "a.run:1: expected one JSON object per line"),
        (b"what is this?\n", "a.run:1: expected one of the formats preflib, letor"),
    ],
)
def test_damage_is_one_clear_error(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.run").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(tmp_path / "a.run")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["ranks.letor.txt", "bm25.run", "table.csv", "votes.toi", "u.data", "comparisons.csv"])
def test_compression_byte_order_marks_and_line_ends_change_nothing(samples: Path, tmp_path: Path, name: str) -> None:
    plain = (samples / name).read_bytes()
    (tmp_path / "packed").mkdir()
    packed = tmp_path / "packed" / f"{name}.gz"
    packed.write_bytes(gzip.compress(plain))
    marked = tmp_path / name
    marked.write_bytes(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
    for path in (packed, marked):
        assert_same(read(path), read(samples / name))


def test_zstandard_is_read_and_written(samples: Path, tmp_path: Path) -> None:
    data = read(samples / "ranks.letor.txt")
    write(data, tmp_path / "a.letor.zst")
    assert (tmp_path / "a.letor.zst").read_bytes().startswith(b"\x28\xb5\x2f\xfd")
    assert_same(read(tmp_path / "a.letor.zst"), data)


def test_the_format_is_found_in_the_content_not_in_the_ending(samples: Path, tmp_path: Path) -> None:
    for name in ("ranks.letor.txt", "features.letor.txt", "dense.run", "small.qrels", "votes.toi", "u.data"):
        path = tmp_path / f"{name.partition('.')[0]}.dat"
        path.write_bytes((samples / name).read_bytes())
        assert_same(read(path), read(samples / name))


def test_an_unknown_format_is_named_with_the_nearest(samples: Path) -> None:
    with pytest.raises(UnknownNameError, match="no format 'trec'; did you mean 'trec-run'"):
        read(samples / "bm25.run", format="trec")


@pytest.mark.parametrize("source", [7, [], [1, 2], None])
def test_what_read_does_not_take_is_an_error(source: object) -> None:
    with pytest.raises(DataError, match="read takes a path, an open file, a list of them, a dataframe, a dict, a ranx"):
        read(source)


def test_a_frame_cannot_be_forced_into_a_text_format() -> None:
    with pytest.raises(DataError, match="is read as a table or as comparisons, not as trec-run"):
        read(pl.DataFrame({"item": ["a"]}), format="trec-run")


def test_labels_that_are_no_labels_are_an_error(samples: Path) -> None:
    with pytest.raises(DataError, match=r"dense\.run: no labels: the file looks like trec-run, not like qrels"):
        read(samples / "bm25.run", labels=samples / "dense.run")
    with pytest.raises(DataError, match="labels must be"):
        read(samples / "bm25.run", labels={"q1": ["d1"]})
    with pytest.raises(DataError, match="has no features"):
        read(samples / "bm25.run", features=read(samples / "dense.run"))


def test_the_same_warning_about_several_files_is_one_with_their_number(tmp_path: Path) -> None:
    table = "item,alpha,beta\nx,0.1,0.3\ny,0.7,0.6\n"
    paths = [tmp_path / f"{name}.csv" for name in "abcd"]
    for path in paths:
        path.write_text(table)
    paths[3].write_text(table.replace("alpha", "gamma"))
    with pytest.warns(DataWarning) as said:
        read(paths)
    texts = [str(warning.message) for warning in said if "one column per expert" in str(warning.message)]
    assert len(texts) == 2
    assert texts[0].startswith(f"3 files ({paths[0]}, {paths[1]} and 1 more): read as one column per expert ('alpha'")
    assert texts[1].startswith(f"{paths[3]}: read as one column per expert ('gamma'")
    assert {warning.filename for warning in said} == {__file__}
