"""``juryrank fuse`` and ``juryrank rank``."""

from pathlib import Path

import pytest

import juryrank
from cli.conftest import DEMO, Outcome, Run, items


def test_fuse_prints_a_trec_run(run: Run, runs: list[Path]) -> None:
    fused = run("fuse", *runs)
    assert (fused.code, fused.err) == (0, "")
    assert items(fused.out) == {"1": ["b", "c", "a"], "2": ["x", "y"]}
    assert float(fused.out.split()[4]) == pytest.approx(1 / 62 + 1 / 61)


def test_fuse_writes_the_same_run_that_it_prints(run: Run, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "fused.run"
    written = run("fuse", *runs, "-o", out)
    assert (written.code, written.out) == (0, "")
    assert written.err.startswith(f"{out}: 2 queries")
    assert items(out.read_text()) == items(run("fuse", *runs).out)


def test_quiet_says_nothing(run: Run, runs: list[Path], tmp_path: Path) -> None:
    assert run("fuse", *runs, "-o", tmp_path / "fused.run", "--quiet") == Outcome(0, "", "")


def test_fuse_writes_a_table_when_the_ending_says_so(run: Run, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "fused.csv"
    assert run("fuse", *runs, "-o", out).code == 0
    header, first, *_ = out.read_text().splitlines()
    assert header.split(",")[:2] == ["query", "item"]
    assert first.split(",")[:2] == ["1", "b"]


def test_weights_and_parameters_reach_the_method(run: Run, runs: list[Path]) -> None:
    fused = run("fuse", *runs, "--weights", "bm25=2,dense=0", "-p", "k=10")
    assert float(fused.out.split()[4]) == pytest.approx(2 / 11)
    assert items(fused.out)["1"] == ["a", "b", "c"]


def test_a_weight_for_a_stranger_is_one_line_of_warning(run: Run, runs: list[Path]) -> None:
    warned = run("fuse", *runs, "--weights", "splade=2")
    assert warned.code == 0
    assert warned.err == "warning: rrf: weights for experts that are not in the data: splade; known: bm25, dense\n"


@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        (["-p", "k=-5"], 1, "error: k of RRF must be > "),
        (["-p", "k=many"], 1, "error: k of RRF must be a number, got 'many'\n"),
        (["-p", "j=1"], 1, "error: rrf has no parameter 'j'; it has"),
        (["--weights", "bm25=-1"], 1, "error: weight of expert 'bm25' must be"),
    ],
)
def test_a_wrong_parameter_is_one_line_without_traceback(
    run: Run, runs: list[Path], args: list[str], code: int, complaint: str
) -> None:
    failed = run("fuse", *runs, *args)
    assert (failed.code, failed.out) == (code, "")
    assert failed.err.startswith(complaint)
    assert failed.err.count("\n") == 1


def test_rank_equals_the_library(run: Run) -> None:
    data = juryrank.read(DEMO)
    ranked = run("rank", DEMO, "--method", "rrf", "-p", "missing=last")
    expected = juryrank.method("rrf", missing="last").fit(data).predict(data).top(1000)
    assert items(ranked.out) == expected


def test_fuse_in_little_memory_prints_the_same(run: Run, runs: list[Path], tmp_path: Path) -> None:
    whole = run("fuse", *runs, "-o", tmp_path / "whole.run")
    part = run("fuse", *runs, "--memory", "50MB", "-o", tmp_path / "part.run")
    assert (whole.code, part.code) == (0, 0)
    assert (tmp_path / "whole.run").read_bytes() == (tmp_path / "part.run").read_bytes()
    assert part.err.replace("part", "whole") == whole.err


@pytest.mark.parametrize("size", ["much", "5XB", "MB", "inf", "infGB", "nan", "-5MB", "0", "0.1"])
def test_a_size_that_is_none_is_said(size: str, run: Run, runs: list[Path]) -> None:
    told = run("fuse", *runs, f"--memory={size}")
    assert told.code == 2
    assert "a size is a number" in told.err


@pytest.mark.parametrize("command", [["fuse"], ["rank", "--method", "rrf"], ["fuse", "--memory", "1MB"]], ids=str)
def test_top_and_tag_cut_and_name_a_run(run: Run, runs: list[Path], tmp_path: Path, command: list[str]) -> None:
    whole = run(*command, *runs).out.splitlines()
    best = [line.replace(" juryrank", " ours") for line in whole if int(line.split()[3]) <= 2]
    assert 0 < len(best) < len(whole)
    assert run(*command, *runs, "--top", 2, "--tag", "ours").out.splitlines() == best
    written = run(*command, *runs, "--top", 2, "--tag", "ours", "-o", tmp_path / "out.run")
    assert written.err == f"{tmp_path / 'out.run'}: 2 queries, {len(best)} items ranked by rrf\n"
    assert (tmp_path / "out.run").read_text().splitlines() == best


def test_top_cuts_a_table_and_a_tag_is_refused_there(run: Run, runs: list[Path], tmp_path: Path) -> None:
    assert run("fuse", *runs, "--top", 1, "-o", tmp_path / "out.csv").code == 0
    assert [line.split(",")[:3] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]] == [
        ["1", "b", "1"], ["2", "x", "1"],
    ]  # fmt: skip
    refused = run("fuse", *runs, "--tag", "ours", "-o", tmp_path / "other.csv")
    assert (refused.code, "--tag does not apply to the format table" in refused.err) == (1, True)
    assert not (tmp_path / "other.csv").exists()


@pytest.mark.parametrize("args", [["--top", "0"], ["--top", "many"], ["--tag", "two words"], ["--tag", ""]])
def test_a_wrong_top_or_tag_is_wrong_usage(run: Run, runs: list[Path], args: list[str]) -> None:
    failed = run("fuse", *runs, *args)
    assert (failed.code, failed.out) == (2, "")
    assert args[0] in failed.err


@pytest.fixture
def tied_runs(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "x.run", tmp_path / "y.run"]
    paths[0].write_text("q Q0 a 1 3 x\nq Q0 b 2 2 x\nq Q0 c 3 1 x\n")
    paths[1].write_text("q Q0 b 1 3 y\nq Q0 a 2 2 y\nq Q0 c 3 1 y\n")
    return paths


@pytest.mark.parametrize("memory", [[], ["--memory", "50MB"]])
@pytest.mark.parametrize(
    ("args", "ranks"),
    [
        ([], ["a 1", "b 1", "c 3"]),
        (["--tie-break", "none"], ["a 1", "b 1", "c 3"]),
        (["--tie-break", "name"], ["a 1", "b 2", "c 3"]),
        (["--tie-break", "c,b,a"], ["b 1", "a 2", "c 3"]),
        (["--top", "1"], ["a 1"]),
    ],
)
def test_tied_items_share_a_rank_unless_a_rule_breaks_the_tie(
    run: Run, tied_runs: list[Path], args: list[str], ranks: list[str], memory: list[str]
) -> None:
    fused = run("fuse", *tied_runs, *args, *memory)
    assert (fused.code, fused.err) == (0, "")
    assert [" ".join(line.split()[2:4]) for line in fused.out.splitlines()] == ranks


def test_ties_are_drawn_by_the_seed(run: Run, tied_runs: list[Path]) -> None:
    drawn = {run("fuse", *tied_runs, "--tie-break", "random", "--seed", seed).out.split()[2] for seed in range(20)}
    assert drawn == {"a", "b"}


@pytest.mark.parametrize("memory", [[], ["--memory", "50MB"]])
def test_an_order_for_ties_that_leaves_an_item_out_is_one_line(
    run: Run, tied_runs: list[Path], memory: list[str]
) -> None:
    failed = run("fuse", *tied_runs, "--tie-break", "a,c", *memory)
    assert (failed.code, failed.out) == (1, "")
    expected = "the order for breaking ties must name every tied item; query 'q' ties 'b', which it leaves out"
    assert failed.err == f"error: {expected}\n"


def test_a_rule_for_ties_that_does_not_exist_is_refused(run: Run, tied_runs: list[Path]) -> None:
    assert "none, name, random, or names of items" in run("fuse", *tied_runs, "--tie-break", "names").err
