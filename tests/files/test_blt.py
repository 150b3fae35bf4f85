"""BLT, the format in which elections by STV are exchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

import juryrank
from juryrank.errors import DataError, DataWarning

# The example of Hill, Wichmann and Woodall (Computer Journal 1987), with a title of our own.
EXAMPLE = """\
4 2
-2
3 1 3 4 0
4 1 3 2 0
2 4 1 3 0
1 2 0
2 2 4 3 1 0
1 3 4 2 0
0
"Adam"
"Basil"
"Charlotte"
"Donald"
"Committee"
"""
WARD = """\
# a ward, as counting programs export it
3 1
(b1) 3 1 2=3 0
(b2) 2 2 - 3 0   # a place left out
1 3 3 1 0
1 0
0
"Ann, A" "Red"  # candidate 1
"Bob \u00c9" "Blue"
"Cy #3" "Green"
"Committee"
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def ballots(data: juryrank.Dataset) -> dict[tuple[tuple[str, ...], ...], float]:
    """Places from best to worst, and how many ballots have them."""
    r = data.rankings
    out: dict[tuple[tuple[str, ...], ...], float] = {}
    for m in range(r.n_lists):
        places: dict[float, list[str]] = {}
        for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            places.setdefault(r.entry_rank[e], []).append(str(r.items[r.slot_item[r.entry_slot[e]]]))
        key = tuple(tuple(sorted(places[rank])) for rank in sorted(places))
        out[key] = out.get(key, 0) + r.list_weight[m]
    return out


def test_the_example_of_its_authors(tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match="withdrawn and left out: Basil; 1 ballot without a candidate, not counted"):
        data = juryrank.read(write(tmp_path / "a.blt", EXAMPLE))
    assert (data.queries, dict(data.seats)) == (("Committee",), {"Committee": 2})
    assert ballots(data) == {
        (("Adam",), ("Charlotte",), ("Donald",)): 3,
        (("Adam",), ("Charlotte",)): 4,
        (("Donald",), ("Adam",), ("Charlotte",)): 2,
        (("Donald",), ("Charlotte",), ("Adam",)): 2,
        (("Charlotte",), ("Donald",)): 1,
    }
    assert juryrank.election(data).seats == 2
    assert juryrank.election(data, "irv", seats=1)["irv"].winners == ("Adam",)


def test_it_may_be_one_line_per_word_or_without_the_last_zero(tmp_path: Path) -> None:
    data = []
    names = '"Adam" "Basil" "Charlotte" "Donald" "Committee"'
    head = EXAMPLE[: EXAMPLE.index('"Adam"')]
    for n, text in enumerate([head + names, EXAMPLE.replace(" 0\n", "\n"), EXAMPLE.replace("\n", "\r\n")]):
        with pytest.warns(DataWarning, match="withdrawn"):
            data.append(ballots(juryrank.read(write(tmp_path / f"{n}.blt", text))))
    assert data[0] == data[1] == data[2]
    with pytest.warns(DataWarning, match="withdrawn"):
        assert ballots(juryrank.read(write(tmp_path / "named.txt", EXAMPLE))) == data[0]


def test_what_counting_programs_added_is_read_and_reported(tmp_path: Path) -> None:
    with pytest.warns(DataWarning) as told:
        data = juryrank.read(write(tmp_path / "ward.blt", WARD))
    assert [str(each.message).partition(": ")[2] for each in told] == [
        "1 line of ballots: a candidate twice, and the first place counts; 1 line of ballots: a place left out, and "
        "later candidates move up; 1 ballot without a candidate, not counted"
    ]
    ann, bob, cy = "Ann, A Red", "Bob \u00c9 Blue", "Cy #3 Green"
    assert ballots(data) == {((ann,), (bob, cy)): 3, ((bob,), (cy,)): 2, ((cy,), (ann,)): 1}


@pytest.mark.filterwarnings("ignore::juryrank.DataWarning")
def test_whole_contests_are_counted_in_one_run_each_with_its_seats(tmp_path: Path) -> None:
    first, second = write(tmp_path / "north.blt", EXAMPLE), write(tmp_path / "south.blt", WARD)
    found = juryrank.elections(juryrank.read([first, second]), "stv:rules=scottish")
    assert {name: each.seats for name, each in found.results.items()} == {
        "Committee (north)": 2,
        "Committee (south)": 1,
    }
    assert found["Committee (north)"]["stv:rules=scottish"].winners == ("Adam", "Donald")


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    with pytest.warns(DataWarning):
        data = juryrank.read(write(tmp_path / "a.blt", WARD))
    juryrank.write(data, tmp_path / "b.blt")
    again = juryrank.read(tmp_path / "b.blt")
    assert (again.queries, dict(again.seats), ballots(again)) == (data.queries, dict(data.seats), ballots(data))
    plain = juryrank.from_orders([["x", "y"], ["y"]], weights=[2, 1])
    juryrank.write(plain, tmp_path / "c.blt")
    assert (tmp_path / "c.blt").read_text().splitlines()[0] == "2 1"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3 1 3 4 0", "3 1 5 4 0", ":3: expected a candidate from 1 to 4 in place of '5'"),
        ("3 1 3 4 0", "3 1 x 4 0", ":3: expected a candidate from 1 to 4 in place of 'x'"),
        ("3 1 3 4 0", "x 1 3 4 0", ":3: expected how often this ballot was cast"),
        ("4 2", "4 two", ":1: expected the number of seats"),
        ("4 2", "4 0", ":1: expected 1 to 100000 candidates and at least one seat"),
        ("4 2", "4 4", "4 seats are more than the 3 candidates"),
        ('"Charlotte"\n"Donald"\n"Committee"\n', "", "4 candidates (line 1) and 2 names after the 0"),
        ('0\n"Adam"', '"Adam"', ":9: expected how often this ballot was cast"),
    ],
)
def test_an_error_says_what_and_where(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as told:
        juryrank.read(write(tmp_path / "a.blt", EXAMPLE.replace(old, new, 1)))
    assert message in str(told.value)


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"0 after the last ballot \(the file ends here\)"):
        juryrank.read(write(tmp_path / "a.blt", "2 1\n3 1 2 0\n"))
