"""Trials in worker processes: the same values as by hand, kept as they come, in an order that keeps cores busy."""

import math
import os
import statistics
import time
from pathlib import Path

import numpy as np
import pytest

import juryrank
from conftest import random_dataset
from juryrank.metrics import Truth, parse_metric
from studies.learners import learner
from studies.papers.experiment import Context
from studies.papers.folds import rotation
from studies.papers.trials import METRICS, Trial, Trials, consensus_methods, start_order
from studies.papers.workers import workers


@pytest.fixture
def trials(tmp_path: Path) -> Trials:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "some").write_text("something")
    data = random_dataset(3, n_queries=30)
    return Trials(Context(tmp_path / "data", tmp_path / "out"), "some", data, rotation(data, 3))


def by_hand(trials: Trials, name: str, **params: object) -> np.ndarray:
    found = []
    for fold in trials.splits:
        train, valid, test = (
            trials.data.take(np.array(part, np.int64)) for part in (fold.train, fold.valid, fold.test)
        )
        model = learner(name, **params).fit(train, valid=valid if len(fold.valid) else None)
        judged = Truth(test).judge(model.predict(test), convention="letor")
        found.append([parse_metric(metric).per_query(judged) for metric in METRICS])
    return np.concatenate(found, axis=1)


def test_workers_give_the_values_that_one_gets_by_hand(trials: Trials) -> None:
    rows = [Trial.of("borda"), Trial("rrf, k 5", "rrf", {"k": 5.0}), Trial.of("jury")]
    trials.prepare(rows)
    kept = sorted((trials.context.out / "values").iterdir())
    assert [path.name.rpartition("-")[0] for path in kept] == ["borda", "jury", "rrf"]
    for trial in rows:
        np.testing.assert_array_equal(trials.values(trial), by_hand(trials, trial.name, **trial.params))
    assert sorted((trials.context.out / "values").iterdir()) == kept  # nothing was measured twice
    np.testing.assert_array_equal(trials.measure(learner("jury")), trials.values(rows[2]))


def test_the_error_of_a_mean_adds_those_over_folds_and_seeds(trials: Trials) -> None:
    short = Trial("lambdarank", "lambdarank", {"epochs": 2})
    seeds = trials.context.seeds
    assert len(seeds) == 3
    by_seed = [by_hand(trials, short.name, **short.params, seed=seed)[METRICS.index("AP")] for seed in seeds]
    sizes = [len(fold.test) for fold in trials.splits]
    means = [[100 * values[sum(sizes[:f]) : sum(sizes[: f + 1])].mean() for values in by_seed] for f in range(3)]
    folds = [statistics.mean(of_fold) for of_fold in means]
    drawn = [statistics.mean(of_seed) for of_seed in zip(*means, strict=True)]
    expected = math.sqrt(statistics.variance(folds) / 3 + statistics.variance(drawn) / 3)
    assert trials.spread(short) == pytest.approx(expected)
    of_folds = [100 * part[METRICS.index("AP")].mean() for part in trials.by_fold(by_hand(trials, "borda"))]
    assert trials.spread(Trial.of("borda")) == pytest.approx(statistics.stdev(of_folds) / math.sqrt(3))


def test_values_that_are_damaged_on_the_disk_are_measured_again(trials: Trials) -> None:
    trial = Trial.of("borda")
    expected = trials.values(trial)
    (path,) = (trials.context.out / "values").iterdir()
    content = path.read_bytes()
    changed = {
        "empty": b"",
        "cut short": content[:-50],
        "one bit": content[:300] + bytes([content[300] ^ 1]) + content[301:],
        "text": b"not an array",
        "an older file": content[:-32],
    }
    for damage, new in changed.items():
        path.write_bytes(new)
        again = Trials(trials.context, trials.name, trials.data, trials.splits)
        np.testing.assert_array_equal(again.values(trial), expected, err_msg=damage)
        assert path.read_bytes() == content, damage


def test_one_of_each_family_is_started_first_and_the_last_rows_before_others() -> None:
    names = ["mc1", "mc2", "crf", "lambdarank", "mc3"]
    started = start_order({Path(name): juryrank.method(name) for name in names})
    assert [path.name for path in started] == ["mc3", "lambdarank", "crf", "mc2", "mc1"]


def test_workers_run_kernels_in_one_thread_and_end_with_their_parent(tmp_path: Path) -> None:
    context = Context(tmp_path, tmp_path)
    pool = workers(context)
    assert workers(context) is pool
    assert pool.submit(os.getenv, "JURYRANK_THREADS").result() == "1"
    child = pool.submit(os.getpid).result()
    pool.shutdown()
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("a worker goes on without its pool")


def test_consensus_methods_rank_lists_without_scores_labels_and_features():
    data = juryrank.from_dicts({"a": {"q": ["x", "y", "z"]}, "b": {"q": ["y", "x", "z"]}})
    names = consensus_methods()
    assert "borda" in names
    assert "majority-judgement" not in names
    for name in names:
        assert set(juryrank.method(name).fit_predict(data)["q"].top()["q"]) == {"x", "y", "z"}
