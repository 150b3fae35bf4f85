"""``juryrank crowd``: labels, workers and what to do next, from raw files."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import juryrank as jr
from cli.conftest import Run
from tasks.crowd.simulated_crowds import simulate

HEADERLESS = "".join(f"t{n // 3},w{n % 3},{(n // 3) % 2 if n % 3 else 0}\n" for n in range(30))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame, truth, _ = simulate(80, 8, 3, 4, 0)
    known = pl.Series([f"c{truth[int(task[1:])]}" if int(task[1:]) < 20 else None for task in frame["task"]])
    path = tmp_path / "answers.csv"
    frame.with_columns(gold=known).write_csv(path)
    return path


def test_files_have_what_the_library_gives(run: Run, table: Path) -> None:
    done = run(
        "crowd", table, "-o", "labels.csv", "--workers", "workers.csv", "--probabilities", "p.csv",
        "--confusion", "c.parquet", "--next-tasks", "next.tsv",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = jr.crowd(table)
    assert pl.read_csv("labels.csv")["label"].to_list() == found.to_frame()["label"].to_list()
    assert pl.read_csv("workers.csv")["worker"].to_list() == [worker.worker for worker in found.workers]
    assert pl.read_csv("p.csv")["p(c0)"].to_list() == pytest.approx(found.probability[:, 0].tolist())
    assert pl.read_parquet("c.parquet").height == 8 * 9
    assert pl.read_csv("next.tsv", separator="\t")["information"].to_list() == pytest.approx(
        found.next_tasks()["information"].to_list()
    )
    assert "Krippendorff's α" in done.out
    assert "Fleiss' κ" in done.out
    assert "Accuracy on gold tasks" in done.out
    assert "Tasks for one more answer" in done.out


def test_a_file_without_a_header_needs_numbers_and_says_so(run: Run) -> None:
    Path("answers.txt").write_text(HEADERLESS)
    refused = run("crowd", "answers.txt")
    assert refused.code == 1
    assert "--columns task=1,worker=2,label=3" in refused.err
    by_option = run("crowd", "answers.txt", "--task", 1, "--worker", 2, "--label", 3, "--json")
    at_once = run("crowd", "answers.txt", "--columns", "task=1,worker=2,label=3", "--json")
    assert json.loads(by_option.out)["labels"] == json.loads(at_once.out)["labels"]
    assert json.loads(by_option.out)["tasks"] == 10


def test_rank_does_not_read_answers_as_ratings_in_silence(run: Run) -> None:
    Path("answers.csv").write_text(HEADERLESS)
    assert "juryrank crowd" in run("rank", "answers.csv", "--method", "borda").err
    Path("answers.csv").write_text(HEADERLESS.replace("\n", ",1234567890\n"))
    done = run("rank", "answers.csv", "--method", "borda")
    assert "read as user, item and rating: 10 users rate 3 items" in done.err
    assert "--from ratings" in done.err
    assert "juryrank crowd" not in run("rank", "answers.csv", "--method", "borda", "--from", "ratings").err


def test_expected_grades_are_written_as_qrels(run: Run) -> None:
    Path("answers.csv").write_text("query,item,worker,label\nq,a,v,poor\nq,a,w,good\nq,b,w,poor\n")
    done = run("crowd", "answers.csv", "--method", "majority-vote", "--order", "poor,good", "-o", "labels.qrels")
    assert done.code == 0, done.err
    assert Path("labels.qrels").read_text() == "q 0 a 0.5\nq 0 b 0\n"
    graded = run("crowd", "answers.csv", "--method", "majority-vote", "--grades", "poor=1,good=4", "-o", "labels.qrels")
    assert graded.code == 0, graded.err
    assert Path("labels.qrels").read_text() == "q 0 a 2.5\nq 0 b 1\n"


def test_gold_comes_from_a_column_or_a_file(run: Run, table: Path) -> None:
    truth = {row["task"]: row["gold"] for row in pl.read_csv(table).drop_nulls().iter_rows(named=True)}
    pl.DataFrame({"task": list(truth), "gold": list(truth.values())}).write_csv("gold.csv")
    pl.read_csv(table).drop("gold").write_csv("other.csv")
    column, file = run("crowd", table, "--json"), run("crowd", "other.csv", "--gold-labels", "gold.csv", "--json")
    assert json.loads(column.out) == json.loads(file.out)
    checked = json.loads(run("crowd", table, "--gold-for", "check", "--json").out)
    assert checked["accuracy"] == json.loads(column.out)["accuracy"]
    renamed = pl.read_csv(table).rename({"gold": "x"})
    renamed.write_csv("other.csv")
    assert json.loads(run("crowd", "other.csv", "--gold", "x", "--json").out) == json.loads(column.out)


def test_a_label_can_be_left_out_and_strict_refuses_repairs(run: Run) -> None:
    Path("answers.csv").write_text("task,worker,label\na,v,1\na,w,broken\na,v,0\n")
    assert "repeated" in run("crowd", "answers.csv", "--ignore", "broken").err
    refused = run("crowd", "answers.csv", "--strict")
    assert (refused.code, "refused because strict" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "dawid"), "did you mean 'dawid-skene'"),
        (("--workers", "workers.doc"), "workers.doc must end in .csv"),
        (("-o", "labels.html"), "labels.html must end in .csv"),
        (("--grades", "poor"), "expected LABEL=NUMBER"),
        (("--grades", "c0=low"), "expected LABEL=NUMBER"),
        (("--picture", "x.doc"), "picture format"),
        (("-o", "labels.qrels"), "labels that are numbers"),
    ],
)
def test_mistakes_get_one_clear_line(run: Run, table: Path, options: tuple[str, ...], message: str) -> None:
    done = run("crowd", table, *options)
    assert done.code in (1, 2)
    assert message in " ".join(done.err.replace("│", " ").split())


def test_the_crowd_of_trec_needs_one_line(run: Run, shared_data: Path) -> None:
    path = shared_data / "trec2011-crowd" / "trec-rf10-data.txt.gz"
    done = run("crowd", path, "--json", "--picture", "crowd.png")
    assert done.code == 0, done.err
    assert "1570 answers are repeated" in done.err
    assert "gold labels of 15772 tasks ('-1') are not among the labels" in done.err  # the number in the readme
    whole = json.loads(done.out)
    assert (whole["tasks"], len(whole["workers"]), whole["converged"]) == (20232, 766, True)
    ours, votes = whole["accuracy"]
    assert ours["tasks"] == 1183 + 1501 + 863 + 913  # the table of gold labels in the readme
    assert ours["right"] > votes["right"] + 0.05
    with gzip.open(path) as file:
        assert len(file.read().splitlines()) - 1 - 1570 == whole["answers"]
    assert Path("crowd.png").stat().st_size > 10_000


def answers_of(*labels: str) -> str:
    """Each label once by each of three workers, of a task of its own."""
    rows = (f"t{n},w{k},{label}" for n, label in enumerate(labels) for k in range(3))
    return "\n".join(["task,worker,label", *rows, ""])


@pytest.mark.parametrize(
    ("labels", "told", "remedy", "classes"),
    [
        (
            ("Yes", "yes", "yes", "YES", "no"), "'YES', 'Yes', 'yes'; to count them as one", "--merge-spellings",
            ["no", "yes"],
        ),
        (("1", "1.0", "01", "1", "0"), "'1', '01', '1.0'; to count them as one", "--merge-spellings", ["0", "1"]),
        (
            ("nan", "NA", "not sure", "a", "b"),
            "'NA', 'nan' (6 of 15 answers) look like missing answers, and count as labels",
            "--ignore NA --ignore nan", ["a", "b", "not sure"],
        ),
        (
            [f"{n * 1.5}" for n in range(100)], "labels are 100 different numbers, such as '0.0'",
            "--grades " + ",".join(f"{n * 1.5}={n * 1.5}" for n in range(100)), [f"{n * 1.5}" for n in range(100)],
        ),
    ],
)  # fmt: skip
def test_labels_that_may_be_meant_otherwise_are_told_once_and_stay(
    run: Run, labels: list[str], told: str, remedy: str, classes: list[str]
) -> None:
    Path("answers.csv").write_text(answers_of(*labels))
    done = run("crowd", "answers.csv", "--json")
    assert (done.code, done.err.count("warning: ")) == (0, 1)
    assert told in done.err
    assert "=[" not in done.err
    assert sorted(json.loads(done.out)["classes"]) == sorted(set(labels))
    if not remedy.startswith("--grades"):
        assert remedy in done.err
    changed = run("crowd", "answers.csv", "--json", *remedy.split())
    assert (changed.code, changed.err) == (0, "")
    assert sorted(json.loads(changed.out)["classes"]) == sorted(classes)


def test_a_column_of_weights_is_told_to_be_unused(run: Run) -> None:
    lines = answers_of("a", "b").splitlines()
    Path("answers.csv").write_text("\n".join([f"{lines[0]},weight", *(f"{line},0.5" for line in lines[1:])]))
    done = run("crowd", "answers.csv")
    assert (done.code, done.err.count("warning: ")) == (0, 1)
    assert "answers.csv: column 'weight' is not used: every answer has weight 1" in done.err
    assert run("crowd", "answers.csv", "--strict").code == 1


def test_errors_of_labels_name_options(run: Run) -> None:
    Path("answers.csv").write_text(answers_of("poor", "good"))
    done = run("crowd", "answers.csv", "-o", "labels.qrels")
    assert (done.code, done.out) == (1, "")
    assert "use --order LOWEST,…,HIGHEST or --grades LABEL=NUMBER,…; labels are 'good', 'poor'" in done.err


def test_one_of_each_is_told_in_the_singular(run: Run) -> None:
    Path("answers.csv").write_text("task,worker,label,gold\nt,w,b,b\nt,w,a,b\nt,v,b,b\nu,w,,\n")
    done = run("crowd", "answers.csv", "--gold-for", "check", "--method", "majority-vote", "--workers", "workers.csv")
    assert done.code == 0
    assert "2 workers gave 2 answers to 1 task; majority-vote. 1 task is tied: its label is the first" in done.out
    assert "1 answer is repeated by the same worker" in done.err
    assert "1 of 4 rows has no task, worker or label; it is left out" in done.err
    Path("answers.csv").write_text("task,worker,label\nt,w,a\n")
    done = run("crowd", "answers.csv", "-o", "labels.csv", "--workers", "workers.csv")
    assert "1 worker gave 1 answer to 1 task; dawid-skene in" in done.out
    assert done.err == "labels.csv: labels of 1 task, with probabilities\nworkers.csv: 1 row\n"
    assert repr(jr.crowd("answers.csv", "majority-vote")) == "CrowdLabels(1 task, 1 worker, 1 answer, by majority-vote)"
