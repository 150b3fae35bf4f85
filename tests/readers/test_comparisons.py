from pathlib import Path

import polars as pl
import pytest

from juryrank.errors import DataError
from juryrank.readers import read

from .sameness import lists_of


def beats(better: str, worse: str) -> frozenset[tuple[str, float, None]]:
    return frozenset({(better, 1.0, None), (worse, 2.0, None)})


def tied(one: str, other: str) -> frozenset[tuple[str, float, None]]:
    return frozenset({(one, 1.0, None), (other, 1.0, None)})


def test_each_comparison_is_a_list_and_equal_ones_add_up(samples: Path) -> None:
    assert lists_of(read(samples / "comparisons.csv")) == {
        ("all", "j1", beats("gpt", "llama")): 2,
        ("all", "j2", tied("gpt", "llama")): 1,
        ("all", "j2", beats("mixtral", "gpt")): 1,
    }
    assert read(samples / "comparisons.csv").rankings.n_lists == 3


@pytest.mark.parametrize(
    ("winner", "expected"),
    [
        ("x", beats("x", "y")), ("left", beats("x", "y")), ("A", beats("x", "y")), ("model_a", beats("x", "y")),
        ("y", beats("y", "x")), ("Right", beats("y", "x")), ("b", beats("y", "x")), ("model_b", beats("y", "x")),
        ("tie", tied("x", "y")), ("Draw", tied("x", "y")), ("both", tied("x", "y")), ("tie (bothbad)", tied("x", "y")),
    ],
)  # fmt: skip
def test_the_winner_is_a_name_or_a_word(winner: str, expected: frozenset[object]) -> None:
    frame = pl.DataFrame({"left": ["x"], "right": ["y"], "winner": [winner], "query": ["q"], "weight": [2.5]})
    assert lists_of(read(frame)) == {("q", "table", expected): 2.5}


def test_names_go_before_words() -> None:
    frame = pl.DataFrame({"left": ["b", "tie"], "right": ["a", "c"], "winner": ["b", "tie"]})
    assert lists_of(read(frame), experts=False) == {("all", "", beats("b", "a")): 1, ("all", "", beats("tie", "c")): 1}


@pytest.mark.parametrize("row", ["x,y,z", "x,x,x", "x,,x", "x,y,"])
def test_a_comparison_that_says_nothing_is_named(tmp_path: Path, row: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"left,right,winner\nx,y,x\n{row}\n")
    with pytest.raises(DataError, match=r"pairs\.csv:3: expected two different items and a winner"):
        read(path)


def test_other_headers_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("eins,zwei,sieger\nx,y,x\n")
    data = read(path, format="comparisons", columns={"left": "eins", "right": "zwei", "winner": "sieger"})
    assert lists_of(data) == {("all", "pairs", beats("x", "y")): 1}
