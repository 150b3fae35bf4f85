"""Labels in the shapes in which they come."""

from pathlib import Path

import polars as pl
import pytest

from juryrank.errors import DataError
from juryrank.io import read

from .sameness import labels_of

RUN = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\n"
LABELS = {("q1", "a"): 1, ("q1", "b"): 0}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "some.run"
    path.write_text(RUN)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("test.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\n"),
        ("qrels.tsv", "q1\t0\ta\t1\nq1\t0\tb\t0\n"),
        ("three.txt", "q1 a 1\nq1 b 0\n"),
        ("three.tsv", "q1\ta\t1\nq1\tb\t0\n"),
        ("a.csv", "query_id,doc_id,relevance,iteration\nq1,a,1,0\nq1,b,0,0\n"),
        ("b.csv", "Query ID;Doc ID;Judgment\nq1;a;1\nq1;b;0\n"),
        ("c.csv", "qid,docno,rating\nq1,a,1\nq1,b,0\n"),
        ("d.csv", "query,item,expert,rank,label\nq1,a,x,1,1\nq1,b,x,2,0\n"),
        ("e.jsonl", '{"query": "q1", "_id": "a", "score": 1}\n{"query": "q1", "_id": "b", "score": 0}\n'),
        ("f.csv", "query,item,grade,score\nq1,a,1,7\nq1,b,0,8\n"),
    ],
)
def test_labels_are_read_as_they_come(tmp_path: Path, run: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert labels_of(read(run, labels=path)) == LABELS


def test_a_frame_of_labels_may_call_them_scores(run: Path) -> None:
    frame = pl.DataFrame({"query": ["q1", "q1"], "item": ["a", "b"], "score": [1, 0]})
    assert labels_of(read(run, labels=frame)) == LABELS


def test_label_columns_name_other_headers_of_labels(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("frage,seite,note\nq1,a,1\nq1,b,0\n")
    with pytest.raises(DataError, match=r"labels need a column 'item'; .* use label_columns=\{'item': 'HEADER'\}"):
        read(run, labels=path)
    named = {"query": "frage", "item": "seite", "label": "note"}
    assert labels_of(read(run, labels=path, label_columns=named)) == LABELS
    with pytest.raises(DataError, match="label_columns= requires labels="):
        read(run, label_columns=named)


def test_qrels_of_beir_given_as_data_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\n")
    assert labels_of(read(path)) == LABELS
    assert read(path).rankings.n_lists == 0
    path.write_text("query-id\tcorpus-id\tscore\nq1\ta\t1.25\nq1\tb\t0.5\n")
    assert read(path).rankings.n_lists == 1


def test_a_table_of_a_run_is_no_labels(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query,item,system,score\nq1,a,x,1\n")
    with pytest.raises(DataError, match="labels need a column 'label'"):
        read(run, labels=path)
    path.write_text("query,item,label\n")
    with pytest.raises(DataError, match="a header and no rows"):
        read(run, labels=path)
