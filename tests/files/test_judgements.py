"""Labels in the shapes in which they come."""

from pathlib import Path

import polars as pl
import pytest

from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning
from juryrank.io import read, read_labels, write
from juryrank.io.dataset_frames import labels_frame
from juryrank.progress import show_remarks

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


JUDGED = """query,item,judge,grade,note,time
q1,a,ann,1,,2026-11-16T12:00:00Z
q1,b,ann,2,,2026-11-16T12:00:01Z
q1,b,ann,,undone,2026-11-16T12:00:02Z
q1,a,ann,3,,2026-11-16T12:00:03Z
q1,c,ann,,skipped,2026-11-16T12:00:04Z
q2,a,ben,0,,2026-11-16T12:00:05Z
"""


def test_the_last_answer_of_a_judge_counts_and_rows_without_one_are_counted(tmp_path: Path) -> None:
    (tmp_path / "judgements.csv").write_text(JUDGED)
    told: list[str] = []
    with show_remarks(told.append):
        found = read_labels(tmp_path / "judgements.csv")
    assert isinstance(found, Dataset)
    assert labels_frame(found).sort("query", "item").rows() == [("q1", "a", 3.0), ("q2", "a", 0.0)]
    assert told == [f"{tmp_path}/judgements.csv: 2 of 4 rows have no label; they are left out"]


def test_a_filled_in_plan_is_read_as_labels_and_its_empty_rows_are_counted(tmp_path: Path) -> None:
    plan = tmp_path / "to-judge.csv"
    plan.write_text("query,item,why,label\nq1,a,place 1 of RRF,2\nq1,b,place 2 of RRF,\nq2,a,place 1 of RRF,0\n")
    told: list[str] = []
    with show_remarks(told.append):
        found = read_labels(plan)
    assert isinstance(found, Dataset)
    assert labels_frame(found).sort("query", "item").rows() == [("q1", "a", 2.0), ("q2", "a", 0.0)]
    assert told == [f"{plan}: 1 of 3 rows have no label; they are left out"]


def test_a_file_of_judgements_is_data_without_lists(tmp_path: Path) -> None:
    (tmp_path / "judgements.csv").write_text(JUDGED)
    data = read(tmp_path / "judgements.csv")
    assert (data.rankings.n_lists, data.rankings.n_slots) == (0, 2)
    write(data, tmp_path / "labels.qrels")
    assert sorted((tmp_path / "labels.qrels").read_text().splitlines()) == ["q1 0 a 3", "q2 0 a 0"]


def test_a_column_that_is_said_to_be_absent_is_not_reported_as_unused(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("query,item,expert,rank,label\nq1,a,bm25,1,2\nq1,b,bm25,2,0\n")
    assert read(tmp_path / "runs.csv", columns={"label": None}).labels is None


def test_items_without_a_column_of_labels_count_as_relevant_and_this_is_told(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("query,doc_id,title\nq1,a,storms\nq2,b,tides\n")
    data = {"x": {"q1": ["a", "b"], "q2": ["b"]}}
    with pytest.warns(
        DataWarning, match=r"no column of labels, so each of its 2 items counts as relevant, with label 1"
    ):
        found = read(data, labels=path)
    assert labels_of(found) == labels_of(read(data, labels={"q1": {"a": 1}, "q2": {"b": 1}}))
    for header, label_columns in (("grade", {"item": "doc_id"}), ("verdict", None)):  # words that may be labels
        path.write_text(f"query,doc_id,{header}\nq1,a,yes\nq1,b,no\nq2,b,yes\n")
        with pytest.raises(DataError, match=r"expected a number in column 'grade'|labels need a column 'label'"):
            read(data, labels=path, label_columns=label_columns)
    path.write_text("query,doc_id,how_good\nq1,a,0\nq2,b,2\n")
    with pytest.raises(DataError, match="labels need a column 'label'; columns are 'query', 'doc_id', 'how_good'"):
        read(data, labels=path)
