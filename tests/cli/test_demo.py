"""``juryrank demo``: complete, and its numbers are those of the embedded data."""

import gzip
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import pytrec_eval

import juryrank
from cli.conftest import Run
from juryrank.cli.demo import FOLDER, Result, measure, read_demo
from juryrank.evaluation.folds import seeded_folds

Labels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {row.name: row for row in measure(read_demo())}


@pytest.fixture(scope="module")
def qrels() -> Labels:
    labels: Labels = {}
    for topic, item, label in pl.read_parquet(FOLDER.joinpath("qrels.parquet").read_bytes()).iter_rows():
        labels.setdefault(str(topic), {})[item] = label
    return labels


def test_the_demo_shows_every_system_the_gain_its_limits_and_what_to_type_next(
    run: Run, results: dict[str, Result]
) -> None:
    shown = run("demo", "--query", "4")
    assert shown.code == 0
    for row in results.values():
        low, high = row.interval
        assert re.search(rf"{re.escape(row.name)} .* {row.mean:.3f} .* {low:.3f} – {high:.3f} ", shown.out)
    assert "jury over rrf" in shown.out
    assert "not corrected for the three comparisons" in shown.out
    assert "Topic 4: the first 5 articles (jury learned from the other 29 topics)" in shown.out
    assert "juryrank compare RUNS --labels QRELS" in shown.out


def test_the_demo_refuses_a_topic_it_does_not_have(run: Run) -> None:
    assert run("demo", "--query", "31").code == 2


def test_the_demo_fits_into_a_terminal_of_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, run("demo").out.splitlines())) <= 80


def test_the_embedded_data_is_small() -> None:
    assert sum(len(path.read_bytes()) for path in FOLDER.iterdir()) < 200_000


def ndcg(qrels: Labels, run_: Scores) -> float:
    """The mean nDCG@10 by trec_eval."""
    values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run_)
    assert len(values) == 30
    return float(np.mean([value["ndcg_cut_10"] for value in values.values()]))


def test_the_means_of_the_demo_are_those_of_trec_eval(results: dict[str, Result], qrels: Labels) -> None:
    runs: dict[str, Scores] = {}
    for topic, item, system, rank in pl.read_parquet(FOLDER.joinpath("runs.parquet").read_bytes()).iter_rows():
        runs.setdefault(system, {}).setdefault(str(topic), {})[item] = -float(rank)
        fused = runs.setdefault("rrf", {}).setdefault(str(topic), {})
        fused[item] = fused.get(item, 0.0) + 1 / (60 + rank)
    assert len(runs) == 13
    for name, run_ in runs.items():
        assert results[name].mean == pytest.approx(ndcg(qrels, run_), abs=1e-9)


def test_jury_is_tested_on_topics_that_it_did_not_learn_from(results: dict[str, Result], qrels: Labels) -> None:
    data, run_ = read_demo(), {}
    for fold in seeded_folds(5, data, seed=0):
        assert len(fold.train) == 18
        assert not {*fold.train, *fold.valid} & {*fold.test}
        run_ |= juryrank.method("jury").fit(data[list(fold.train)]).predict(data[list(fold.test)]).to_dict()
    assert results["jury"].mean == pytest.approx(ndcg(qrels, run_), abs=1e-9)


def test_the_embedded_data_is_cut_from_the_runs_and_judgements_of_trec_covid(shared_data: Path, qrels: Labels) -> None:
    source = shared_data / "trec-covid-round1"
    judged = [line.split() for line in (source / "qrels.txt").read_text().splitlines()]
    assert {(q, i, label) for q, by_item in qrels.items() for i, label in by_item.items()} == {
        (topic, item, int(label)) for topic, _, item, label in judged
    }
    embedded = pl.read_parquet(FOLDER.joinpath("runs.parquet").read_bytes())
    for path in (source / "runs").iterdir():
        lists: dict[int, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            topic, _, item, _, score, _ = line.split()
            lists.setdefault(int(topic), []).append((float(score), item))
        first = {(t, i) for t, scored in lists.items() for _, i in sorted(scored, reverse=True)[:100]}
        kept = embedded.filter(pl.col("expert") == path.name.removesuffix(".gz"))
        assert set(kept.select("query", "item").iter_rows()) == first
