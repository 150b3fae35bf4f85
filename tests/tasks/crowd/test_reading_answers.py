"""Tables of answers: files, frames and Python, with usual, odd and no headers, and what is said about mistakes."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import juryrank as jr
from juryrank.errors import DataError, DataWarning

ROWS = [("t1", "ann", "cat"), ("t1", "ben", "cat"), ("t2", "ann", "dog"), ("t2", "cem", "dog"), ("t2", "ben", "cat")]
LABELS = {"t1": "cat", "t2": "dog"}
LINES = "".join(f"{','.join(row)}\n" for row in ROWS)


def vote(table: Any, **settings: Any) -> Any:
    return jr.crowd(table, "majority-vote", **settings)


def test_rows_dicts_and_frames_are_the_same_answers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pl.DataFrame(ROWS, schema=["task", "worker", "label"], orient="row")
    by_task: dict[str, dict[str, str]] = {}
    for task, worker, label in ROWS:
        by_task.setdefault(task, {})[worker] = label
    records = frame.rows(named=True)
    tables = [ROWS, frame, pandas.DataFrame(records), by_task, records, frame.to_dict(as_series=False)]
    for table in tables:
        found = vote(table)
        assert found.labels == LABELS
        assert found.answers.workers == ("ann", "ben", "cem")


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,label", "item,annotator,answer", "docID,workerID,relevance", "HIT ID,Worker Id,Response",
        "question,participant,vote", "image_id,labeler,category", "unit,judge,class",
    ],
)  # fmt: skip
def test_usual_headers_are_recognised(header: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(f"{header}\n{LINES}")
    assert vote(path).labels == LABELS


def test_odd_headers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(f"x,y,z\n{LINES}")
    assert vote(path, columns={"task": "x", "worker": "y", "label": "z"}).labels == LABELS
    with pytest.raises(DataError, match=r"no column is known to be the task; columns are 'x', 'y', 'z'.*number"):
        vote(path)


@pytest.mark.parametrize("separator", [",", "\t", " ", ";"])
def test_columns_without_a_header_are_numbered(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    path.write_text("".join(f"{separator.join((worker, label, task))}\n" for task, worker, label in ROWS))
    assert vote(path, columns={"worker": 1, "label": 2, "task": 3}).labels == LABELS


def test_columns_with_a_header_may_be_numbered(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("worker,label,hit,answer\n" + "".join(f"{w},x,{t},{g}\n" for t, w, g in ROWS))
    assert vote(path, columns={"task": 3, "worker": 1, "label": 4}).labels == LABELS
    with pytest.raises(DataError, match="no column 9; there are 4"):
        vote(path, columns={"task": 9, "worker": 1, "label": 4})


@pytest.mark.parametrize("more", ["", ",1234567890"])
def test_numbers_without_a_header_are_not_guessed(more: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("".join(f"t{n // 2},w{n % 2},{n % 3}{more}\n" for n in range(8)))
    with pytest.raises(DataError, match=r"answers.csv:1: expected a header .*columns=\{'task': 1, 'worker': 2"):
        vote(path)


def test_answers_without_a_header_are_not_read_as_ratings_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("".join(f"t{n // 3},w{n % 3},{n % 2}\n" for n in range(30)))
    with pytest.raises(DataError, match=r"expected a header .* juryrank crowd"):
        jr.read(path)
    for separator in ("\t", ",", "::"):
        path.write_text(
            "".join(f"t{n // 3}{separator}w{n % 3}{separator}{n % 2}{separator}1234567890\n" for n in range(30))
        )
        with pytest.warns(DataWarning, match=r"10 users rate 3 items; if these are tasks, workers and labels, use"):
            jr.read(path)
        assert len(jr.read(path, format="ratings").experts) == 10


def test_ratings_of_many_items_are_read_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "ratings.txt"
    path.write_text("".join(f"u{n % 3}\ti{n}\t{n % 5 + 1}\t1234567890\n" for n in range(30)))
    assert len(jr.read(path).experts) == 3


def test_items_of_a_query_are_tasks_and_gold_is_a_column(tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    path.write_text(
        "topicID\tworkerID\tdocID\tgold\tlabel\n1\tann\td1\t-1\t0\n1\tben\td1\t-1\t1\n1\tben\td2\t1\t1\n2\tann\td1\t0\t0\n"
    )
    with pytest.warns(DataWarning, match=r"gold labels of 1 task \('-1'\) are not among the labels"):
        found = vote(path)
    assert found.to_frame().select("query", "item", "label", "tied", "gold").rows() == [
        ("1", "d1", "0", True, None), ("1", "d2", "1", False, "1"), ("2", "d1", "0", False, "0"),
    ]  # fmt: skip
    assert found.labels == {("1", "d1"): "0", ("1", "d2"): "1", ("2", "d1"): "0"}


def test_tasks_with_several_items_are_the_queries_of_the_items() -> None:
    rows = [{"task": "t", "item": item, "worker": "w", "label": "x"} for item in "ab"]
    assert vote(rows).answers.tasks.rows() == [("t", "a"), ("t", "b")]


def test_labels_that_are_no_answers_are_left_out() -> None:
    found = vote([*ROWS, ("t3", "ann", "broken")], ignore=["broken"])
    assert found.labels == LABELS
    assert found.classes == ("cat", "dog")


def test_rows_without_a_worker_are_counted() -> None:
    with pytest.warns(DataWarning, match="1 of 6 rows has no task, worker or label"):
        assert vote([*ROWS, ("t3", None, "cat")]).labels == LABELS


def test_labels_that_are_numbers_are_in_the_order_of_their_values() -> None:
    found = vote([("t", "w", 10), ("t", "v", 9), ("t", "u", -2.5), ("s", "u", 10.0)])
    assert found.classes == ("-2.5", "9", "10")
    assert found.expected.tolist() == [10.0, pytest.approx(16.5 / 3)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "there are no answers"),
        ([("t", "w")], "rows of task, worker and label"),
        ({"t": "x"}, r"answers must be \{task: \{worker: label\}\}"),
        ([("t", "w", None)], "no row has a task, a worker and a label"),
    ],
)
@pytest.mark.filterwarnings("ignore::juryrank.errors.DataWarning")
def test_a_table_without_answers_is_refused(table: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        vote(table)


def test_gold_labels_come_from_a_dict_a_frame_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("task,truth\nt1,dog\n")
    for gold in ({"t1": "dog"}, pl.DataFrame({"item": ["t1"], "gold": ["dog"]}), path):
        assert vote(ROWS, gold=gold).labels == {"t1": "dog", "t2": "dog"}
    with pytest.raises(DataError, match="1 task has several different gold labels"):
        vote(ROWS, gold=pl.DataFrame({"item": ["t1", "t1"], "gold": ["dog", "cat"]}))
    with pytest.warns(DataWarning, match="1 of 1 gold label is of a task without answers"):
        vote(ROWS, gold={"t9": "dog"})


def test_merged_spellings_have_the_given_spelling_else_the_most_frequent() -> None:
    rows = [("t1", "ann", "Yes"), ("t1", "ben", "yes"), ("t2", "ann", "NO"), ("t2", "ben", "no"), ("t3", "cem", "No ")]
    rows.append(("t4", "cem", "yes"))
    with pytest.warns(DataWarning, match="'NO', 'No', 'no'; 'Yes', 'yes'; to count them as one, use merge_sp") as told:
        assert len(vote(rows).classes) == 5
    assert len(told) == 1
    assert vote(rows, merge_spellings=True).classes == ("NO", "yes")
    assert vote(rows, merge_spellings=True, order=["no", "YES"]).labels == dict(
        zip(("t1", "t2", "t3", "t4"), ("YES", "no", "no", "YES"), strict=True)
    )
    graded = vote(rows, merge_spellings=True, grades={"yes": 1, "no": 0}, gold={"t1": "YES"})
    assert graded.expected.tolist() == [1, 0, 0, 1]
    assert graded.accuracy[0].tasks == 1
    assert vote(rows, merge_spellings=True, ignore=["no"]).labels == {"t1": "yes", "t4": "yes"}


def test_gold_in_another_spelling_is_told_and_merged() -> None:
    with pytest.warns(DataWarning) as told:
        vote(ROWS, gold={"t1": "Cat"})
    assert any("'cat', 'Cat'; to count them as one" in str(one.message) for one in told)
    assert vote(ROWS, gold={"t1": "Cat"}, merge_spellings=True).accuracy[0].right == 1
