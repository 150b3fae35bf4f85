"""No command replaces what it reads, nor what people have entered."""

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


RESULTS = (
    ("judge", "--combine", "g.csv", "-o"),
    ("clicks", "log.csv", "--examination", "1,0.5", "-o"),
    ("crowd", "answers.csv", "-o"),
    ("crowd", "answers.csv", "--next-tasks"),
    ("interleave", "runs", "-o"),
)


@pytest.mark.parametrize("args", RESULTS)
@pytest.mark.parametrize(
    ("old", "found"),
    [
        ("query,item,label\n1,a,2\n", "1 row with the columns 'query', 'item', 'label'"),
        ("1 0 a 2\n", "0 rows with the columns '1 0 a 2'"),
        ("\n", "no table that can be read"),
    ],
)
def test_a_result_does_not_replace_a_table_of_another_kind(
    run: Run, args: tuple[str, ...], old: str, found: str
) -> None:
    Path("out.csv").write_text(old)
    failed = run(*args, "out.csv")
    assert (failed.code, failed.out, failed.err.count("\n")) == (1, "", 1)
    assert (
        f"out.csv: the result would replace this file ({found}), and only a table with just the columns" in failed.err
    )
    assert failed.err.endswith("is replaced; give another name, or move the file\n")
    assert Path("out.csv").read_text() == old


@pytest.mark.parametrize("args", RESULTS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "parquet"])
def test_a_result_replaces_an_earlier_one_but_not_with_a_column_that_was_added(
    run: Run, args: tuple[str, ...], ending: str
) -> None:
    out = f"out.{ending}"
    Path(out).touch()
    for _ in range(3):
        assert run(*args, out).code == 0
    if ending == "csv":
        lines = Path(out).read_text().splitlines()
        checked = "\n".join([f"{lines[0]},checked", *(f"{line},1" for line in lines[1:]), ""])
        Path(out).write_text(checked)
        assert run(*args, out).code == 1
        assert Path(out).read_text() == checked


def test_labels_of_the_crowd_may_have_more_columns_by_another_method(run: Run) -> None:
    Path("gold.csv").write_text("task,gold\n1,yes\n")
    more = ("--grades", "no=0,yes=1", "--gold-labels", "gold.csv", "--method", "glad")
    for method in (("--method", "majority-vote"), more, more, ("--method", "dawid-skene")):
        assert run("crowd", "answers.csv", *method, "-o", "out.csv").code == 0


@pytest.mark.parametrize(
    "args",
    [
        ("fuse", *RUNS, "-o"),
        ("convert", RUNS[0]),
        ("evaluate", *RUNS, *LABELS, "-o"),
        ("fit", *RUNS, *LABELS, "-o"),
        ("judge", "--combine", "g.csv", "-o"),
        ("judge", "--agreement", "g.csv", "-o"),
        ("crowd", "answers.csv", "--workers"),
        ("clicks", "log.csv", "-o"),
    ],
)
@pytest.mark.parametrize("header", ["query,item,judge,grade,note,time", "topic;docno;assessor;relevance"])
def test_judgements_are_not_replaced_by_any_result(run: Run, args: tuple[str, ...], header: str) -> None:
    Path("mine.csv").write_text(f"\ufeff{header}\n1,a,ann,2\n")
    before = content()
    failed = run(*args, "mine.csv")
    assert (failed.code, failed.out) == (2, "")
    assert "mine.csv has judgements, which only people can make again; give another name, or move the file" in " ".join(
        failed.err.replace("│", " ").split()
    )
    assert content() == before
