"""What is fitted, evaluated, compared and converted in batches is the same as from all data at once."""

import gzip
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning, UnknownNameError
from juryrank.evaluation.evaluate import as_metrics
from juryrank.io import read_labels
from juryrank.learning.curves import Limits
from juryrank.methods.learned.batched_curves import fit_batches
from juryrank.models import to_json
from juryrank.scan import QueryFiles
from juryrank.scan.label_source import LabelsInMemory, LabelSource
from juryrank.scan.labelled_files import ChosenQueries, LabelledFiles
from juryrank.scan.qrels import QrelsByQuery
from juryrank.tasks.files.compare_files import BatchedExperiment
from juryrank.tasks.files.convert_files import convert_labelled
from juryrank.tasks.files.evaluate_files import evaluate_labelled
from juryrank.tasks.files.fit_files import fit_labelled

EXPERTS = ("bm25", "dense", "sparse")
SIZES = (1, 60_000)  # bytes of a batch: one query, some


def rows(seed: int = 0, n_queries: int = 20) -> list[tuple[str, str, str, int, float]]:
    """query, expert, item, rank, score; some lists are missing, there are ties, and one query has no labels."""
    rng = random.Random(seed)
    out = []
    for q in rng.sample(range(n_queries), n_queries):
        for expert in rng.sample(EXPERTS, rng.choice([1, 2, 3, 3])):
            items = rng.sample([f"d{i}" for i in range(30)], rng.randint(1, 25))
            scores = sorted((rng.choice([0.5, rng.random()]) for _ in items), reverse=True)
            out += [(f"q{q}", expert, d, n, s) for n, (d, s) in enumerate(zip(items, scores, strict=True), 1)]
    return out


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for expert in EXPERTS:
        lines = [f"{q} Q0 {item} {rank} {score!r} {e}\n" for q, e, item, rank, score in rows() if e == expert]
        (folder / f"{expert}.run").write_text("".join(lines))
    return folder


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    """Labels in another order than the runs, with a query that no run has."""
    rng = random.Random(5)
    path = tmp_path / "labels.qrels"
    lines = [
        f"q{q} 0 d{d} {rng.choice([0, 0, 1, 2])}\n" for q in [*range(19, 0, -1), 99] for d in rng.sample(range(35), 12)
    ]
    path.write_text("".join(lines))
    return path


@pytest.fixture
def tables(tmp_path: Path, qrels: Path) -> Path:
    """A Parquet table with labels in a column, and items that nobody ranks."""
    frame = pl.DataFrame(rows(), schema=["query", "expert", "item", "rank", "score"], orient="row").drop("rank")
    labels = pl.read_csv(qrels, has_header=False, separator=" ", new_columns=["query", "i", "item", "label"]).drop("i")
    labels = labels.filter(pl.col("query").is_in(frame["query"].unique().implode()))
    unranked = labels.join(frame, on=["query", "item"], how="anti")
    path = tmp_path / "tables" / "all.parquet"
    path.parent.mkdir()
    whole = pl.concat([frame.join(labels, on=["query", "item"], how="left"), unranked], how="diagonal")
    whole.sort("query", maintain_order=True).write_parquet(path, row_group_size=50)
    return path


def files_of(source: Path, labels: LabelSource | Path | None, size: int) -> LabelledFiles:
    given = LabelsInMemory(labels_in(labels)) if isinstance(labels, Path) else labels
    return LabelledFiles(QueryFiles([source], None, {}, 512), given, size=size)


def labels_in(path: Path) -> Any:
    found = read_labels(path)
    return found.labels if isinstance(found, Dataset) else found


def messages(work: Any) -> tuple[Any, set[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work()
    return result, {str(w.message) for w in caught}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("jury", {}),
        ("jury", {"scores": True, "unjudged": "unknown"}),
        ("jury", {"experts": "hybrid", "threshold": 2500, "unjudged": "ignore"}),
        ("ridge", {"target": "AP"}),
    ],
)
def test_a_model_is_that_of_all_queries_at_once(
    name: str, params: dict[str, Any], size: int, runs: Path, qrels: Path
) -> None:
    whole = juryrank.fit(runs, name, labels=qrels, **params)
    for labels in (qrels, QrelsByQuery(qrels, 256)):
        model = juryrank.method(name, **params)
        counts = fit_labelled(files_of(runs, labels, size), model)
        assert to_json(model) == to_json(whole)
        assert model.report() == whole.report()  # type: ignore[attr-defined]
    data = juryrank.read(runs, labels=qrels)
    assert (counts.n_queries, counts.n_items) == (len(data), data.rankings.n_slots)


def test_parts_of_several_queries_are_never_apart(runs: Path, qrels: Path) -> None:
    """With many experts, queries are held out in groups; here because of a low limit of work."""
    limits, models = Limits(held_out_work=0, fewest_parts=7), []
    for size in (200_000, 10**9):
        models.append(juryrank.method("jury"))
        fit_batches(models[-1], files_of(runs, qrels, size), limits=limits)
    assert to_json(models[0]) == to_json(models[1])
    alone = juryrank.fit(runs, "jury", labels=qrels)
    assert models[0].curves_ == pytest.approx(alone.curves_)  # type: ignore[attr-defined]
    with pytest.raises(DataError, match=r"a group takes about .* raise the memory limit"):
        fit_batches(juryrank.method("jury"), files_of(runs, qrels, 100), limits=limits)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["runs", "tables"])
def test_an_evaluation_is_that_of_all_queries_at_once(
    kind: str, size: int, qrels: Path, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(kind)
    labels = qrels if kind == "runs" else None
    metrics = ["nDCG@10", "AP", "RR", "P@5", "nDCG@5", "Bpref", "ERR@10", "Judged@20"]
    for how in ({"baseline": "dense"}, {"unjudged": "ignore", "convention": "letor"}):
        data = juryrank.read(source, labels=labels)
        whole, told = messages(lambda how=how, data=data: juryrank.evaluate(data, data, metrics, **how))
        files = files_of(source, labels, size)
        found, streamed = messages(lambda how=how, files=files: evaluate_labelled(files, as_metrics(metrics), **how))
        assert json.dumps(found.to_dict()) == json.dumps(whole.to_dict())
        assert found.render("text") == whole.render("text")
        assert streamed == told


@pytest.mark.parametrize("size", SIZES)
def test_ranks_are_used_for_all_lists_where_some_scores_contradict_them(size: int, tmp_path: Path) -> None:
    frame = pl.DataFrame(rows(1, 12), schema=["query", "expert", "item", "rank", "score"], orient="row")
    frame = frame.with_columns(score=pl.when(query="q3").then(pl.col("rank")).otherwise("score"))
    frame = frame.with_columns(label=pl.col("item").str.slice(1).cast(pl.Int64) % 3).sort("query", maintain_order=True)
    frame.write_parquet(path := tmp_path / "a.parquet")
    data, _ = messages(lambda: juryrank.read(path))
    whole, told = messages(lambda: juryrank.evaluate(data, data, ["AP", "RR"]))
    found, streamed = messages(lambda: evaluate_labelled(files_of(path, None, size), as_metrics(["AP", "RR"])))
    assert any("ranks are used" in text for text in told)
    assert told <= streamed
    assert json.dumps(found.to_dict()) == json.dumps(whole.to_dict())
    model = juryrank.method("jury")
    messages(lambda: fit_labelled(files_of(path, None, size), model))
    assert to_json(model) == to_json(messages(lambda: juryrank.method("jury").fit(data))[0])


def without_times(comparison: Any) -> str:
    return re.sub(r'("(?:fit|predict)": )[^,}]*', r"\1", json.dumps(comparison.to_dict()))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("methods", "how"),
    [
        (["rrf", "jury", "borda"], {"folds": 4, "experts": True}),
        (["combsum", "ridge"], {"folds": 2, "baseline": "best-expert", "seed": 3}),
        (["borda", "mc4"], {"unjudged": "ignore", "baseline": "expert:dense"}),
    ],
)
def test_a_comparison_is_that_of_all_queries_at_once(
    methods: list[str], how: dict[str, Any], size: int, runs: Path, qrels: Path
) -> None:
    data, metrics = juryrank.read(runs, labels=qrels), ["nDCG@10", "AP"]
    whole, told = messages(lambda: juryrank.compare(methods, data, metrics, **how))
    experiment, streamed = messages(
        lambda: BatchedExperiment(methods, files_of(runs, qrels, size), as_metrics(metrics), **how)
    )
    experiment.run()
    found = experiment.result()
    assert without_times(found) == without_times(whole)
    assert str(found.verdict) == str(whole.verdict)
    assert streamed >= told


def test_a_method_that_needs_all_data_is_skipped_in_a_comparison(runs: Path, qrels: Path) -> None:
    with pytest.warns(DataWarning, match=r"kernel is skipped: .* a sample of the queries"):
        found = juryrank.compare_files(["rrf", "kernel"], [runs], "AP", memory=10**7, labels=qrels, folds=3)
    assert found.names == ("rrf",)
    assert list(found.skipped) == ["kernel"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["runs", "tables"])
def test_converted_files_have_the_same_bytes(
    kind: str, size: int, qrels: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source, labels = request.getfixturevalue(kind), qrels if kind == "runs" else None
    data = juryrank.read(source, labels=labels)
    for name in ("x.csv", "x.tsv", "x.ndjson", "x.qrels", "x.csv.gz", "folder", "x.parquet"):
        whole, streamed = tmp_path / "whole" / name, tmp_path / "streamed" / name
        whole.parent.mkdir(exist_ok=True)
        streamed.parent.mkdir(exist_ok=True)
        _, told = messages(lambda whole=whole: juryrank.write(data, whole))
        counts, more = messages(lambda to=streamed: convert_labelled(files_of(source, labels, size), to))
        assert counts == (len(data), data.rankings.n_entries)
        assert more == told
        if name == "x.parquet":
            assert pl.read_parquet(streamed).equals(pl.read_parquet(whole))
        elif name == "folder":
            assert sorted(p.name for p in whole.iterdir()) == sorted(p.name for p in streamed.iterdir())
            assert all(p.read_bytes() == (streamed / p.name).read_bytes() for p in whole.iterdir())
        else:
            assert streamed.read_bytes() == whole.read_bytes()
    assert not [path for path in (tmp_path / "streamed").iterdir() if path.name.startswith(".")]


def test_one_run_of_several_experts_has_the_same_experts_in_all_batches(runs: Path, qrels: Path) -> None:
    lines = sorted(
        (line for path in sorted(runs.iterdir()) for line in path.read_text().splitlines()), key=lambda t: t.split()[0]
    )
    (runs.parent / "one.run").write_text("\n".join(lines) + "\n")
    model, source = juryrank.method("jury"), runs.parent / "one.run"
    fit_labelled(files_of(source, qrels, 1), model)
    assert to_json(model) == to_json(juryrank.fit(source, "jury", labels=qrels))


def test_a_method_that_needs_all_data_says_what_to_do(runs: Path, qrels: Path) -> None:
    with pytest.raises(DataError, match=r"crf needs all its training data at once.* a sample of the queries"):
        juryrank.fit_files([runs], "crf", labels=qrels, memory=10**7)
    with pytest.raises(DataError, match="rrf learns nothing"):
        juryrank.fit_files([runs], "rrf", labels=qrels, memory=10**7)


def test_bad_input_is_an_error_that_says_what_to_do(runs: Path, qrels: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"index of 20 queries and the labels take .* give at least"):
        juryrank.fit_files([runs], labels={"q1": {"d1": 1}}, memory=1000)
    table = tmp_path / "labels.csv"
    table.write_text("query,item,label\n" + "q1,d1,1\n" * 1000)
    with pytest.raises(DataError, match=r"labels take about .* sorted by query are read query by query"):
        juryrank.evaluate_files([runs], table, "AP", memory=100_000)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        juryrank.fit_files([runs], labels=tmp_path / "nowhere.qrels", memory=10**7)
    with pytest.raises(DataError, match="learns from labels, and the data has none"):
        juryrank.fit_files([runs], memory=10**7)
    with pytest.raises(DataError, match="give labels="):
        juryrank.evaluate_files([runs], None, "AP", memory=10**7)
    with pytest.raises(UnknownNameError, match="ranking for the baseline"):
        juryrank.evaluate_files([runs], qrels, "AP", memory=10**7, baseline="nobody")
    with pytest.raises(DataError, match="with a memory limit, a TREC run"):
        juryrank.convert_files([runs], tmp_path / "x.soc", memory=10**7)


def test_labels_that_do_not_match_are_an_error_as_in_a_whole_read(runs: Path, tmp_path: Path) -> None:
    for labels in ({"x1": {"d1": 1}, "x2": {"d1": 1}}, {"q1": {"e1": 1}, "q2": {"e2": 0}}):
        with pytest.raises(DataError) as whole:
            juryrank.fit(runs, "jury", labels=labels)
        with pytest.raises(DataError) as streamed:
            juryrank.fit_files([runs], "jury", labels=labels, memory=10**7)
        assert str(streamed.value) == str(whole.value)
    scattered = tmp_path / "scattered.qrels"
    scattered.write_text("".join(f"q{n % 50} 0 d{n} 1\n" for n in range(4000)))
    with pytest.raises(DataError, match=r"scattered\.qrels: the rows of a query must be adjacent.*sort -s -k1,1"):
        juryrank.fit_files([runs], "jury", labels=scattered, memory=10**6)


def test_real_tables_give_the_same_model_and_evaluation(shared_data: Path, tmp_path: Path) -> None:
    """MQ2008-agg: 25 experts, lists with gaps, ranks without scores."""
    data = juryrank.read(shared_data / "MQ2008-agg")[:150]
    juryrank.write(data, path := tmp_path / "mq2008.parquet")
    whole = juryrank.read(path)
    model = juryrank.method("jury")
    fit_labelled(files_of(path, None, 10**7), model)
    assert to_json(model) == to_json(juryrank.method("jury").fit(whole))
    metrics = as_metrics(["nDCG@10", "AP"])
    found, streamed = messages(lambda: evaluate_labelled(files_of(path, None, 10**6), metrics))
    expected, told = messages(lambda: juryrank.evaluate(whole, whole, metrics))
    assert json.dumps(found.to_dict()) == json.dumps(expected.to_dict())
    assert streamed == told


def test_real_runs_give_the_same_model_and_evaluation(shared_data: Path, tmp_path: Path) -> None:
    """TREC-COVID, round 1: runs of several systems and judgements of some items."""
    folder, qrels = tmp_path / "runs", shared_data / "trec-covid-round1" / "qrels.txt"
    folder.mkdir()
    for path in sorted((shared_data / "trec-covid-round1" / "runs").glob("[C-P]*"))[:4]:
        text = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
        lines = [line for line in text if line.split()[3].isdigit() and int(line.split()[3]) <= 100]
        (folder / f"{path.stem}.run").write_text("".join(lines))
    whole = juryrank.read(folder, labels=qrels)
    model = juryrank.method("jury")
    fit_labelled(files_of(folder, QrelsByQuery(qrels, 1000), 500_000), model)
    assert to_json(model) == to_json(juryrank.method("jury").fit(whole))
    found = evaluate_labelled(files_of(folder, qrels, 500_000), as_metrics(["nDCG@10", "AP"]))
    assert json.dumps(found.to_dict()) == json.dumps(juryrank.evaluate(whole, whole, ["nDCG@10", "AP"]).to_dict())


def test_chosen_queries_that_belong_together_are_in_one_batch(runs: Path, qrels: Path) -> None:
    """Queries that were not chosen stand between the others and count with the ones before them."""
    chosen, groups = np.array([2, 3, 7, 8, 11, 12, 13, 19]), np.array([0, 0, 1, 1, 2, 2, 2, 3])
    files = files_of(runs, qrels, 10**9)
    files.size = int(max(files.cost[lo:hi].sum() for lo, hi in ((0, 7), (7, 11), (11, 19), (19, 20))))
    batches = ChosenQueries(files, chosen).map(lambda batch: groups[batch.numbers].tolist(), groups)
    assert list(batches) == [[0, 0], [1, 1], [2, 2, 2], [3]]
