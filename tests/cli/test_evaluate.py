"""``juryrank evaluate``, against trec_eval."""

import json
from pathlib import Path

import pytest
import pytrec_eval

from cli.conftest import Run


def test_evaluate_equals_trec_eval(run: Run, runs: list[Path], qrels: Path) -> None:
    labels = {"1": {"a": 0, "b": 2, "c": 1}, "2": {"x": 1, "y": 0}}
    truth = pytrec_eval.RelevanceEvaluator(labels, {"ndcg_cut_10", "map"})
    scores = {"bm25": {"1": {"a": 9.0, "b": 8.0, "c": 7.0}, "2": {"x": 5.0}}}
    expected = truth.evaluate(scores["bm25"])
    shown = run("evaluate", *runs, "--qrels", qrels, "-m", "nDCG@10", "-m", "AP", "--json")
    found = json.loads(shown.out)
    assert (shown.code, shown.err) == (0, "")
    assert found["per_query"]["bm25"]["nDCG@10"] == pytest.approx([expected[q]["ndcg_cut_10"] for q in ("1", "2")])
    assert found["means"]["bm25"]["AP"] == pytest.approx((expected["1"]["map"] + expected["2"]["map"]) / 2)
    assert set(found["means"]) == {"bm25", "dense"}


def test_evaluate_shows_one_row_per_query_when_asked(run: Run, runs: list[Path], qrels: Path) -> None:
    asked = ["evaluate", *runs, "--qrels", qrels, "-m", "RR", "--format", "csv"]
    assert run(*asked).out.splitlines() == ["name,metric,mean,judged", "bm25,RR,0.75,", "dense,RR,0.75,"]
    by_query = ["name,query,RR", "bm25,1,0.5", "bm25,2,1.0", "dense,1,1.0", "dense,2,0.5"]
    assert run(*asked, "--per-query").out.splitlines() == by_query
    table = run("evaluate", *runs, "--qrels", qrels, "-m", "RR", "--per-query", "--format", "markdown").out
    assert "| bm25  | 2     | 1.0000 |" in table


def test_evaluate_needs_labels(run: Run, runs: list[Path]) -> None:
    failed = run("evaluate", *runs)
    assert failed.code == 1
    assert "labels" in failed.err
    assert failed.err.count("\n") == 1


def test_an_unknown_metric_ends_with_2(run: Run, runs: list[Path], qrels: Path) -> None:
    failed = run("evaluate", *runs, "--qrels", qrels, "-m", "nDGC@10")
    assert failed.code == 2
    assert failed.err.startswith("error: no metric 'nDGC'; did you mean 'nDCG'?")


@pytest.mark.parametrize(
    ("metric", "code", "told"), [("gm_map", 2, "gm_map of trec_eval"), ("map,P_10", 1, "one per text")]
)
def test_a_wrong_metric_is_refused_before_data_is_read(
    run: Run, tmp_path: Path, metric: str, code: int, told: str
) -> None:
    failed = run("evaluate", tmp_path / "absent.run", "-m", metric)
    assert (failed.code, failed.out) == (code, "")
    assert told in failed.err
    assert "absent.run" not in failed.err


def test_metrics_of_trec_eval_are_shown_under_our_names(run: Run, runs: list[Path], qrels: Path) -> None:
    command = ["evaluate", *runs, "--labels", qrels, "--format", "csv"]
    assert run(*command, "-m", "ndcg_cut_10", "-m", "recip_rank") == run(*command, "-m", "nDCG@10", "-m", "RR")


def test_labelled_queries_that_no_run_ranks_are_counted(run: Run, runs: list[Path], qrels: Path) -> None:
    whole = run("evaluate", *runs, "--qrels", qrels, "-m", "AP", "--json").out
    qrels.write_text(qrels.read_text() + "77 0 a 1\n78 0 b 1\n")
    shown = run("evaluate", *runs, "--qrels", qrels, "-m", "AP", "--json")
    assert (shown.code, shown.err) == (0, "2 of 4 queries with labels are in no run; left out\n")
    assert shown.out == whole
    assert run("evaluate", *runs, "--qrels", qrels, "-m", "AP", "--json", "--quiet").err == ""


def test_unjudged_items_can_be_removed(run: Run, runs: list[Path], tmp_path: Path) -> None:
    few = tmp_path / "few.qrels"
    few.write_text("1 0 b 2\n2 0 x 1\n")
    command = ["evaluate", *runs, "--qrels", few, "-m", "RR@10", "--format", "csv"]
    assert run(*command).out.splitlines()[1] == "bm25,RR@10,0.75,0.6666666666666666"
    assert run(*command, "--unjudged", "ignore").out.splitlines()[1] == "bm25,RR@10,1.0,0.6666666666666666"
    assert run(*command, "--no-judged-share").out.splitlines()[1] == "bm25,RR@10,0.75,"
    wrong = run(*command, "--unjudged", "drop")
    assert (wrong.code, wrong.err) == (2, "error: no treatment of unjudged items 'drop'; known: ignore, irrelevant\n")


def test_evaluate_tests_differences_to_a_baseline(run: Run, runs: list[Path], qrels: Path) -> None:
    asked = ["evaluate", *runs, "--qrels", qrels, "-m", "RR", "--baseline", "bm25"]
    found = json.loads(run(*asked, "--json").out)["results"]
    assert [(row["name"], row["difference"], row["win"], row["loss"]) for row in found] == [
        ("bm25", None, None, None),
        ("dense", 0.0, 1, 1),
    ]
    assert "Against bm25" in run(*asked).out
    assert run(*asked[:-1], "nobody").err.startswith("error: no ranking for the baseline 'nobody'")
    assert run(*asked, "--per-query").code == 2


def test_labels_of_minus_one_in_qrels_are_items_of_the_pool_that_are_not_judged(
    run: Run, runs: list[Path], tmp_path: Path
) -> None:
    sampled = tmp_path / "sampled.qrels"
    sampled.write_text("1 0 a -1\n1 0 b 2\n1 0 c 0\n2 0 x 1\n2 0 y 0\n")
    labels = {"1": {"a": -1, "b": 2, "c": 0}, "2": {"x": 1, "y": 0}}
    truth = pytrec_eval.RelevanceEvaluator(labels, {"infAP", "bpref"})
    expected = truth.evaluate({"1": {"a": 9.0, "b": 8.0, "c": 7.0}, "2": {"x": 5.0}})
    command = ["evaluate", *runs, "--qrels", sampled, "-m", "infAP", "-m", "bpref", "-m", "Judged@1", "--json"]
    found = json.loads(run(*command).out)["per_query"]["bm25"]
    assert found["infAP"] == pytest.approx([expected[q]["infAP"] for q in ("1", "2")])
    assert found["Bpref"] == pytest.approx([expected[q]["bpref"] for q in ("1", "2")])
    assert found["Judged@1"] == [0.0, 1.0]
