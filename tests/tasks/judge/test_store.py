"""The judgement file: what is saved is there, also after a kill, an editor, or another session."""

import csv
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from juryrank.errors import DataError, DataWarning
from juryrank.tasks.judge.judgements import Judgement, labels_of
from juryrank.tasks.judge.store import JudgementFile, judgements_of

APPEND = """
import sys
from pathlib import Path
from juryrank.tasks.judge.store import Judgement, JudgementFile
file = JudgementFile(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    file.append(Judgement("q", f"item {n}", sys.argv[2], float(n % 4)))
"""


@pytest.fixture
def file(tmp_path: Path) -> JudgementFile:
    return JudgementFile(tmp_path / "judgements.csv")


def graded(file: JudgementFile) -> list[tuple[str, str, str, float | None]]:
    return [(each.query, each.item, each.judge, each.grade) for each in file.read()]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_names_come_back_as_they_were(tmp_path: Path, ending: str) -> None:
    file = JudgementFile(tmp_path / f"judgements{ending}")
    names = [
        "plain",
        "with, comma",
        'a "quoted" one',
        "ünïcode 漢字 🍲",
        "=1+1",
        "-x",
        "'=1+1",
        "'tis",
        "-1.5",
        "tab\there",
        "two\nlines",
        "\x1b[31mred",
        "0",
    ]
    for name in names:
        file.append(Judgement(name, f"{name}!", "Zoë O'Neil", 2.0))
        file.append(Judgement(name, name, "ben", 0.5))
    expected = [row for name in names for row in ((name, f"{name}!", "Zoë O'Neil", 2.0), (name, name, "ben", 0.5))]
    assert graded(file) == expected


def test_the_last_row_of_a_judge_counts_and_each_judge_has_own_ones(file: JudgementFile) -> None:
    file.append(Judgement("q", "a", "ann", 1.0))
    file.append(Judgement("q", "a", "ben", 3.0))
    file.append(Judgement("q", "b", "ann", None, "skipped"))
    file.append(Judgement("q", "a", "ann", 2.0))
    assert graded(file) == [("q", "a", "ben", 3.0), ("q", "b", "ann", None), ("q", "a", "ann", 2.0)]


def test_an_answer_that_is_taken_back_is_gone_and_the_row_that_says_so_stays(file: JudgementFile) -> None:
    file.append(Judgement("q", "a", "ann", 1.0))
    file.append(Judgement("q", "b", "ann", 0.0))
    file.take_back(file.read()[-1])
    assert graded(file) == [("q", "a", "ann", 1.0)]
    assert [line.split(",")[:5] for line in file.path.read_text().splitlines()[1:]] == [
        ["q", "a", "ann", "1", ""], ["q", "b", "ann", "0", ""], ["q", "b", "ann", "", "undone"],
    ]  # fmt: skip


def test_a_row_cut_anywhere_is_dropped_with_a_warning_and_the_next_answer_follows(tmp_path: Path) -> None:
    whole = JudgementFile(tmp_path / "whole.csv")
    whole.append(Judgement("q", "a", "ann", 1.0))
    size = whole.path.stat().st_size
    whole.append(Judgement('q "two"', "line\nfeed, b", "ann", 3.0))
    content = whole.path.read_bytes()
    for cut in range(size + 1, len(content) - 1):
        file = JudgementFile(tmp_path / f"{cut}.csv")
        file.path.write_bytes(content[:cut])
        assert graded(file) == [("q", "a", "ann", 1.0)]
        with pytest.warns(DataWarning, match="the last row is incomplete, it was dropped"):
            file.append(Judgement("q", "c", "ann", 2.0))
        assert graded(file) == [("q", "a", "ann", 1.0), ("q", "c", "ann", 2.0)]


def test_a_header_cut_anywhere_is_written_again(tmp_path: Path) -> None:
    header = b"query,item,judge,grade,note,time"
    for cut in range(1, len(header) + 1):
        file = JudgementFile(tmp_path / f"{cut}.csv")
        file.path.write_bytes(header[:cut])
        with pytest.warns(DataWarning, match="incomplete"):
            file.append(Judgement("q", "a", "ann", 2.0))
        assert file.path.read_bytes().startswith(header + b"\nq,a,ann,2,,")


@pytest.mark.parametrize("text", ["query,item,text\nq,a", "some words", "query,item,judge;grade", '"'])
def test_nothing_is_cut_from_a_file_of_another_kind(file: JudgementFile, text: str) -> None:
    file.path.write_text(text)
    for change in (file.repair, lambda: file.append(Judgement("q", "b", "ann", 2.0))):
        with pytest.raises(DataError, match="judgements"):
            change()
    assert file.path.read_text() == text


def test_a_last_row_without_a_line_feed_is_kept_if_it_is_complete(file: JudgementFile) -> None:
    file.path.write_text("query,item,judge,grade,note,time\nq,a,ann,1,,2026-11-16T12:00:00Z")
    file.append(Judgement("q", "b", "ann", 2.0))
    assert graded(file) == [("q", "a", "ann", 1.0), ("q", "b", "ann", 2.0)]


@pytest.mark.parametrize("last", ["q,b,bob,2,,", "q,b,bob,2,sure,", 'q,"b",bob,2,"",""'])
def test_a_last_row_by_hand_without_time_and_line_feed_is_kept(file: JudgementFile, last: str) -> None:
    file.path.write_text(f"query,item,judge,grade,note,time\nq,a,bob,1,,\n{last}")
    assert graded(file) == [("q", "a", "bob", 1.0), ("q", "b", "bob", 2.0)]
    file.append(Judgement("q", "c", "bob", 0.0))
    assert graded(file) == [("q", "a", "bob", 1.0), ("q", "b", "bob", 2.0), ("q", "c", "bob", 0.0)]


def test_a_file_that_a_spreadsheet_has_saved_is_continued_in_its_columns(file: JudgementFile) -> None:
    text = "judge;remark;item;label;query\r\nann;fine;a;1;q\r\nann;;b;;q\r\n"
    file.path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    file.append(Judgement("q", "c", "ann", 2.0))
    assert file.path.read_bytes().endswith(b"\r\nann;;c;2;q\n")
    assert graded(file) == [("q", "a", "ann", 1.0), ("q", "b", "ann", None), ("q", "c", "ann", 2.0)]


def test_sessions_in_several_processes_append_to_one_file(file: JudgementFile) -> None:
    judges, rows = ["ann", "ben", "cem"], 60
    command = [sys.executable, "-c", APPEND, str(file.path)]
    started = [subprocess.Popen([*command, judge, str(rows)]) for judge in judges]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    found = graded(file)
    assert sorted(found) == sorted(("q", f"item {n}", judge, float(n % 4)) for judge in judges for n in range(rows))
    assert file.path.read_text().count("query,item,judge") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("query,item,why,label\nq,a,x,1\n", "columns are 'query', 'item', 'why', 'label'"),
        ("query,item,judge,grade,grade\nq,a,ann,1,2\n", "each once"),
        ("query,item,judge,grade\nq,a,ann,good\n", ":2: expected a grade that is a number, or none, got 'good'"),
        ("query,item,judge,grade\nq,a,ann,nan\n", "got 'nan'"),
        ("query,item,judge,grade\nq,a,ann,1\nq,,ann,1\n", ":3: expected query, item and judge"),
        ("query,item,judge,grade\nq,a\n", ":2: expected query, item and judge"),
    ],
)
def test_a_file_of_another_kind_is_an_error_that_says_where(file: JudgementFile, text: str, complaint: str) -> None:
    file.path.write_text(text)
    with pytest.raises(DataError) as error:
        file.read()
    assert complaint in str(error.value)
    assert file.path.read_text() == text


@pytest.mark.parametrize(
    "names", [("", "a", "ann"), ("q", "  ", "ann"), ("q", "a", ""), ("q", "a\rb", "ann"), ("q\0", "a", "b")]
)
def test_names_that_the_file_cannot_give_back_are_refused(file: JudgementFile, names: tuple[str, str, str]) -> None:
    with pytest.raises(DataError, match="cannot be saved"):
        file.append(Judgement(*names, 1.0))
    assert not file.path.exists()


def test_a_place_that_cannot_be_written_and_a_compressed_file_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent.*cannot be written: No such file"):
        JudgementFile(tmp_path / "absent" / "judgements.csv").append(Judgement("q", "a", "ann", 1.0))
    with pytest.raises(DataError, match=r"\.csv or \.tsv, uncompressed"):
        JudgementFile(tmp_path / "judgements.csv.gz")


def test_rows_frames_and_files_give_the_same_judgements(tmp_path: Path) -> None:
    rows = [("q", "a", "ann", 1.0), ("q", "a", "ben", 2.0), ("q", "a", "ann", 0.0)]
    frame = pl.DataFrame(rows, schema=["query", "item", "judge", "grade"], orient="row")
    frame.write_parquet(tmp_path / "j.parquet")
    frame.write_csv(tmp_path / "j.csv")
    frame.rename({"grade": "label"}).write_ndjson(tmp_path / "j.jsonl")
    for thing in (rows, frame, tmp_path / "j.parquet", tmp_path / "j.csv", str(tmp_path / "j.jsonl")):
        found = [(each.query, each.item, each.judge, each.grade) for each in judgements_of(thing)]
        assert found == [("q", "a", "ben", 2.0), ("q", "a", "ann", 0.0)]
    with pytest.raises(DataError, match="judgements are a file, a frame or rows"):
        judgements_of(7)
    with pytest.raises(DataError, match="no such file"):
        judgements_of(tmp_path / "absent.csv")


def test_labels_are_those_of_graded_items() -> None:
    found = labels_of([Judgement("q", "a", "ann", 2.0), Judgement("q", "b", "ann", None, "skipped")])
    assert found is not None
    assert (list(found.items[found.label_item]), found.label_value.tolist()) == (["a"], [2.0])
    assert labels_of([Judgement("q", "b", "ann", None, "skipped")]) is None


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_spreadsheet_runs_no_cell(tmp_path: Path, ending: str) -> None:
    file = JudgementFile(tmp_path / f"judgements{ending}")
    for name in ("=1+1", "+x", "-x", "@SUM(A1)", "-1.5", "'=1"):
        file.append(Judgement(name, name, name, -1.5, name))
    rows = [*csv.reader(file.path.read_text().splitlines(), delimiter="," if ending == ".csv" else "\t")][1:]
    names = ["'=1+1", "'+x", "'-x", "'@SUM(A1)", "-1.5", "''=1"]
    assert [row[:5] for row in rows] == [[name, name, name, "-1.5", name] for name in names]
    assert [each.item for each in judgements_of(file.path)] == [
        "=1+1", "+x", "-x", "@SUM(A1)", "-1.5", "'=1",
    ]  # fmt: skip
