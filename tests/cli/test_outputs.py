"""No command replaces what it reads."""

from pathlib import Path

import pytest

from cli.conftest import DEMO, QRELS, Run

JUDGEMENTS = DEMO.with_name("judgements.csv")
LABELS = ("--labels", "labels.qrels")
RUNS = ("runs/bm25.run", "runs/dense.run")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[Path]) -> None:
    """Runs, labels, a model and judgements in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for path in runs:
        path.rename(Path("runs", path.name))
    Path("labels.qrels").write_text(QRELS)
    Path("g.csv").write_bytes(JUDGEMENTS.read_bytes())
    Path("log.csv").write_text("session,query,item,position,clicked\n1,q,a,1,1\n1,q,b,2,0\n")
    Path("answers.csv").write_text("task,worker,label\n1,ann,yes\n1,ben,no\n")
    Path("link.csv").symlink_to("g.csv")


def content() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("args", "out", "part"),
    [
        (("judge", "--combine", "g.csv", "-o", "g.csv"), "g.csv", ""),
        (("judge", "--combine", "g.csv", "-o", "link.csv"), "link.csv", ""),
        (("judge", "--combine", "g.csv", "--labels", "labels.csv", "-o", "labels.csv"), "labels.csv", ""),
        (("judge", "--agreement", "g.csv", "-o", "./g.csv"), "g.csv", ""),
        (("convert", "g.csv", "g.csv"), "g.csv", ""),
        (("convert", "runs", "runs"), "runs", ""),
        (("convert", RUNS[0], "runs", "--to", "trec-run"), "runs", f" (as part of {RUNS[0]})"),
        (("fuse", *RUNS, "-o", RUNS[1]), RUNS[1], ""),
        (("fuse", "runs", "-o", RUNS[0]), RUNS[0], " (as part of runs)"),
        (("rank", *RUNS, "--method", "rrf", "-o", RUNS[0]), RUNS[0], ""),
        (("fit", *RUNS, *LABELS, "-o", "labels.qrels"), "labels.qrels", ""),
        (("fit", *RUNS, "--valid", "g.csv", *LABELS, "-o", "g.csv"), "g.csv", ""),
        (("evaluate", *RUNS, "--labels", "g.csv", "-o", "g.csv"), "g.csv", ""),
        (("compare", *RUNS, "--labels", "g.csv", "--methods", "rrf", "-o", "g.csv"), "g.csv", ""),
        (("crowd", "answers.csv", "-o", "answers.csv"), "answers.csv", ""),
        (("crowd", "answers.csv", "--next-tasks", "answers.csv"), "answers.csv", ""),
        (("clicks", "log.csv", "-o", "log.csv"), "log.csv", ""),
        (("interleave", "runs", "--format", "csv", "-o", RUNS[0]), RUNS[0], " (as part of runs)"),
        (("interleave", "--log", "log.csv", "-o", "log.csv"), "log.csv", ""),
        (("leaderboard", "g.csv", "-o", "g.csv"), "g.csv", ""),
        (("election", "g.csv", "--matrix", "g.csv"), "g.csv", ""),
        (("explain", "model.json", "-o", "model.json"), "model.json", ""),
        (("export", "model.json", "--to", "json", "-o", "model.json"), "model.json", ""),
    ],
)
def test_what_a_command_reads_is_not_replaced(run: Run, args: tuple[str, ...], out: str, part: str) -> None:
    assert run("fit", *RUNS, *LABELS, "--method", "rrf", "-o", "model.json").code == 0
    Path("labels.csv").write_text("query,item,label\nq01,bread-storage,1\n")
    before = content()
    failed = run(*args)
    assert (failed.code, failed.out) == (2, "")
    said = " ".join(failed.err.replace("│", " ").split())
    assert f"the command also reads {out}{part}, and would replace it; give another name" in said
    assert content() == before


def test_two_results_have_two_files(run: Run) -> None:
    before = content()
    failed = run("crowd", "answers.csv", "-o", "a.csv", "--workers", "./a.csv")
    assert failed.code == 2
    assert "a.csv is the file of --out, too; give another name" in " ".join(failed.err.replace("│", " ").split())
    assert content() == before


def test_earlier_results_are_replaced(run: Run) -> None:
    for _ in range(2):
        assert run("fuse", *RUNS, "-o", "fused.run").code == 0
        assert run("convert", "runs", "elsewhere").code == 0
        assert run("judge", "--combine", "g.csv", "-o", "combined.csv").code == 0
