"""Files for people may be opened in a spreadsheet, which runs text like a formula; juryrank reads it as it was."""

import csv
import json
from pathlib import Path

import pytest

import juryrank as jr
from cli.conftest import Run

NAMES = ("=1+1", "+x", "-x", "@SUM(A1)", "-cmd|' /C calc'!A0", "'=2", "-1.5", "plain")
SHOWN = {"'=1+1", "'+x", "'-x", "'@SUM(A1)", "'-cmd|' /C calc'!A0", "''=2", "-1.5", "plain"}
FORMULA = ("=", "+", "-", "@")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def cells(name: str) -> list[list[str]]:
    with open(name, newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines, delimiter="\t" if name.endswith(".tsv") else ","))


def demand_no_formula(name: str) -> None:
    found = [cell for row in cells(name) for cell in row if cell.startswith(FORMULA)]
    assert {cell for cell in found if cell != "-1.5"} == {cell for cell in found if is_number(cell)} - {"-1.5"}


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson"])
def test_the_plan_for_judging_runs_nothing_and_is_read_back(run: Run, ending: str) -> None:
    lists = {expert: {query: list(NAMES[::step]) for query in NAMES} for expert, step in (("a", 1), ("b", -1))}
    jr.write(jr.from_dicts(lists), "lists.ndjson")
    Path("texts.json").write_text(json.dumps({name: f"={name}" for name in NAMES}))
    plan = f"plan.{ending}"
    done = run("judge", "lists.ndjson", "--budget", 64, "--texts", "texts.json", "-o", plan)
    assert done.code == 0, done.err
    if ending == "ndjson":
        assert {json.loads(line)["item"] for line in Path(plan).read_text().splitlines()} == set(NAMES)
        return
    demand_no_formula(plan)
    header, *rows = cells(plan)
    assert {row[header.index("item")] for row in rows} == SHOWN
    for row in rows:
        row[header.index("label")] = "1"
    with open(plan, "w", newline="", encoding="utf-8") as out:
        csv.writer(out, delimiter="\t" if ending == "tsv" else ",").writerows([header, *rows])
    assert run("convert", plan, "labels.ndjson").code == 0
    assert {json.loads(line)["item"] for line in Path("labels.ndjson").read_text().splitlines()} == set(NAMES)


def test_tables_of_a_crowd_run_nothing(run: Run) -> None:
    rows = [(task, worker, "@yes" if n % 2 else "=no") for n, task in enumerate(NAMES) for worker in NAMES]
    columns = ("task", "worker", "label")
    Path("answers.ndjson").write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
    done = run("crowd", "answers.ndjson", "-o", "labels.csv", "--workers", "workers.tsv", "--confusion", "c.csv")
    assert done.code == 0, done.err
    for name in ("labels.csv", "workers.tsv", "c.csv"):
        demand_no_formula(name)
    header, *found = cells("labels.csv")
    assert {row[header.index("item")] for row in found} == SHOWN
    assert {row[0] for row in cells("workers.tsv")[1:]} == SHOWN


def test_fused_lists_are_data_with_names_as_they_are(run: Run) -> None:
    """Other programs read them, which know nothing of apostrophes."""
    jr.write(jr.from_dicts({"a": {"q": list(NAMES)}, "b": {"q": list(NAMES)}}), "lists.ndjson")
    assert run("fuse", "lists.ndjson", "-o", "fused.csv").code == 0
    header, *rows = cells("fused.csv")
    found = [row[header.index("item")] for row in rows]
    assert found == [name if name != "'=2" else "''=2" for name in NAMES]
