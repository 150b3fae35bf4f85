"""Tables without a header are asked about, not guessed."""

from pathlib import Path

import pytest

from juryrank.errors import DataError
from juryrank.io import read

from .sameness import lists_of

CROWD = "d1\tw1\t2\nd1\tw2\t1\nd2\tw1\t0\n"
BY_WORKER = {
    ("all", "w1", frozenset({("d1", 1.0, 2.0), ("d2", 2.0, 0.0)})): 1,
    ("all", "w2", frozenset({("d1", 1.0, 1.0)})): 1,
}


@pytest.mark.parametrize("separator", ["\t", ",", ";", " ", "   "])
@pytest.mark.parametrize("name", ["crowd.txt", "crowd.csv", "crowd"])
def test_three_columns_without_a_header_are_asked_about(tmp_path: Path, separator: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(CROWD.replace("\t", separator))
    with pytest.raises(DataError, match="1: expected a header") as caught:
        read(path)
    for choice in ("{'item': 1, 'expert': 2, 'score': 3}", "{'expert': 1, 'item': 2, 'score': 3}"):
        assert f"columns={choice}" in str(caught.value)
    assert lists_of(read(path, columns={"item": 1, "expert": 2, "score": 3})) == BY_WORKER
    assert lists_of(read(path, columns={"item": "1", "expert": "2", "score": "3"})) == BY_WORKER


def test_the_format_ratings_says_that_users_stand_first(tmp_path: Path) -> None:
    path = tmp_path / "crowd.csv"
    path.write_text(CROWD.replace("\t", ","))
    assert read(path, format="ratings").experts == ("d1", "d2")


def test_a_run_of_ms_marco_is_read_by_numbers_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("7\t101\t1\n7\t102\t2\n9\t101\t1\n")
    assert lists_of(read(path, columns={"query": 1, "item": 2, "rank": 3})) == {
        ("7", "run", frozenset({("101", 1.0, None), ("102", 2.0, None)})): 1,
        ("9", "run", frozenset({("101", 1.0, None)})): 1,
    }


def test_a_bad_number_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "crowd.txt"
    path.write_text("d1,w1,2\nd2,w1,good\n")
    with pytest.raises(DataError, match=r"crowd\.txt:2: expected a number in column '3' \(not 'good'\)"):
        read(path, columns={"item": 1, "expert": 2, "score": 3})


@pytest.mark.parametrize("line", ["q1 d1 bm25 0.5", "q1 d1 1 0.5 bm25"])
def test_an_item_is_not_taken_for_an_iteration(tmp_path: Path, line: str) -> None:
    path = tmp_path / "some.txt"
    path.write_text(f"{line}\n")
    with pytest.raises(DataError, match="expected a header that says which column is which"):
        read(path)


def test_numbers_in_a_header_are_headers(tmp_path: Path) -> None:
    path = tmp_path / "years.csv"
    path.write_text("item,2019,2020\na,0.5,1.5\nb,2.5,0.5\n")
    assert read(path, columns={"expert": ["2019", "2020"]}, values="score").experts == ("2019", "2020")
