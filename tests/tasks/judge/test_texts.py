"""Texts of items and queries, in the shapes in which they come."""

from pathlib import Path

import polars as pl
import pytest

from juryrank.errors import DataError, DataWarning
from juryrank.tasks.judge.texts import read_texts

WANTED = ["a", "b", "7"]
FILES = {
    "texts.csv": 'item,text\na,first\nb,"second, with comma"\n7,third\n',
    "texts.tsv": "id\ttext\na\tfirst\nb\tsecond, with comma\n7\tthird\n",
    "collection.tsv": "a\tfirst\nb\tsecond, with comma\n7\tthird\n",
    "corpus.jsonl": '{"_id": "a", "text": "first"}\n{"_id": "b", "text": "second, with comma"}\n'
    '{"_id": "7", "text": "third"}\n',
    "texts.json": '{"a": "first", "b": "second, with comma",\n "7": "third"}',
    "docs.csv": 'docno,contents,url\na,first,x\nb,"second, with comma",y\n7,third,z\n',
}


@pytest.mark.parametrize("name", FILES)
def test_texts_are_read_as_they_come(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name])
    found = read_texts(tmp_path / name, WANTED)
    assert found.by_id == {"a": "first", "b": "second, with comma", "7": "third"}
    assert (found.n_missing, found.n_others) == (0, 0)


def test_ids_in_parquet_may_be_numbers_and_titles_come_first(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [7, 8], "title": ["Title", None], "text": ["body", "other"]})
    frame.write_parquet(tmp_path / "texts.parquet")
    assert read_texts(tmp_path / "texts.parquet", ["7", "8"]).by_id == {"7": "Title\nbody", "8": "other"}


def test_missing_texts_and_texts_of_other_ids_are_counted(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("item,text\na,first\nb,\nc,  \nx,elsewhere\ny,elsewhere\n")
    found = read_texts(tmp_path / "texts.csv", ["a", "b", "c", "d"])
    assert found.by_id == {"a": "first"}
    assert (found.n_wanted, found.n_missing, found.n_others) == (4, 3, 2)
    assert found.get("d") is None


def test_several_texts_of_one_id_are_counted_and_the_first_is_kept(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("item,text\na,first\na,again\nb,x\nb,x\n")
    with pytest.warns(DataWarning, match="1 ids have several texts; the first is kept"):
        found = read_texts(tmp_path / "texts.csv", ["a", "b"])
    assert found.by_id == {"a": "first", "b": "x"}


def test_texts_of_queries_have_a_column_query_or_id(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("qid\tquery\nq1\twhat is it\n")
    (tmp_path / "topics.csv").write_text("query,text\nq1,what is it\n")
    assert read_texts(tmp_path / "topics.csv", ["q1"], "query").by_id == {"q1": "what is it"}
    assert read_texts(tmp_path / "queries.tsv", ["q1"], "query").by_id == {"q1": "what is it"}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        (
            "a.csv",
            "item,words\na,first\n",
            "texts need a column item or id and a column text; columns are 'item', 'words'",
        ),
        ("a.csv", "name,text\na,first\n", "texts need a column item or id"),
        ("a.jsonl", '{"id": "a", "text": "x"}\n{"id": \n', "expected one JSON object per line"),
        ("a.csv", "", "the file is empty"),
    ],
)
def test_other_files_are_an_error(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=complaint):
        read_texts(tmp_path / name, WANTED)
    with pytest.raises(DataError, match=r"absent\.csv: cannot be read"):
        read_texts(tmp_path / "absent.csv", WANTED)
