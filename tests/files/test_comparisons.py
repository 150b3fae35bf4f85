import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from juryrank.errors import DataError, DataWarning
from juryrank.io import read, write

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


BAD_ROWS = {
    "x,y,z,1": "with an unknown winner ('z', line 3)",
    "x,x,x,1": "of an item with itself (line 3)",
    "x,,x,1": "without two items (line 3)",
    ",y,y,1": "without two items (line 3)",
    "x,y,,1": "without a winner (line 3)",
    "x,y,x,-1": "with a bad weight (line 3)",
    "x,y,x,many": "with a bad weight (line 3)",
    "x,y,x,nan": "with a bad weight (line 3)",
    "x,y,x,inf": "with a bad weight (line 3)",
}


@pytest.mark.parametrize("row", BAD_ROWS)
def test_a_bad_row_is_skipped_counted_and_reported(tmp_path: Path, row: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"left,right,winner,weight\nx,y,x,2\n{row}\ny,x,tie,\n")
    with pytest.warns(DataWarning, match=re.escape(f"pairs.csv: 1 of 3 comparisons skipped: 1 {BAD_ROWS[row]}")):
        data = read(path)
    assert lists_of(data) == {("all", "pairs", beats("x", "y")): 2, ("all", "pairs", tied("x", "y")): 1}
    with pytest.raises(DataError, match=re.escape(BAD_ROWS[row])):
        read(path, strict=True)


def test_bad_rows_are_counted_by_kind_with_the_first_line_of_each(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,winner\nx,y,x\nx,x,x\n,,\nx,y,?\nx,y,\ny,y,y\nx,y,!\nx,y,y\n")
    with pytest.warns(DataWarning) as told:
        read(path)
    assert str(told[0].message).endswith(
        "5 of 7 comparisons skipped: 2 of an item with itself (first line 3); 1 without a winner (line 6); "
        "2 with an unknown winner ('?', first line 5)"
    )


def test_a_table_without_one_good_comparison_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,winner\nx,x,x\nx,y,\n")
    with pytest.raises(DataError, match=r"pairs\.csv: no comparison is left: 2 of 2 .*line 2.*line 3"):
        read(path)


def test_a_frame_names_rows_and_a_file_of_json_lines_names_lines(tmp_path: Path) -> None:
    frame = pl.DataFrame({"left": ["x", "x"], "right": ["y", "x"], "winner": ["x", "x"]})
    frame.write_ndjson(tmp_path / "pairs.jsonl")
    frame.write_parquet(tmp_path / "pairs.parquet")
    for source, where in (
        (frame, "row 2"),
        (tmp_path / "pairs.jsonl", "line 2"),
        (tmp_path / "pairs.parquet", "row 2"),
    ):
        with pytest.warns(DataWarning, match=rf"1 of an item with itself \({where}\)"):
            assert lists_of(read(source), experts=False) == {("all", "", beats("x", "y")): 1}


def outcomes(frame: pl.DataFrame) -> list[int]:
    """Of comparisons of x1 with y1, x2 with y2 and so on, 1 where x won, -1 where y did, and 0 for a tie."""
    said = {}
    for (_, _, entries), _ in lists_of(read(frame)).items():
        rank = {item[0]: (item, position) for item, position, _ in entries}
        said[int(rank["x"][0][1:])] = int(np.sign(rank["y"][1] - rank["x"][1]))
    return [said[n] for n in sorted(said)]


def battles(
    winner: Sequence[object], header: str = "winner", sides: tuple[str, str] = ("left", "right")
) -> pl.DataFrame:
    n = range(len(winner))
    return pl.DataFrame({sides[0]: [f"x{k}" for k in n], sides[1]: [f"y{k}" for k in n], header: winner}, strict=False)


@pytest.mark.parametrize(
    ("winner", "header", "expected"),
    [
        (["model_a", "model_b", "tie", "tie (bothbad)", "both_bad", "bothbad"], "winner", [1, -1, 0, 0, 0, 0]),
        (["A", "B", "neither", "equal", "Both Good"], "winner", [1, -1, 0, 0, 0]),
        ([1.0, 0.5, 0.0], "winner", [1, 0, -1]),
        ([1, 0, 1], "score", [1, -1, 1]),
        (["1", "0", "1/2"], "result", None),
        (["1-0", "0-1", "1/2-1/2", "½-½", "0.5-0.5", "3-1", "0:2"], "result", [1, -1, 0, 0, 0, 1, -1]),
        ([1, -1, 0], "outcome", [1, -1, 0]),
        ([1, -1, 0], "winner", [1, -1, 0]),
        ([1, 2, 2], "winner", [1, -1, -1]),
        (["1", "2", "tie"], "winner", [1, -1, 0]),
        (["1", "X", "2"], "result", [1, 0, -1]),
        (["H", "D", "A"], "result", [1, 0, -1]),
        (["W", "D", "L"], "result", [1, 0, -1]),
        (["l", "r", "t"], "winner", [1, -1, 0]),
        ([True, False], "won", [1, -1]),
        (["first", "second"], "preferred", [1, -1]),
    ],
)
def test_a_column_of_winners_is_read_by_all_it_holds(winner: list[object], header: str, expected: list[int]) -> None:
    if expected is None:
        with pytest.warns(DataWarning, match="unknown winner"):
            outcomes(battles(winner, header))
        return
    assert outcomes(battles(winner, header)) == expected


@pytest.mark.parametrize(
    "winner", [[0, 1, 1], [1, 1], [0, 0], [0, 1, 2], [1, 2, 3], [True, False], [0, 1, "tie"], ["l"]]
)
def test_winners_that_could_mean_two_things_are_refused(winner: list[object]) -> None:
    with pytest.raises(
        DataError, match=r"row 1: expected winners in column 'winner' that can be read|no comparison is left"
    ):
        read(battles([str(w) for w in winner]))


def test_the_user_says_what_a_column_of_zeros_and_ones_is() -> None:
    frame = battles([0, 1, 1])
    with pytest.raises(DataError, match=r"use columns=\{'score': 'winner'\}"):
        read(frame)
    said = lists_of(read(frame, columns={"score": "winner"}), experts=False)
    assert said == {
        ("all", "", beats("y0", "x0")): 1,
        ("all", "", beats("x1", "y1")): 1,
        ("all", "", beats("x2", "y2")): 1,
    }


def test_numbers_that_are_names_stay_names() -> None:
    frame = pl.DataFrame({"left": [1, 2, 7], "right": [2, 3, 1], "winner": [2, 2, 1]})
    expected = {("all", "", beats("2", "1")): 1, ("all", "", beats("2", "3")): 1, ("all", "", beats("1", "7")): 1}
    assert lists_of(read(frame), experts=False) == expected


@pytest.mark.parametrize(
    ("left", "right", "winner"),
    [
        (["c", "x"], ["a", "y"], ["a", "b"]),
        (["tie", "x"], ["c", "y"], ["tie", "tie"]),
        (["5", "1"], ["1", "3"], ["1", "2"]),
    ],
)
def test_a_name_that_is_also_a_word_in_use_is_refused(left: list[str], right: list[str], winner: list[str]) -> None:
    with pytest.raises(DataError, match="is an item and, in other rows, a word"):
        read(pl.DataFrame({"left": left, "right": right, "winner": winner}))


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("winner,loser", ["x,y", "z,x"]),
        ("chosen,rejected", ["x,y", "z,x"]),
        ("Winner,Loser,tie", ["x,y,0", "z,x,"]),
        ("lang,chosen,rejected,chosen_model,rejected_model", ["p,long text,other text,x,y", "p,t,u,z,x"]),
        ("model_a,model_b,winner", ["x,y,model_a", "x,z,model_b"]),
        ("player_1,player_2,result", ["x,y,1", "x,z,0"]),
        ("White,Black,Result", ["x,y,1-0", "x,z,0-1"]),
        ("home_team,away_team,home_score,away_score", ["x,y,3,1", "x,z,0,2"]),
        ("home_team,away_team,winner", ["x,y,home_team", "x,z,away"]),
        ("left,right,score", ["x,y,1", "x,z,0"]),
        ("model_a,model_b,winner_model_a,winner_model_b,winner_tie", ["x,y,1,0,0", "x,z,0,1,0"]),
        ("item_a,item_b,won", ["x,y,x", "x,z,z"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_of_every_shape_are_recognised(tmp_path: Path, header: str, rows: list[str], ending: str) -> None:
    frame = pl.read_csv("\n".join([header, *rows]).encode())
    path = tmp_path / f"games.{ending}"
    {
        "csv": frame.write_csv, "tsv": lambda p: frame.write_csv(p, separator="\t"), "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
    }[ending](path)  # fmt: skip
    expected = {("all", "", beats("x", "y")): 1, ("all", "", beats("z", "x")): 1}
    assert lists_of(read(path), experts=False) == expected
    assert lists_of(read(frame), experts=False) == expected


def test_a_column_of_ties_is_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"winner": ["x", "x", "x"], "loser": ["y", "z", "w"], "draw": ["yes", "no", "perhaps"]})
    with pytest.warns(DataWarning, match=r"1 with an unknown winner \('x', row 3\)"):
        data = read(frame)
    assert lists_of(data, experts=False) == {("all", "", tied("x", "y")): 1, ("all", "", beats("x", "z")): 1}


def test_columns_of_winners_and_losers_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("sieger,verlierer\nx,y\n")
    for source in (path, pl.read_csv(path)):
        data = read(source, columns={"winner": "sieger", "loser": "verlierer"})
        assert lists_of(data, experts=False) == {("all", "", beats("x", "y")): 1}


@pytest.mark.parametrize("chosen", ["word " * 60, "two\nlines", [{"role": "user", "content": "hi"}]])
def test_preferences_between_texts_are_no_comparisons_of_items(chosen: object) -> None:
    with pytest.raises(DataError, match="names of items in column 'chosen', not texts"):
        read(pl.DataFrame({"chosen": [chosen], "rejected": [chosen]}))


def test_a_shape_that_lacks_a_column_says_which() -> None:
    with pytest.raises(DataError, match=r"comparisons need a column 'loser'.*columns=.'loser': 'HEADER'."):
        read(pl.DataFrame({"winner": ["x"], "other": ["y"]}), format="comparisons")


def test_ties_are_written_with_a_word_that_is_no_item(tmp_path: Path) -> None:
    data = read(pl.DataFrame({"winner": ["tie", "x"], "loser": ["x", "y"], "is_tie": [False, True]}))
    write(data, tmp_path / "pairs.csv", format="comparisons")
    assert lists_of(read(tmp_path / "pairs.csv")) == lists_of(data)


def test_other_headers_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("eins,zwei,sieger\nx,y,x\n")
    data = read(path, format="comparisons", columns={"left": "eins", "right": "zwei", "winner": "sieger"})
    assert lists_of(data) == {("all", "pairs", beats("x", "y")): 1}
