"""The protocol of formats: what a format declares is what it does, and the rest is refused in the same words."""

import warnings
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError
from juryrank.io import FORMATS, read, write
from juryrank.io.format import Format
from juryrank.io.formats import has_known_ending
from juryrank.io.source import Source

DATA = from_dicts({"e": {"q": {"a": 2.0, "b": 1.0}}}, labels={"q": {"a": 1.0}})
CONSENSUS = Consensus(DATA.rankings, np.array([2.0, 1.0]))
everyone = pytest.mark.parametrize("name", FORMATS)


class Collected:
    """An open file that keeps its chunks."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def write(self, content: bytes, /) -> None:
        self.chunks.append(content)


@everyone
def test_a_format_is_known_by_its_name_and_its_endings(name: str) -> None:
    assert FORMATS[name].name == name
    assert all(has_known_ending(Path(f"a{ending}.gz")) for ending in FORMATS[name].endings)


def test_no_ending_belongs_to_two_formats() -> None:
    endings = [ending for known in FORMATS.values() for ending in known.endings]
    assert len(set(endings)) == len(endings)


@everyone
@pytest.mark.parametrize("option", ["columns", "values"])
def test_an_option_that_a_format_does_not_declare_is_refused(name: str, option: str) -> None:
    known = FORMATS[name]
    if option in known.options:
        return
    message = f"x.txt: {option}= does not apply to the format {name}"
    with pytest.raises(DataError, match=message):
        known.read(Source(Path("x.txt"), b"anything\n"), **{option: "x"})


@everyone
def test_a_frame_is_refused_by_formats_without_headers(name: str) -> None:
    frame = pl.DataFrame({"item": ["a"], "score": [1.0]})
    if name in ("table", "ratings"):
        assert FORMATS[name].read_frame(frame).entries is not None
        return
    refused = f"not as {name}|comparisons need a column|no columns? (of|for)|may be ranks"
    with pytest.raises(DataError, match=refused):
        FORMATS[name].read_frame(frame)


@everyone
def test_what_a_format_does_not_write_is_refused(name: str, tmp_path: Path) -> None:
    known = FORMATS[name]
    if Consensus in known.writes:
        assert b"".join(known.lines(CONSENSUS)).decode().count("\n") >= 2
        return
    message = f"a Consensus cannot be written as {name}; write a TREC run or a table instead"
    with pytest.raises(DataError, match=message):
        known.lines(CONSENSUS)
    with pytest.raises(DataError, match=message):
        write(CONSENSUS, tmp_path / "x", name)
    assert list(tmp_path.iterdir()) == []


@everyone
def test_options_of_a_consensus_are_refused_for_data_and_where_a_format_has_none(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="top: only a Consensus is cut and named"):
        write(DATA, tmp_path / "x", name, top=1)
    if Consensus in FORMATS[name].writes and "tag" not in FORMATS[name].write_options:
        with pytest.raises(DataError, match=f"tag= does not apply to the format {name}"):
            write(CONSENSUS, tmp_path / "x", name, tag="t")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "ending"), [("table", "csv"), ("trec-run", "run"), ("letor", "letor")])
def test_an_open_file_gets_the_bytes_of_a_file(name: str, ending: str, tmp_path: Path) -> None:
    out = Collected()
    write(DATA, out, name)
    write(DATA, tmp_path / f"x.{ending}", name)
    assert b"".join(out.chunks) == (tmp_path / f"x.{ending}").read_bytes()


@pytest.mark.parametrize("out", [StringIO(), None, 3])
def test_what_takes_no_bytes_is_refused(out: Any) -> None:
    with pytest.raises(DataError, match=f"an open binary file is needed to write to, got {type(out).__name__}"):
        write(DATA, out)


def test_one_file_for_all_experts_is_no_folder() -> None:
    with pytest.raises(DataError, match="the format table has one file for all experts"):
        FORMATS["table"].expert_files(DATA)


def test_a_new_format_is_one_class() -> None:
    """The example of the documentation: items in order, one per line, of one expert."""

    class Order(Format):
        name = "order"

        def sniff(self, source: Source) -> bool:
            return source.suffix == ".order"

        def _read(self, source: Source):  # type: ignore[no-untyped-def]
            from juryrank.io.rows import Rows

            items = source.lines()["text"]
            frame = pl.DataFrame({"query": "all", "item": items, "expert": source.stem})
            return Rows(name=str(source.path), entries=frame.with_columns(rank=pl.int_range(1.0, len(items) + 1.0)))

        def _lines(self, data: Dataset, file_name: str):  # type: ignore[no-untyped-def]
            yield from (f"{item}\n".encode() for item in data.rankings.items)

    rows = Order().read(Source(Path("mine.order"), b"b\na\n"))
    assert rows.build().experts == ("mine",)
    assert b"".join(Order().lines(DATA)) == b"a\nb\n"
    with pytest.raises(DataError, match="columns= does not apply to the format order"):
        Order().read(Source(Path("mine.order"), b"b\na\n"), columns={})


@pytest.mark.parametrize(
    "text",
    ["left,right,winner\na,b,a\na,a,a\n", "item,x,y\na,1.5,2\nb,2,1\n", "item,expert,rank,odd\na,e,1,p\nb,e,2,q\n"],
)
def test_a_warning_points_at_the_line_that_reads(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        juryrank.read(tmp_path / "x.csv")
        read(tmp_path / "x.csv")
    assert [warning.filename for warning in caught] == [__file__] * 2


def test_a_warning_points_at_the_line_that_writes(tmp_path: Path) -> None:
    data = read(pl.DataFrame({"item": ["a", "b"], "expert": ["e", None], "rank": [1, None]}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write(data, tmp_path / "x.run")
        write(data, tmp_path / "runs")
    assert [warning.filename for warning in caught] == [__file__] * 2
