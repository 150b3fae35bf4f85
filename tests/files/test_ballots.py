"""Ballots as people have them: a column per place, orders as strings, a column per candidate; good, bad and unclear."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from juryrank.data import Dataset
from juryrank.data.build import from_orders
from juryrank.errors import DataError, DataWarning
from juryrank.io import read, write

from .sameness import lists_of, slots_of

Ballot = tuple[float, dict[str, float]]


def ballots(data: Dataset) -> list[Ballot]:
    """Weight and ranks of each list, in the order of the ballots' numbers or names."""
    r = data.rankings
    names = r.items[r.slot_item]
    spans = [slice(r.entry_ptr[m], r.entry_ptr[m + 1]) for m in range(r.n_lists)]
    ranks = [dict(zip(names[r.entry_slot[s]], r.entry_rank[s].tolist(), strict=True)) for s in spans]
    return list(zip(r.list_weight.tolist(), ranks, strict=True))


def file(folder: Path, content: str | bytes, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


SAME: list[Ballot] = [(1.0, {"Ada": 1.0, "Bo": 2.0, "Cy": 3.0}), (1.0, {"Bo": 1.0, "Ada": 2.0}), (1.0, {"Cy": 1.0})]
SHAPES = {
    "columns first, second, third": "first,second,third\nAda,Bo,Cy\nBo,Ada,\nCy,,\n",
    "columns of a form": "Timestamp,First choice,2nd choice,Third choice\n9:00,Ada,Bo,Cy\n9:01,Bo,Ada,\n9:02,Cy,,\n",
    "numbered choices": "choice_1,choice_2,choice_3\nAda,Bo,Cy\nBo,Ada,\nCy,,\n",
    "columns in another order": "2nd,1st,3rd\nBo,Ada,Cy\nAda,Bo,\n,Cy,\n",
    "a grid of places": "Vote [1st choice],Vote [2nd choice],Vote [3rd choice]\nAda,Bo,Cy\nBo,Ada,\nCy,,\n",
    "a grid of candidates": "Time,Rank these [Ada],Rank these [Bo],Rank these [Cy]\nx,1,2,3\ny,2,1,\nz,,,1\n",
    "ordinals": "Who? [Ada],Who? [Bo],Who? [Cy]\n1st,2nd,3rd\nSecond choice,First choice,\n,n/a,1st\n",
    "candidates without a question": "voter,Ada,Bo,Cy\n1,1st,2nd,3rd\n2,2nd,1st,\n3,,,1st\n",
    "strings": "Ada>Bo>Cy\nBo > Ada\nCy\n",
    "strings in a column": "voter,ballot\n1,Ada>Bo>Cy\n2,Bo>Ada\n3,Cy\n",
    "strings with counts": "1: Ada>Bo>Cy\n1: Bo>Ada\n1: Cy\n",
    "strings under a header": "ranking\nAda>Bo>Cy\nBo>Ada\nCy\n",
}


@pytest.mark.filterwarnings("ignore:.*columns? (is|are) not used")
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_recognised_and_has_the_same_ballots(shape: str, tmp_path: Path) -> None:
    assert ballots(read(file(tmp_path, SHAPES[shape]))) == SAME


DAMAGES = {
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "Windows line ends": lambda text: text.replace("\n", "\r\n").encode(),
    "blank lines": lambda text: (text.replace("\n", "\n\n") + "\n\n").encode(),
    "blanks around cells": lambda text: text.replace("Bo", " Bo ").encode(),
}


@pytest.mark.filterwarnings("ignore:.*columns? (is|are) not used")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("shape", ["columns of a form", "a grid of candidates", "strings", "strings in a column"])
def test_marks_and_line_ends_of_other_programs_change_nothing(shape: str, damage: str, tmp_path: Path) -> None:
    assert ballots(read(file(tmp_path, DAMAGES[damage](SHAPES[shape])))) == SAME


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    "shape", ["columns first, second, third", "candidates without a question", "strings in a column"]
)
def test_semicolons_and_tabs_separate_columns_too(shape: str, separator: str, tmp_path: Path) -> None:
    assert ballots(read(file(tmp_path, SHAPES[shape].replace(",", separator)))) == SAME


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_quoted_comma_belongs_to_the_name(separator: str, tmp_path: Path) -> None:
    wide = f'"Rank, please [Lee, A]"{separator}"Rank, please [Moe, B]"\n1{separator}2\n'
    rows = f'first{separator}second\n"Lee, A"{separator}"Moe, B"\n'
    expected = [(1.0, {"Lee, A": 1.0, "Moe, B": 2.0})]
    assert ballots(read(file(tmp_path, wide))) == expected
    assert ballots(read(file(tmp_path, rows))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "count,first,second\n3,A,B\n0.5,B,A\n", "n,A,B\n3,1st,2nd\n0.5,2nd,1st\n", "3: A>B\n0.5: B>A\n",
        "A>B, 3\nB>A, 0.5\n", "3;A>B\n0.5;B>A\n", "count,order\n3,A>B\n0.5,B>A\n",
    ],
)  # fmt: skip
def test_a_count_is_the_weight_of_a_ballot(text: str, tmp_path: Path) -> None:
    assert ballots(read(file(tmp_path, text))) == [(3.0, {"A": 1.0, "B": 2.0}), (0.5, {"B": 1.0, "A": 2.0})]


def test_equal_signs_are_ties_and_comments_are_skipped(tmp_path: Path) -> None:
    path = file(tmp_path, "# lunch\n2: soup=salad>bread\n1: bread>soup\n", "lunch.txt")
    assert ballots(read(path)) == [(2.0, {"salad": 1.0, "soup": 1.0, "bread": 3.0}), (1.0, {"bread": 1.0, "soup": 2.0})]


FINDINGS = {
    "a blank ballot": ("first,second\nA,B\n,\n", "2 ballots: 1 is blank and not counted (line 3)", 1),
    "words for blank": ("first,second\nA,B\nundervote,skipped\nn/a,-\n", "2 are blank and not counted (first line", 1),
    "a candidate twice": ("first,second,third\nA,B,A\n", "1 repeats a candidate, whose best place counts (line 2)", 1),
    "one ballot": ("first,second\nA,A\n", "votes.csv: 1 ballot: 1 repeats a candidate", 1),
    "a skipped place": ("first,second,third\nA,,B\n", "1 skips a place, and later choices move up (line 2)", 1),
    "a skipped rank": ("Rank [A],Rank [B],Rank [C]\n1,3,\n", "1 skips a rank, and later ones move up (line 2)", 1),
    "an overvote": ("first,second\novervote,A\nA,B\n", "1 has an overvote, passed over (line 2)", 2),
    "equal ranks": ("Rank [A],Rank [B]\n1,1\n1,2\n", "1 has the same rank for several candidates, read as a tie", 2),
    "two in a cell": ('first,second\nA,B\n"A, B",\n', "1 has two or more candidates in one cell, read as a", 2),
    "an unknown word": ("Rank [A],Rank [B]\n1,?!\n1,2\n", "1 has a word that is not understood, such as '?!', read", 2),
    "a voter twice": ("voter,first,second\nx,A,B\nx,B,A\n", "voter 'x' has 2 ballots, and all are counted", 2),
    "similar names": ("first,second\nAnn,ann\n", "names that differ only in case or blanks are different", 1),
    "nothing between signs": ("A>B\nA>>B\n", "1 has nothing between two signs, passed over (line 2)", 2),
    "another column": ("first,second,precinct\nA,B,7\n", "a column is not used: 'precinct'", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", FINDINGS)
def test_what_is_dropped_or_repaired_is_counted_in_one_warning(case: str, tmp_path: Path) -> None:
    text, message, n_lists = FINDINGS[case]
    path = file(tmp_path, text)
    options = {"format": "ballot-orders"} if case == "nothing between signs" else {}
    with pytest.warns(DataWarning) as caught:
        data = read(path, **options)
    assert any(message in str(warning.message) for warning in caught)
    assert data.rankings.n_lists == n_lists
    with pytest.raises(DataError, match="refused because strict"):
        read(path, strict=True, **options)


def test_what_moves_up_leaves_no_gap_and_the_best_place_counts(tmp_path: Path) -> None:
    with pytest.warns(DataWarning):
        assert ballots(read(file(tmp_path, "1st,2nd,3rd,4th\nA,,B,A\n"))) == [(1.0, {"A": 1.0, "B": 2.0})]
    with pytest.warns(DataWarning):
        data = read(file(tmp_path, 'first,second,third\nA,B,C\n"B, C",,A\n'))
    assert ballots(data)[1] == (1.0, {"B": 1.0, "C": 1.0, "A": 3.0})


UNCLEAR = {
    "numbers under candidates": ("voter,A,B\n1,1,2\n2,2,1\n", "use values='rank' or values='score' with format"),
    "numbers alone": ("A,B\n1,2\n2,1\n", "may be ranks"),
    "ratings of a form": ("Rate [A],Rate [B]\n5,3\n2,1\n", "may be ranks"),
    "rows that may be candidates": ("name,A,B\nx,1,2\ny,2,1\n", "format='ballot-choices', 'ballot-grid' or"),
    "ranks by judges": ("name,rank 1,rank 2\nx,1,2\ny,2,1\n", "'ballot-grid'"),
    "names without places": ("A,B,C\nB,A,C\n", "'ballot-choices'"),
    "two grids in one form": ("Mayor [A],Mayor [B],Board [C],Board [D]\n1st,2nd,1st,2nd\n", "'ballot-grid'"),
    "a missing place": ("first,third\nA,B\n", "'ballot-choices'"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNCLEAR)
def test_an_unclear_file_is_not_guessed(case: str, tmp_path: Path) -> None:
    text, hint = UNCLEAR[case]
    with pytest.raises(DataError) as caught:
        read(file(tmp_path, text))
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_of_names_is_no_competitor(tmp_path: Path) -> None:
    path = file(tmp_path, "name,Ann,Bob,Cy\nJo,1,2,\nJi,2,1,\n")
    with pytest.warns(DataWarning, match="a column is not used: 'name'"):
        data = read(path, format="ballot-grid", values="rank")
    assert sorted(data.rankings.items) == ["Ann", "Bob", "Cy"]


@pytest.mark.parametrize(("name", "head"), [("votes.xlsx", b"PK\x03\x04\0"), ("votes.xls", b"\xd0\xcf\x11\xe0\0")])
def test_a_workbook_is_saved_as_csv_first(name: str, head: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(head)
    with pytest.raises(DataError, match="a workbook of a spreadsheet is not read; save its sheet as CSV"):
        read(tmp_path / name)


def test_values_say_what_numbers_are(tmp_path: Path) -> None:
    path = file(tmp_path, "voter,A,B,C\nx,1,2,\ny,3,1,2\n")
    assert ballots(read(path, values="rank")) == [
        (1.0, {"A": 1.0, "B": 2.0}), (1.0, {"B": 1.0, "C": 2.0, "A": 3.0}),
    ]  # fmt: skip
    scored = read(path, values="score")
    assert scored.rankings.entry_score is not None
    assert ballots(scored) == [(1.0, {"B": 1.0, "A": 2.0}), (1.0, {"A": 1.0, "C": 2.0, "B": 3.0})]
    with pytest.raises(DataError, match="values must be 'rank' or 'score'"):
        read(path, values="points")


def test_columns_name_what_headers_do_not(tmp_path: Path) -> None:
    path = file(tmp_path, "who,fav,next\nx,A,B\ny,B,\n")
    expected = [(1.0, {"A": 1.0, "B": 2.0}), (1.0, {"B": 1.0})]
    data = read(path, columns={"choice": ["fav", "next"], "expert": "who"})
    assert (ballots(data), data.experts) == (expected, ("x", "y"))
    wide = file(tmp_path, "name,age,A,B\nx,34,1,2\ny,51,,1\n")
    with pytest.warns(DataWarning, match="a column is not used: 'age'"):
        data = read(wide, columns={"item": ["A", "B"], "expert": "name"}, values="rank")
    assert ballots(data) == expected
    strings = file(tmp_path, "date,told\nx,A>B\ny,B\n")
    assert ballots(read(strings, columns={"order": "told"})) == expected


def test_columns_without_a_header_are_numbered(tmp_path: Path) -> None:
    path = file(tmp_path, "A,B,C\nB,A,\n")
    data = read(path, columns={"choice": ["1", "2", "3"]})
    assert ballots(data) == [(1.0, {"A": 1.0, "B": 2.0, "C": 3.0}), (1.0, {"B": 1.0, "A": 2.0})]


ERRORS = {
    "a rank above the number of candidates": (
        "Rank [A],Rank [B]\n1,2\n1,7\n", {}, "votes.csv:3: expected a rank from 1 to 2 in column 'Rank [B]' (not '7')",
    ),
    "the rank 0": ("Rank [A],Rank [B]\n0,1\n", {}, "votes.csv:2: expected a rank from 1 to 2 in column 'Rank [A]'"),
    "words": ("A,B\nx,y\n", {"format": "ballot-grid", "values": "rank"}, ":2: expected a rank such as 1 or 1st"),
    "no choices": ("x,y\n1,2\n", {"format": "ballot-choices"}, "use columns={'choice': ['HEADER', 'HEADER']}"),
    "no orders": ("x,y\n1,2\n", {"format": "ballot-orders"}, "use columns={'order': 'HEADER'}"),
    "a lacking count": ("3: A>B\nB>A\n", {}, "votes.csv:2: expected a count, as other lines have: 3: A>B=C>D"),
    "a negative count": ("-3: A>B\n2: B>A\n", {}, "votes.csv:1: expected a count, which must be a finite number >= 0"),
    "a count that is no number": ("3: A>B\n1.5.2: B\n", {}, "votes.csv:2: expected a count, as other lines have"),
    "twice in an order": ("A>B\nA>B>A\n", {}, "votes.csv:2: expected every candidate once in an order, and 'A'"),
    "a count that is a word": ("count,first,second\nmany,A,B\n", {}, ":2: expected a number in column 'count'"),
    "nothing": ("first,second\n,\n", {}, "no ballot has a choice"),
    "an unknown column": ("first,second\nA,B\n", {"columns": {"choice": ["x"]}}, "no column 'x'; columns are 'first'"),
    "one candidate twice": ("Rank [A],Rank [A ]\n1,2\n", {}, "several columns are of one candidate"),
    "an option of others": ("A>B\nB>A\n", {"values": "rank"}, "values= does not apply to the format ballot-orders"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*ballot")
@pytest.mark.parametrize("case", ERRORS)
def test_an_error_says_what_and_where(case: str, tmp_path: Path) -> None:
    text, options, message = ERRORS[case]
    with pytest.raises(DataError) as caught:
        read(file(tmp_path, text), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("query,item,rank1,rank2\nq,a,1,2\nq,b,2,1\n", "item"),
        ("left,right,winner\na,b,a\n", "comparisons"),
        ("user,item,rating\nu,a,1\n", "item"),
        ("item,expert,rank\na,x,1\nb,x,2\n", "item"),
        ("id,bm25,dense\na,1.5,2\nb,2,1\n", "item"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*one column per expert")
def test_other_tables_stay_what_they_are(text: str, kind: str, tmp_path: Path) -> None:
    names = {name for _, name in slots_of(read(file(tmp_path, text)))}
    assert names <= {"a", "b"}, kind


def test_dataframes_have_the_same_shapes() -> None:
    choices = pl.DataFrame({"First choice": ["Ada", "Bo", "Cy"], "Second choice": ["Bo", "Ada", None]})
    assert ballots(read(choices)) == [
        (1.0, {"Ada": 1.0, "Bo": 2.0}),
        (1.0, {"Bo": 1.0, "Ada": 2.0}),
        (1.0, {"Cy": 1.0}),
    ]
    grid = pl.DataFrame({"voter": ["x", "y"], "A": [1.0, 2.0], "B": [2.0, None]})
    with pytest.warns(DataWarning, match="skips a rank"):
        assert ballots(read(grid, values="rank")) == [(1.0, {"A": 1.0, "B": 2.0}), (1.0, {"A": 1.0})]
    assert ballots(read(pl.DataFrame({"n": [2, 1], "ballot": ["A>B", "B=A>C"]})))[0] == (2.0, {"A": 1.0, "B": 2.0})


def test_a_column_of_contests_gives_one_query_each(tmp_path: Path) -> None:
    data = read(file(tmp_path, "contest,first,second\nmayor,A,B\nboard,C,D\n"))
    assert data.queries == ("board", "mayor")


def test_two_files_of_ballots_are_one_election(tmp_path: Path) -> None:
    paths = [file(tmp_path, "first,second\nA,B\n", "north.csv"), file(tmp_path, "first,second\nB,A\n", "south.csv")]
    assert sorted(map(str, ballots(read(paths)))) == sorted(
        map(str, [(1.0, {"A": 1.0, "B": 2.0}), (1.0, {"B": 1.0, "A": 2.0})])
    )


def test_a_candidate_that_nobody_ranks_has_a_slot(tmp_path: Path) -> None:
    assert ("all", "C") in slots_of(read(file(tmp_path, "Rank [A],Rank [B],Rank [C]\n1,2,\n2,1,\n")))


@pytest.mark.parametrize(("format_name", "name"), [
    ("ballot-orders", "a.txt"), ("ballot-orders", "a.csv"), ("ballot-grid", "a.csv"), ("ballot-grid", "a.parquet"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*read as a tie")
def test_what_is_written_reads_back(format_name: str, name: str, tmp_path: Path) -> None:
    data = from_orders([["x", ("y", "z, a")], ["y"], ["z, a", "x", "y"]], weights=[3, 1, 2.5])
    write(data, tmp_path / name, format_name)
    found = read(tmp_path / name)
    assert lists_of(found, experts=False) == lists_of(data, experts=False)


def test_choices_are_written_unless_there_are_ties(tmp_path: Path) -> None:
    data = from_orders([["x", "y"], ["y"]], weights=[3, 1])
    write(data, tmp_path / "a.csv", "ballot-choices")
    assert (tmp_path / "a.csv").read_text() == "count,choice 1,choice 2\n3,x,y\n1,y,\n"
    assert lists_of(read(tmp_path / "a.csv"), experts=False) == lists_of(data, experts=False)
    with pytest.raises(DataError, match="write ballot-orders instead"):
        write(from_orders([[("x", "y")]]), tmp_path / "b.csv", "ballot-choices")
    with pytest.raises(DataError, match="cannot represent a name with > or ="):
        write(from_orders([["x>y", "z"]]), tmp_path / "b.txt", "ballot-orders")


NAMES = ["Ann", "de Vries, J.", "O'Neil; Pat", "Zoë Ünal", "李雷", "A|B", "No. 7", 'the "Duke"', "Nobody [yet]"]


@pytest.mark.filterwarnings("ignore:.*read as a tie")
@pytest.mark.parametrize(("format_name", "endings"), [
    ("ballot-orders", ["txt", "csv", "tsv", "ndjson"]), ("ballot-choices", ["csv", "tsv", "parquet"]),
    ("ballot-grid", ["csv", "tsv", "ndjson"]),
])  # fmt: skip
def test_random_elections_with_odd_names_read_back(format_name: str, endings: list[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for n in range(12):
        usable = [name for name in NAMES if format_name != "ballot-orders" or '"' not in name]
        names = rng.permutation(usable)[: rng.integers(2, 7)].tolist()
        orders: list[list[object]] = [names] if rng.random() < 0.5 else [names[::-1]]
        for _ in range(int(rng.integers(3, 9))):
            ranked = rng.permutation(names)[: rng.integers(1, len(names) + 1)].tolist()
            tied = format_name != "ballot-choices" and len(ranked) > 2 and rng.random() < 0.4
            orders.append([ranked[0], tuple(ranked[1:3]), *ranked[3:]] if tied else ranked)
        data = from_orders(orders, weights=rng.integers(1, 5, len(orders)).tolist())
        path = tmp_path / f"{n}.{endings[n % len(endings)]}"
        write(data, path, format_name)
        found = read(path, format=format_name)
        expected = lists_of(data, experts=False, gaps=False)
        assert lists_of(found, experts=False, gaps=False) == expected, path.read_text()
