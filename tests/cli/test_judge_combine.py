"""``juryrank judge --combine``: the reliability of judges, and labels for other commands."""

from pathlib import Path

import polars as pl
import pytest

import juryrank as jr
from cli.conftest import DEMO, Run

JUDGEMENTS = DEMO.with_name("judgements.csv")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_judges_are_shown_and_labels_are_written_for_fit(run: Run) -> None:
    done = run("judge", "--combine", JUDGEMENTS, "-o", "labels.csv")
    assert done.code == 0, done.err
    assert {"ann", "ben"} <= set(done.out.split())
    labels = pl.read_csv("labels.csv")
    expected = jr.combine_judgements(JUDGEMENTS).to_frame()
    assert labels["label_weight"].to_list() == pytest.approx(expected["label_weight"].to_list())
    fitted = run("fit", DEMO, "--columns", "label=", "--labels", "labels.csv", "-o", "model.json")
    assert fitted.code == 0, fitted.err
    assert "several" not in fitted.err


def test_grades_of_trusted_judges_and_labels_of_gold_are_true(run: Run) -> None:
    done = run("judge", "--combine", JUDGEMENTS, "--trusted", "ann", "-o", "labels.parquet", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "ann" not in done.out.split()
    mine = pl.read_csv(JUDGEMENTS).filter(pl.col("judge") == "ann").unique(["query", "item"], keep="last")
    both = mine.join(pl.read_parquet("labels.parquet"), on=["query", "item"])
    assert both["label"].to_list() == both["grade"].to_list()
    assert set(both["label_weight"]) == {1.0}
    first = mine.row(0, named=True)
    Path("gold.csv").write_text(f"query,item,label\n{first['query']},{first['item']},0.5\n")
    assert run("judge", "--combine", JUDGEMENTS, "--labels", "gold.csv", "-o", "more.csv").code == 0
    found = pl.read_csv("more.csv").filter(query=first["query"], item=first["item"])
    assert found.select("label", "label_weight").row(0) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--combine", JUDGEMENTS, "--trusted", "an"), "no such judge: an (did you mean 'ann'?)"),
        (("--combine", JUDGEMENTS, "-o", "labels.qrels"), "labels are written as .csv"),
        (("--combine", "none.csv"), "none.csv"),
        (("--combine", DEMO), "judgements need a column 'judge'"),
    ],
)
def test_mistakes_have_one_clear_message(run: Run, args: tuple[object, ...], told: str) -> None:
    done = run("judge", *args)
    assert done.code in (1, 2)
    assert told in " ".join(done.err.replace("│", " ").split())
    assert "Traceback" not in done.err
