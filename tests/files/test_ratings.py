from pathlib import Path

import polars as pl
import pytest

from juryrank.errors import DataError
from juryrank.io import read

from .sameness import assert_same, lists_of


def test_a_user_is_an_expert_and_the_rating_a_score(samples: Path) -> None:
    assert lists_of(read(samples / "u.data")) == {
        ("all", "186", frozenset({("302", 1.0, 3.0)})): 1,
        ("all", "196", frozenset({("302", 1.0, 5.0), ("242", 2.0, 3.0)})): 1,
    }


def test_a_header_makes_no_difference(samples: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join((samples / "ratings.csv").read_text().splitlines()[1:]))
    assert_same(read(bare), read(samples / "ratings.csv"))
    assert_same(read(samples / "ratings.csv", format="ratings"), read(samples / "ratings.csv"))


def test_a_frame_of_ratings_is_a_table(samples: Path) -> None:
    frame = pl.read_csv(samples / "ratings.csv")
    assert_same(read(frame, format="ratings"), read(samples / "ratings.csv"))


@pytest.mark.parametrize("separator", ["::", ",", "\t"])
def test_tabs_commas_and_double_colons_separate(samples: Path, tmp_path: Path, separator: str) -> None:
    path = tmp_path / "ratings.dat"
    path.write_text((samples / "u.data").read_text().replace("\t", separator))
    assert_same(read(path), read(samples / "u.data"))


def test_labels_with_numeric_items_are_no_ratings(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("303\t0\t12345\t1\n")
    assert read(path).labels is not None


def test_a_bad_rating_is_named(tmp_path: Path) -> None:
    path = tmp_path / "u.data"
    path.write_text("1\t2\t3\t881250949\n1\t3\tgood\t881250949\n")
    with pytest.raises(DataError, match=r"u\.data:2: expected user, item, rating \(a number\)"):
        read(path)
