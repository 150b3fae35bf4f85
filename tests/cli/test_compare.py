"""``juryrank compare``, against the library."""

import csv
import json
from pathlib import Path

import polars as pl
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


def test_parameters_follow_a_colon_and_the_option_may_be_repeated(run: Run) -> None:
    shown = run("compare", DEMO, "--methods", "rrf:k=10,borda", "--methods", "rrf:k=5,ranks=dense", "--json")
    methods = json.loads(shown.out)["methods"]
    assert {label: (m["name"], m["params"].get("k"), m["params"].get("ranks")) for label, m in methods.items()} == {
        "rrf:k=10": ("rrf", 10, "given"),
        "borda": ("borda", None, None),
        "rrf:k=5,ranks=dense": ("rrf", 5, "dense"),
    }
    assert run("compare", DEMO, "--methods", "rrf:z=1").err.startswith(
        "error: rrf has no parameter 'z'; it has weights"
    )


def test_a_line_for_each_method_comes_as_it_finishes(run: Run) -> None:
    told = run("compare", DEMO, "--methods", "kemeny,rrf", "-m", "AP").err.splitlines()
    assert told[0] == "comparing 2 methods on 24 queries, under a second: kemeny, rrf"
    assert [line.split()[0] for line in told[1:] if " AP " in line] == ["rrf", "kemeny"]
    assert run("compare", DEMO, "--methods", "kemeny,rrf", "--quiet").err == ""


def test_methods_beyond_the_budget_are_left_out_by_name(run: Run) -> None:
    shown = run("compare", DEMO, "--budget", "0.000001", "-m", "AP", "--json")
    assert list(json.loads(shown.out)["methods"]) == ["rrf"]
    (told,) = (line for line in shown.err.splitlines() if line.startswith("left out, too slow for the budget: "))
    assert all(f"{name} (under a second)" in told for name in consensus_methods() if name != "rrf")
    assert told.endswith("; select them with --methods (or --methods all), or raise --budget SECONDS")
    assert run("compare", DEMO, "--methods", "rrf", "--budget", "5").code == 2
    assert run("compare", DEMO, "--budget", "0").err == "error: budget must be a number of seconds above 0, got 0.0\n"


def test_all_is_every_method_that_needs_no_labels_and_may_stand_beside_others(run: Run) -> None:
    shown = run("compare", DEMO, "--methods", "all,rrf:k=1,rrf", "-m", "AP", "--json", "--quiet")
    assert list(json.loads(shown.out)["methods"]) == [*consensus_methods(), "rrf:k=1"]


def test_a_method_that_refuses_is_skipped_and_the_others_are_shown(run: Run, tmp_path: Path) -> None:
    path, qrels = tmp_path / "long.run", tmp_path / "labels.qrels"
    path.write_text("".join(f"1 Q0 d{n} {n} {20000 - n} long\n" for n in range(1, 10_002)))
    qrels.write_text("1 0 d1 1\n")
    shown = run("compare", path, "--labels", qrels, "--methods", "kemeny,rrf", "-m", "AP", "--json")
    found = json.loads(shown.out)
    assert (shown.code, list(found["methods"])) == (0, ["rrf"])
    assert "warning: kemeny is skipped: kemeny compares all pairs and takes up to 10000 items" in shown.err
    failed = run("compare", path, "--labels", qrels, "--methods", "kemeny,condorcet", "-m", "AP")
    assert (failed.code, failed.out) == (1, "")
    assert "error: none of 2 methods could be compared; kemeny: kemeny compares all pairs" in failed.err


def test_a_comparison_is_drawn_and_an_unknown_picture_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run("compare", DEMO, "--methods", "borda,rrf", "--plot", tmp_path / "a.svg", "--quiet").code == 0
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    failed = run("compare", DEMO, "--methods", "borda,rrf", "--plot", tmp_path / "a.doc")
    assert (failed.code, failed.out) == (2, "")
    assert failed.err.startswith("error: no picture format 'doc'")


@pytest.mark.parametrize("folds", ["1", "200"])
def test_a_number_of_folds_that_cannot_be_is_refused(run: Run, folds: str) -> None:
    failed = run("compare", DEMO, "--methods", "rrf", "--folds", folds)
    assert failed.code == 1
    assert failed.err == f"error: folds must be from 2 to 24, the number of queries with labels, got {folds}\n"


@pytest.mark.parametrize(
    ("ending", "beginning"),
    [
        ("md", "**Means**"),
        ("tex", "% \\usepackage{booktabs}\n\\begin{table}"),
        ("csv", "method,metric,mean"),
        ("json", "{"),
        ("html", "<!doctype html>"),
    ],
)
def test_compare_writes_the_format_of_the_ending(run: Run, tmp_path: Path, ending: str, beginning: str) -> None:
    out = tmp_path / f"table.{ending}"
    written = run("compare", DEMO, "--methods", "borda,rrf", "-o", out)
    assert (written.code, written.out) == (0, "")
    assert (
        written.err.splitlines(keepends=True)[-1]
        == f"{out}: Comparison(2 methods × 2 metrics × 24 queries, 0 folds, trec, baseline rrf)\n"
    )
    assert out.read_text().startswith(beginning)


def test_an_ending_without_a_format_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    failed = run("compare", DEMO, "--methods", "borda,rrf", "-o", tmp_path / "table.doc")
    assert failed.code == 2
    assert "comparing" not in failed.err, "refused before the work"
    assert not (tmp_path / "table.doc").exists()
    assert run("compare", DEMO, "--methods", "borda,rrf", "-o", tmp_path / "table.doc", "--json").code == 0
    assert json.loads((tmp_path / "table.doc").read_text())["baseline"] == "rrf"


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


def test_experts_are_rows_and_baselines(run: Run) -> None:
    shown = run("compare", DEMO, "--methods", "rrf", "-m", "AP", "--experts", "--baseline", "expert:dense", "--json")
    expected = juryrank.compare(["rrf"], juryrank.read(DEMO), "AP", baseline="expert:dense", experts=True)
    assert json.loads(shown.out)["results"] == expected.to_dict()["results"]
    wrong = run("compare", DEMO, "--methods", "rrf", "--baseline", "expert:danse")
    assert wrong.err == (
        "error: no expert row 'expert:danse'; did you mean 'expert:dense'? known: expert:bm25, expert:chargram, "
        "expert:dense, expert:overlap, expert:shortest, expert:title\n"
    )


def test_a_comparison_with_a_learned_method_ends_with_the_verdict(run: Run) -> None:
    shown = run(
        "compare", DEMO, "--methods", "rrf,jury", "-m", "nDCG@10", "--folds", "4", "--quiet", "--format", "markdown"
    )
    verdict = shown.out.splitlines()[-1]
    assert verdict.startswith(
        "Verdict: not shown, but jury is expected to be best. On 24 held-out queries jury has nDCG"
    )


NOTHING_SHOWN = "not shown, and labels of relevant items only cannot show it: judge other items, too"


def test_one_gold_item_per_query_shows_nothing_anywhere(run: Run, tmp_path: Path) -> None:
    """Neither "use jury" nor "stay with RRF": the best item of each query is known, and of no other whether it is."""
    frame = pl.read_csv(DEMO)
    gold = (
        frame.filter(pl.col("label") > 0)
        .sort("label", "item", descending=True)
        .unique("query", keep="first", maintain_order=True)
    )
    gold.select("query", "item", "label").write_csv(tmp_path / "gold.csv")
    frame.drop("label").write_csv(tmp_path / "lists.csv")
    given = [tmp_path / "lists.csv", "--labels", tmp_path / "gold.csv"]
    compared = run("compare", *given, "--methods", "rrf,jury", "-m", "nDCG@10", "--folds", "4", "--quiet", "--json")
    model = tmp_path / "model.json"
    fitted, explained = run("fit", *given, "-o", model), run("explain", model, "--format", "json")
    for shown in (compared, explained):
        verdict = json.loads(shown.out)["verdict"]
        assert (verdict["evidence"], verdict["labels"], verdict["choice"]) == ("none", "positives only", "learned")
        assert verdict["headline"] == NOTHING_SHOWN
    assert f"\nVerdict: {NOTHING_SHOWN}. " in fitted.out
    assert "nDCG@10 1.0000" not in fitted.out  # of every list that has the item, if unjudged items were removed
    assert NOTHING_SHOWN in " ".join(run("explain", model).out.split())


@pytest.mark.parametrize("seed", [0, 1])
def test_one_gold_item_per_query_of_robust03_shows_nothing(
    run: Run, shared_data: Path, tmp_path: Path, seed: int
) -> None:
    qrels = pl.read_csv(
        shared_data / "robust03" / "qrels.txt",
        separator=" ",
        has_header=False,
        new_columns=["query", "_", "item", "label"],
    )
    gold = qrels.filter(pl.col("label") > 0).sample(fraction=1, shuffle=True, seed=seed).unique("query", keep="first")
    gold.sample(30, seed=seed).select("query", "item", "label").write_csv(tmp_path / "gold.csv")
    runs = sorted((shared_data / "robust03" / "runs").iterdir())[:3]
    given = [*runs, "--labels", tmp_path / "gold.csv", "--quiet"]
    compared = run("compare", *given, "--methods", "rrf,jury", "-m", "nDCG@10", "--folds", "5", "--experts")
    fitted = run("fit", *given, "-o", tmp_path / "model.json")
    for shown in (compared, fitted):
        text = " ".join(shown.out.split())
        assert f"Verdict: {NOTHING_SHOWN}. " in text
        assert "use jury" not in text
        assert "stay with RRF" not in text


def test_unjudged_items_can_be_removed(run: Run, runs: list[Path], tmp_path: Path) -> None:
    few = tmp_path / "few.qrels"
    few.write_text("1 0 b 2\n2 0 y 1\n")
    command = ["compare", *runs, "--labels", few, "--methods", "rrf", "-m", "P@1", "--format", "csv", "--quiet"]
    plain, condensed = (
        next(csv.DictReader(run(*command, *more).out.splitlines())) for more in ([], ["--unjudged", "ignore"])
    )
    assert (plain["mean"], condensed["mean"]) == ("0.5", "1.0")
    assert plain["judged"] == condensed["judged"] == "0.5"
    assert run(*command, "--no-judged-share").out.splitlines()[1].endswith(",")
    assert run(*command, "--unjudged", "drop").err.startswith("error: no treatment of unjudged items 'drop'")
