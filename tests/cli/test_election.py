"""``juryrank election``."""

import json
from pathlib import Path

import pytest

CHOICES = "voter,first,second,third\n" + "".join(
    f"{n},{','.join(order)}\n" for n, order in enumerate(["ABC"] * 4 + ["BCA"] * 3 + ["CAB"] * 2)
)


@pytest.fixture
def ballots(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(CHOICES)
    return path


def test_it_shows_winners_ties_rounds_and_pairs(run, ballots):
    done = run("election", ballots, "--rules", "plurality,irv,borda")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[2].split() == ["plurality", "A", "A", ">", "B", ">", "C"]
    assert lines[4].split()[:5] == ["borda", "A", "and", "B", "tie"]
    assert "There is no Condorcet winner but a cycle: A beats B 6 to 3" in done.out
    assert "irv: rounds" in done.out
    assert "Round 1: C has the fewest first places and is eliminated." in done.out
    assert ["A", "–", "6", "(+3)", "4", "(-1)"] in [line.split() for line in lines]


def test_json_csv_and_html_are_written(run, ballots, tmp_path):
    loaded = json.loads(run("election", ballots, "--rules", "irv", "--json").out)
    assert loaded["results"][0]["winners"] == ["A"]
    assert run("election", ballots, "-o", tmp_path / "result.html", "--quiet").code == 0
    assert "<table>" in (tmp_path / "result.html").read_text()
    csv = run("election", ballots, "--rules", "borda", "--format", "csv").out
    assert csv.splitlines()[:2] == ["rule,rank,candidate,score,winner", "borda,1,A,10.0,True"]
    assert run("election", ballots, "-o", tmp_path / "result.doc").code == 2


def test_the_matrix_is_written_as_csv(run, ballots, tmp_path):
    done = run("election", ballots, "--rules", "borda", "--matrix", tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text().splitlines()[:3] == [
        "candidate,opponent,for,against,margin", "A,B,6,3,3", "A,C,4,5,-1",
    ]  # fmt: skip
    assert "pairs.csv: 3 candidates in pairs" in done.err


def test_the_picture_is_drawn_or_refused_before_the_work(run, ballots, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("election", ballots, "--rules", "borda", "--picture", tmp_path / "pairs.png").code == 0
    assert (tmp_path / "pairs.png").stat().st_size > 1000
    failed = run("election", ballots, "--picture", tmp_path / "pairs.doc")
    assert (failed.code, failed.out) == (2, "")


def test_ties_are_broken_as_declared(run, ballots):
    assert "A and B tie; A wins by name" in run("election", ballots, "--rules", "borda", "--tie-break", "name").out
    assert "A and B tie; B wins by the given order" in run(
        "election", ballots, "--rules", "borda", "--tie-break", "C,B,A"
    ).out  # fmt: skip
    random = [run("election", ballots, "--rules", "borda", "--tie-break", "random", "--seed", 4).out for _ in range(2)]
    assert random[0] == random[1]
    assert "at random" in random[0]


def test_seats_are_filled_by_stv(run, tmp_path):
    path = tmp_path / "votes.txt"
    path.write_text("6: a>b\n1: b>a\n3: c\n2: d>c\n")
    done = run("election", path, "--seats", 2)
    assert "a and c" in done.out
    assert "a reaches the quota of 5" in done.out
    assert "use stv" in run("election", path, "--seats", 2, "--rules", "irv").err


def test_several_elections_are_counted_in_one_run_or_one_of_them_is_chosen(run, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("contest,first,second\nmayor,A,B\nmayor,A,B\nboard,C,D\n")
    found = json.loads(run("election", path, "--rules", "irv", "--json").out)["elections"]
    assert [(each["election"], each["results"][0]["winners"]) for each in found] == [("board", ["C"]), ("mayor", ["A"])]
    assert "board,irv,1,C," in run("election", path, "--rules", "irv", "--format", "csv").out
    done = run("election", path, "--matrix", tmp_path / "m.csv")
    assert (done.code, (tmp_path / "m.csv").exists()) == (1, False)
    assert "the ballots are of 2 elections; choose one with --query: board, mayor" in done.err
    assert json.loads(run("election", path, "--query", "mayor", "--json").out)["ballots"] == 2
    assert run("election", path, "--query", "major").code == 2


def test_an_unclear_file_names_the_options(run, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("voter,A,B\n1,1,2\n2,2,1\n3,1,2\n")
    done = run("election", path)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "use --values rank or --values score with --from ballot-grid" in done.err
    ranked = json.loads(run("election", path, "--values", "rank", "--rules", "copeland", "--json").out)
    scored = json.loads(run("election", path, "--values", "score", "--rules", "copeland", "--json").out)
    assert (ranked["condorcet_winner"], scored["condorcet_winner"]) == ("A", "B")


def test_headers_are_named_by_flags(run, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("fav,next\nA,B\nA,C\nB,\n")
    flags = ("--columns", "choice=fav,choice=next", "--rules", "plurality", "--json")
    assert json.loads(run("election", path, *flags).out)["results"][0]["scores"] == {"A": 2, "B": 1, "C": 0}


def test_what_is_dropped_is_reported_and_refused_with_strict(run, ballots):
    ballots.write_text(CHOICES + "x,,,\ny,A,A,\n")
    done = run("election", ballots, "--rules", "plurality", "--json")
    assert "11 ballots: 1 repeats a candidate, whose best place counts" in done.err
    assert "1 is blank and not counted (line 11)" in done.err
    assert json.loads(done.out)["ballots"] == 10
    assert run("election", ballots, "--strict").code == 1


@pytest.mark.parametrize("args", [["--rules", "ivr"], ["--seats", "0"], ["--tie-break", "coin"], ["--format", "doc"]])
def test_wrong_choices_end_before_the_work(run, tmp_path, args):
    done = run("election", tmp_path / "no-such-file.csv", *args)
    assert (done.code, done.out) == (2, "")


def test_preflib_and_plain_tables_are_ballots_too(run, tmp_path):
    preflib, table = tmp_path / "votes.soc", tmp_path / "votes.csv"
    preflib.write_text("# DATA TYPE: soc\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n3: 1,2\n2: 2,1\n")
    table.write_text("voter,candidate,rank,weight\nx,A,1,3\nx,B,2,3\ny,B,1,2\ny,A,2,2\n")
    one, other = (json.loads(run("election", path, "--json").out) for path in (preflib, table))
    assert one == other
    assert one["pairs"]["counts"] == [[0, 3], [2, 0]]
