from pathlib import Path

import pytest

from juryrank.data.build import from_orders
from juryrank.errors import DataError, DataWarning
from juryrank.io import read, write

from .sameness import lists_of, slots_of


def votes(tmp_path: Path, text: str, name: str = "some.toi") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_orders_are_lists_weighted_by_their_count(samples: Path) -> None:
    data = read(samples / "votes.toi")
    assert lists_of(data) == {
        ("all", "1", frozenset({("soup (hot)", 1.0, None), ("salad", 2.0, None), ("bread", 2.0, None)})): 3,
        ("all", "2", frozenset({("bread", 1.0, None)})): 2,
        ("all", "3", frozenset({("soup (hot)", 1.0, None), ("salad", 1.0, None), ("bread", 3.0, None)})): 1,
    }


def test_an_alternative_that_nobody_ranks_has_a_slot(samples: Path) -> None:
    assert ("all", "nothing") in slots_of(read(samples / "votes.toi"))


def test_the_format_before_2022_reads_alike(samples: Path) -> None:
    data = read(samples / "old.soc")
    assert slots_of(data) == {("all", "soup"), ("all", "salad, green"), ("all", "bread")}
    assert data.rankings.list_weight.tolist() == [3, 2]


def test_a_header_is_recognised_under_any_name(samples: Path, tmp_path: Path) -> None:
    path = votes(tmp_path, (samples / "votes.toi").read_text(), "votes.txt")
    assert read(path).rankings.n_lists == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("VOTERS: 6", "VOTERS: 7", "NUMBER VOTERS is 7, found 6"),
        ("ALTERNATIVES: 4", "ALTERNATIVES: 5", "NUMBER ALTERNATIVES is 5, found 4"),
        ("ORDERS: 3", "ORDERS: 30", "NUMBER UNIQUE ORDERS is 30, found 3"),
        ("NAME 4: nothing", "NAME 4: bread", "1 names stand for several alternatives"),
        ("2: 3\n", "2: 3,3\n", "1 entries repeat an item of their list"),
    ],
)
def test_contradictions_warn(samples: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    path = votes(tmp_path, (samples / "votes.toi").read_text().replace(old, new))
    with pytest.warns(DataWarning, match=message):
        read(path)


@pytest.mark.parametrize("line", ["3 1,2", "x: 1,2", "3: 1,,2", "3: 1,{2", "3: {}", "-1: 1,2", "3: 1;2"])
def test_a_bad_order_is_named(samples: Path, tmp_path: Path, line: str) -> None:
    path = votes(tmp_path, (samples / "votes.toi").read_text() + line + "\n")
    with pytest.raises(DataError, match=r"some\.toi:14: expected count: alternatives"):
        read(path)


def test_other_data_types_are_refused(samples: Path, tmp_path: Path) -> None:
    path = votes(tmp_path, (samples / "votes.toi").read_text().replace("TYPE: toi", "TYPE: cat"))
    with pytest.raises(DataError, match=r":3: expected a data type of orders"):
        read(path)


def test_ballots_of_several_files_stay_apart(samples: Path, tmp_path: Path) -> None:
    text = (samples / "votes.toi").read_text()
    paths = [tmp_path / name for name in ("north.toi", "south.toi")]
    for path in paths:
        path.write_text(text)
    one, both = read(paths[0]).rankings, read(paths).rankings
    assert both.n_lists == 2 * one.n_lists
    assert both.list_weight.sum() == 2 * one.list_weight.sum()


def test_lists_of_one_item_are_no_ties(tmp_path: Path) -> None:
    single = from_orders([["a"], ["b"], ["b"], ["c", "a"]])
    write(single, tmp_path / "x.soi")  # .toi would be needed for ties
    assert "# DATA TYPE: soi" in (tmp_path / "x.soi").read_text()
    write(single, tmp_path / "x.txt", format="preflib")
    assert "# DATA TYPE: soi" in (tmp_path / "x.txt").read_text()
    assert lists_of(read(tmp_path / "x.soi")) == {
        ("all", "1", frozenset({("a", 1.0, None)})): 1,
        ("all", "2", frozenset({("b", 1.0, None)})): 2,
        ("all", "3", frozenset({("c", 1.0, None), ("a", 2.0, None)})): 1,
    }
