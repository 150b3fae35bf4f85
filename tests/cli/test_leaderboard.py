"""``juryrank leaderboard``."""

import json
from pathlib import Path

import pytest

BATTLES = "left,right,winner,expert\n" + "a,b,a,x\na,b,b,y\na,c,a,x\nb,c,tie,y\nc,a,a,y\nb,c,b,x\n" * 5


@pytest.fixture
def battles(tmp_path: Path) -> Path:
    path = tmp_path / "battles.csv"
    path.write_text(BATTLES)
    return path


def test_it_shows_items_from_best_to_worst_and_the_judges(run, battles):
    done = run("leaderboard", battles, "--bootstrap", 20)
    assert done.code == 0
    assert done.out.index(" a ") < done.out.index(" b ") < done.out.index(" c ")
    assert "reliability" in done.out


def test_json_and_csv_have_the_same_numbers(run, battles, tmp_path):
    loaded = json.loads(run("leaderboard", battles, "--bootstrap", 20, "--json").out)
    run("leaderboard", battles, "--bootstrap", 20, "-o", tmp_path / "board.csv")
    first = (tmp_path / "board.csv").read_text().splitlines()[1].split(",")
    assert [row["item"] for row in loaded["items"]] == ["a", "b", "c"]
    assert float(first[2]) == loaded["items"][0]["score"]
    assert [judge["name"] for judge in loaded["judges"]] != []


def test_methods_intervals_and_parameters_are_chosen_by_flags(run, battles):
    flags = ("--method", "bradley-terry", "-p", "ties=davidson", "--interval", "sandwich", "--by", "expert", "--elo")
    loaded = json.loads(run("leaderboard", battles, *flags, "--no-judges", "--json").out)
    assert loaded["interval"] == "sandwich"
    assert loaded["judges"] == []
    assert loaded["items"][0]["score"] > 1000


def test_pictures_are_drawn(run, battles, tmp_path):
    pytest.importorskip("matplotlib")
    done = run(
        "leaderboard", battles, "--interval", "fisher", "--plot", tmp_path / "p.png", "--heatmap", tmp_path / "h.png"
    )
    assert done.code == 0
    assert (tmp_path / "p.png").stat().st_size > 1000
    assert (tmp_path / "h.png").stat().st_size > 1000


def test_wrong_choices_end_with_one_line(run, battles):
    assert run("leaderboard", battles, "--method", "bradly-terry").code == 2
    done = run("leaderboard", battles, "--interval", "guess")
    assert (done.code, done.err.count("\n")) == (1, 1)
