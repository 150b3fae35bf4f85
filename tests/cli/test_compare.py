"""``juryrank compare``, against the library."""

import json
from pathlib import Path

import pytest

import juryrank
from cli.conftest import DEMO, Run
from juryrank.methods import consensus_methods


def test_compare_equals_the_library(run: Run) -> None:
    shown = run("compare", DEMO, "--methods", "borda,rrf", "-m", "nDCG@10", "--baseline", "borda", "--json")
    expected = juryrank.compare(["borda", "rrf"], juryrank.read(DEMO), ["nDCG@10"], baseline="borda")
    found = json.loads(shown.out)
    assert found["results"] == expected.to_dict()["results"]
    assert found["baseline"] == "borda"


def test_compare_takes_every_consensus_method_by_default(run: Run) -> None:
    shown = run("compare", DEMO, "--format", "csv", "-m", "AP", "--quiet")
    names = [line.split(",")[0] for line in shown.out.splitlines()[1:]]
    assert names == consensus_methods()


@pytest.mark.parametrize(
    ("ending", "beginning"),
    [
        ("md", "**Means**"),
        ("tex", "\\begin{table}"),
        ("csv", "method,metric,mean"),
        ("json", "{"),
        ("html", "<!doctype html>"),
    ],
)
def test_compare_writes_the_format_of_the_ending(run: Run, tmp_path: Path, ending: str, beginning: str) -> None:
    out = tmp_path / f"table.{ending}"
    written = run("compare", DEMO, "--methods", "borda,rrf", "-o", out)
    assert (written.code, written.out) == (0, "")
    assert written.err == f"{out}: Comparison(2 methods × 2 metrics × 24 queries, 0 folds, trec, baseline rrf)\n"
    assert out.read_text().startswith(beginning)


def test_an_ending_without_a_format_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    failed = run("compare", DEMO, "--methods", "borda,rrf", "-o", tmp_path / "table.doc")
    assert failed.code == 2
    assert not (tmp_path / "table.doc").exists()


def test_compare_takes_a_number_of_folds(run: Run) -> None:
    shown = run("compare", DEMO, "--methods", "borda,rrf", "--folds", "3", "--json")
    assert len(json.loads(shown.out)["folds"]) == 3


def test_compare_finds_the_folds_of_a_folder_by_the_names_of_queries(run: Run, tmp_path: Path) -> None:
    names = [f"q{n:02}" for n in range(1, 25)]
    for fold, test in (("Fold1", names[:12]), ("Fold2", names[12:])):
        (tmp_path / fold).mkdir()
        for part, chosen in (("test", test), ("vali", test[:3]), ("train", [q for q in names if q not in test])):
            lines = [f"0 qid:{q} 1:1 2:NULL #docid = d{n}\n" for q in reversed(chosen) for n in range(2)]
            (tmp_path / fold / f"{part}.txt").write_text("".join(lines))
    found = json.loads(run("compare", DEMO, "--methods", "borda,rrf", "--folds", tmp_path, "--json").out)
    assert found["folds"] == ["Fold1", "Fold2"]
    assert found["queries"] == names


def test_folds_of_other_queries_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "Fold1").mkdir()
    for part in ("train", "vali", "test"):
        (tmp_path / "Fold1" / f"{part}.txt").write_text("0 qid:7 1:1 2:NULL #docid = d\n")
    failed = run("compare", DEMO, "--methods", "borda,rrf", "--folds", tmp_path)
    assert failed.code == 1
    assert "none of its 1 queries is in the data" in failed.err
    assert run("compare", DEMO, "--methods", "borda,rrf", "--folds", DEMO).code == 1
