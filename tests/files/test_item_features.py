"""Features of items from tables, frames and files, joined by name."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.errors import DataError, DataWarning

RUN = "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 a 1 1.0 x\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "x.run"
    path.write_text(RUN)
    return path


def test_features_of_an_item_hold_in_every_query(run: Path) -> None:
    table = run.parent / "items.csv"
    table.write_text("docid,price,age\nb,3,\na,1.5,7\nz,0,0\n")
    data = juryrank.read(run, features=table)
    assert data.feature_names == ("price", "age")
    np.testing.assert_array_equal(data.features, [[1.5, 7], [3, np.nan], [1.5, 7]])


def test_features_of_a_query_and_item_are_joined_by_both(run: Path) -> None:
    frame = pl.DataFrame({"item": ["a", "a", "b"], "query": ["q2", "q1", "q1"], "match": [3, 2, 1]})
    assert juryrank.read(run, features=frame).features.tolist() == [[2.0], [1.0], [3.0]]


def test_several_tables_are_one(run: Path) -> None:
    paths = [run.parent / "1.csv", run.parent / "2.csv"]
    paths[0].write_text("item,f\na,1\n")
    paths[1].write_text("item,f\nb,2\n")
    assert juryrank.read(run, features=paths).features.tolist() == [[1.0], [2.0], [1.0]]
    paths[1].write_text("item,g\nb,2\n")
    with pytest.raises(DataError, match=r"2\.csv: expected the columns of"):
        juryrank.read(run, features=paths)


def test_an_item_without_features_and_one_with_two_rows_are_counted(run: Path) -> None:
    with pytest.warns(DataWarning, match="1 of 3 items have no features"):
        found = juryrank.read(run, features=pl.DataFrame({"item": ["a"], "f": [1.0]}))
    np.testing.assert_array_equal(found.features, [[1], [np.nan], [1]])
    with pytest.warns(DataWarning, match="1 rows of features repeat an item"):
        found = juryrank.read(run, features=pl.DataFrame({"item": ["a", "b", "a"], "f": [1.0, 2.0, 9.0]}))
    assert found.features.tolist() == [[1.0], [2.0], [1.0]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("item,f\na,1\nb,high\n", r"items\.csv:3: expected a number in column 'f' \(not 'high'\)"),
        ("item,f\n,1\n", r"items\.csv:2: expected a name"),
        ("item\na\n", "needs a column 'item' and columns of numbers"),
        ("price,age\n1,2\n", "needs a column 'item' and columns of numbers"),
    ],
)
def test_a_bad_table_of_features_is_one_clear_error(run: Path, text: str, told: str) -> None:
    table = run.parent / "items.csv"
    table.write_text(text)
    with pytest.raises(DataError, match=told):
        juryrank.read(run, features=table)
