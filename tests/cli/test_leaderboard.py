"""``juryrank leaderboard``."""

import json
import math
import sys
from pathlib import Path

import polars as pl
import pytest

from juryrank import from_orders, leaderboard
from juryrank.progress import show_progress

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


EDGES = {
    "an undefeated item": "a,b,a,1\na,b,a,1\nb,c,b,1\nc,b,c,1\n",
    "groups that never meet": "a,b,a,1\na,b,b,1\nx,y,x,1\n",
    "all ties": "a,b,tie,1\nb,c,tie,1\n",
    "a cycle": "a,b,a,1\nb,c,b,1\nc,a,c,1\n",
    "one game": "a,b,b,1\n",
}


@pytest.mark.parametrize("name", ["bradley-terry", "plackett-luce", "elo", "rank-centrality", "mpm"])
@pytest.mark.parametrize("edge", EDGES)
def test_edges_give_finite_numbers(run, tmp_path, edge, name):
    path = tmp_path / "edge.csv"
    path.write_text("left,right,winner,weight\n" + EDGES[edge])
    done = run("leaderboard", path, "--method", name, "--bootstrap", 10, "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["items"]
    assert all(math.isfinite(row[key]) for row in rows for key in ("score", "low", "high"))
    if edge == "an undefeated item":
        assert rows[0]["item"] == "a"


@pytest.mark.parametrize(
    "text",
    [
        "left,right,winner\n", "left,right,winner\na,a,a\n", "left,right,winner,weight\na,b,a,-1\n",
        "left,right,winner,weight\na,b,a,0\n",
    ],
)  # fmt: skip
def test_no_comparisons_and_impossible_ones_end_with_one_line(run, tmp_path, text):
    path = tmp_path / "edge.csv"
    path.write_text(text)
    done = run("leaderboard", path)
    assert done.code != 0
    assert "Traceback" not in done.err
    assert done.err.startswith("error: ")
    assert len(done.err.strip().splitlines()) == 1


GAMES = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("a", "b"), ("b", "a")]  # winner first
SHAPES = {
    "winner and loser": lambda w, lo: {"winner": w, "loser": lo},
    "chosen and rejected": lambda w, lo: {"chosen": w, "rejected": lo},
    "words": lambda w, lo: {"model_a": lo, "model_b": w, "winner": "model_b"},
    "scores of the left": lambda w, lo: {"player_1": lo, "player_2": w, "result": 0.0},
    "chess": lambda w, lo: {"White": w, "Black": lo, "Result": "1-0"},
    "goals": lambda w, lo: {"home": w, "away": lo, "home_score": 2, "away_score": 1},
}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("shape", SHAPES)
def test_tables_of_every_shape_and_format_give_the_same_board(run, tmp_path, shape, ending):
    path, plain = tmp_path / f"games.{ending}", tmp_path / "plain.csv"
    frame = pl.DataFrame([SHAPES[shape](*game) for game in GAMES])
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](path)
    plain.write_text("left,right,winner\n" + "".join(f"{w},{lo},{w}\n" for w, lo in GAMES))
    boards = [run("leaderboard", file, "--interval", "none", "--format", "csv") for file in (path, plain)]
    assert boards[0].code == 0, boards[0].err
    assert boards[0].out == boards[1].out


def test_columns_for_winner_and_loser_are_named_by_flags(run, tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("sieger,verlierer\na,b\nb,c\n")
    done = run("leaderboard", path, "--columns", "winner=sieger,loser=verlierer", "--interval", "none", "--json")
    assert [row["item"] for row in json.loads(done.out)["items"]] == ["a", "b", "c"]


def test_bad_rows_are_reported_and_refused_with_strict(run, tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text(BATTLES + "a,a,a,x\na,b,,x\na,b,?,x\n")
    done = run("leaderboard", path, "--bootstrap", 10, "--json")
    assert done.code == 0
    assert "3 of 33 comparisons skipped" in done.err
    assert sum(row["games"] for row in json.loads(done.out)["items"]) == 2 * 30
    strict = run("leaderboard", path, "--bootstrap", 10, "--strict")
    assert (strict.code, strict.out) == (1, "")
    assert "of an item with itself (line 32)" in strict.err


def test_fisher_by_expert_says_what_to_use(run, battles):
    done = run("leaderboard", battles, "--interval", "fisher", "--by", "expert")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "use sandwich or bootstrap" in done.err


def test_winners_that_could_mean_two_things_are_explained_in_flags(run, tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("left,right,winner\na,b,1\nb,c,0\n")
    done = run("leaderboard", path)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "use --columns score=winner;" in done.err
    fixed = run("leaderboard", path, "--columns", "score=winner", "--interval", "none", "--json")
    assert {row["item"]: row["wins"] for row in json.loads(fixed.out)["items"]} == {"a": 1, "c": 1, "b": 0}


def test_a_picture_of_an_unknown_format_is_refused(run, battles, tmp_path):
    pytest.importorskip("matplotlib")
    failed = run("leaderboard", battles, "--interval", "fisher", "--plot", tmp_path / "board.doc")
    assert failed.code == 2
    assert "error: no picture format 'doc'; known: " in failed.err


def test_the_command_refuses_an_unknown_picture_before_the_work(run, tmp_path):
    pytest.importorskip("matplotlib")
    battles = tmp_path / "battles.csv"
    battles.write_text("left,right,winner\n$a_b_c$,b,$a_b_c$\nb,$a_b_c$,b\n")
    failed = run("leaderboard", battles, "--plot", tmp_path / "a.xyz")
    assert (failed.code, failed.out) == (2, "")
    assert failed.err.startswith("error: no picture format 'xyz'")
    assert run("leaderboard", battles, "--bootstrap", 20, "--plot", tmp_path / "a.svg", "--quiet").code == 0
    assert (tmp_path / "a.svg").exists()


TASKS = ("arc", "gsm8k", "mmlu")
N_MODELS = 12


def write_models(folder: Path, header: str, row: str) -> list[Path]:
    """A file for each model; the model with the larger number has the larger scores."""
    folder.mkdir()
    paths = [folder / f"m{n:02}.csv" for n in range(N_MODELS)]
    for n, path in enumerate(paths):
        rows = [row.format(model=path.stem, task=task, score=0.05 * n + 0.01 * k) for k, task in enumerate(TASKS)]
        path.write_text("".join(f"{line}\n" for line in (header, *rows)))
    return paths


def test_files_of_one_model_each_that_name_it_are_ranked_as_the_message_says(run, tmp_path):
    files = write_models(tmp_path / "models", "model,task,score", "{model},{task},{score}")
    refused = run("leaderboard", *files)
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    remedy = "--columns item=model,expert=task"
    assert f"to rank each 'model' by each 'task' {remedy}" in refused.err
    board = json.loads(run("leaderboard", *files, *remedy.split(), "--interval", "none", "--json").out)
    assert [row["item"] for row in board["items"]] == [path.stem for path in reversed(files)]
    assert {row["games"] for row in board["items"]} == {(N_MODELS - 1) * len(TASKS)}


def test_items_that_only_their_own_file_ranks_are_no_empty_board(run, tmp_path):
    files = write_models(tmp_path / "models", "item,query,score", "{model},{task},{score}")
    refused = run("leaderboard", *files)
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert "no list has two items (36 lists of 12 items)" in refused.err
    assert "let the tasks be the experts: --columns item=MODEL,expert=TASK" in refused.err
    files[0].write_text(files[0].read_text() + "m01,arc,0.7\n")
    refused = run("leaderboard", *files)
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert "10 of 12 items are in no comparison ('m02', 'm03'," in refused.err
    assert "35 of 36 lists have one item" in refused.err
    board = json.loads(
        run("leaderboard", *files, "--columns", "item=item,expert=query", "--interval", "none", "--json").out
    )
    assert len(board["items"]) == N_MODELS


def test_files_of_tasks_and_scores_are_told_how_to_be_joined(run, tmp_path):
    files = write_models(tmp_path / "models", "task,score", "{task},{score}")
    for given in (files, [tmp_path / "models"]):
        refused = run("leaderboard", *given)
        assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
        assert "each of the 12 files is read as an expert: if each is an item instead" in refused.err
        told = run("leaderboard", *given, "--columns", "item=task", "--interval", "none")
        assert told.code == 0
        assert "12 files are 12 experts, who rank 3 items; if each file is an item instead" in told.err
    quiet = run("leaderboard", *files, "--columns", "item=task", "--interval", "none", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    joined = tmp_path / "all.csv"
    rows = [f"{path.stem},{line}" for path in files for line in path.read_text().splitlines()[1:]]
    joined.write_text("\n".join(["item,expert,score", *rows]))
    board = json.loads(run("leaderboard", joined, "--interval", "none", "--json").out)
    assert [row["item"] for row in board["items"]] == [path.stem for path in reversed(files)]


@pytest.mark.parametrize("method", ["bradley-terry", "borda"])
@pytest.mark.parametrize(
    ("is_terminal", "flags", "bar"), [(True, (), True), (True, ("-q",), False), (False, (), False)]
)
def test_the_resamples_are_a_bar_on_a_terminal(run, battles, monkeypatch, method, is_terminal, flags, bar):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    done = run("leaderboard", battles, "--method", method, "--bootstrap", 120, *flags)
    assert done.code == 0
    assert ("resamples" in done.err, "borda" in done.err) == (bar, False)
    assert "resamples" not in done.out


def test_a_board_of_many_comparisons_is_the_same_with_a_bar():
    data = from_orders([[f"m{i}", f"m{j}"] for i in range(50) for j in range(50) if i != j and (i * j) % 7])
    alone = leaderboard(data, bootstrap=130)
    steps = []
    with show_progress(lambda work, text: (steps.append((text, len(piece))) or piece for piece in work)):
        shown = leaderboard(data, bootstrap=130)
    assert (shown.low.tolist(), shown.worst_rank.tolist()) == (alone.low.tolist(), alone.worst_rank.tolist())
    assert {text for text, _ in steps} == {"resamples"}
    assert sum(size for _, size in steps) == 130


def test_a_table_with_a_row_for_each_model_is_ranked_as_the_messages_say(run, tmp_path):
    rows = [f"m{n},0.{n}1,0.{n + 1}5" for n in range(1, 7)]
    (tmp_path / "one.csv").write_text("\n".join(["model,arc,mmlu", *rows]))
    (tmp_path / "models").mkdir()
    for row in rows:
        (tmp_path / "models" / f"{row[:2]}.csv").write_text(f"model,arc,mmlu\n{row}\n")
    for source in (tmp_path / "one.csv", tmp_path / "models"):
        refused = run("leaderboard", source)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert "if each row is an item, --columns item=HEADER" in refused.err
        chosen = ("--columns", "item=model,expert=arc,expert=mmlu", "--values", "score")
        for flags in (("--columns", "item=model", "--values", "score"), chosen):
            done = run("leaderboard", source, *flags, "--interval", "none", "--json")
            assert done.code == 0, done.err
            board = json.loads(done.out)
            assert [row["item"] for row in board["items"]] == [f"m{n}" for n in range(6, 0, -1)]
            assert sorted(judge["name"] for judge in board["judges"]) == ["arc", "mmlu"]
