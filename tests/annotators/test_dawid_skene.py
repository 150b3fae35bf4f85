"""Dawid–Skene: equal to crowd-kit and to a slow version step by step, and near the truth of simulations."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.errors import ConvergenceWarning, DataWarning
from peers import peer
from tasks.crowd.simulated_crowds import simulate

SMALLEST = 1e-10


def after(steps: int, table: Any, method: str, **settings: Any) -> Any:
    """The labels after so many steps from the shares of the votes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return jr.crowd(table, method, max_iter=steps, tol=0, **settings)


def crowd_kit(name: str, table: pl.DataFrame, steps: int, gold: dict[str, str] | None = None) -> tuple[Any, Any]:
    """The probabilities of crowd-kit after so many steps, and the object."""
    pandas = pytest.importorskip("pandas")
    model = getattr(peer("crowdkit.aggregation.classification.dawid_skene"), name)(n_iter=steps, tol=-math.inf)
    frame = pandas.DataFrame({column: table[column].to_list() for column in ("task", "worker", "label")})
    known = {} if gold is None else {"true_labels": pandas.Series(gold)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the versions of pandas
        return model.fit_predict_proba(frame, **known), model


def difference(found: Any, theirs: Any) -> float:
    """The largest difference of a probability."""
    names = found.answers.tasks["item"].to_list()
    return float(np.abs(theirs.loc[names, list(found.classes)].to_numpy() - found.probability).max())


def slow_dawid_skene(
    rows: list[tuple[str, str, str]], steps: int, gold: dict[str, str]
) -> dict[tuple[str, str], float]:
    """Task and label -> probability, by the formulas of the paper, one number at a time."""
    tasks, workers, classes = (sorted({row[k] for row in rows}) for k in range(3))
    known = {(t, c): float(gold[t] == c) for t in tasks if t in gold for c in classes}
    chance = {}
    for t in tasks:
        votes = [label for task, _, label in rows if task == t]
        chance |= {(t, c): votes.count(c) / len(votes) for c in classes}
    chance |= known
    for _ in range(steps):
        share = {c: sum(chance[t, c] for t in tasks) / len(tasks) for c in classes}
        error = {}
        for w in workers:
            used = sorted({label for _, worker, label in rows if worker == w})
            for c in classes:
                mass = {g: sum(chance[t, c] for t, u, label in rows if (u, label) == (w, g)) for g in used}
                mass = {g: max(value, SMALLEST) for g, value in mass.items()}
                error |= {(w, c, g): value / sum(mass.values()) for g, value in mass.items()}
        for t in tasks:
            joint = {
                c: max(share[c], SMALLEST) * math.prod(error[w, c, g] for task, w, g in rows if task == t)
                for c in classes
            }
            chance |= {(t, c): value / sum(joint.values()) for c, value in joint.items()}
        chance |= known
    return chance


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_tasks", "n_workers", "n_classes", "per_task", "seed"),
    [(300, 20, 2, 5, 0), (500, 40, 4, 3, 1), (200, 60, 7, 10, 2), (400, 10, 3, 1, 3)],
)
def test_posteriors_equal_those_of_crowd_kit(
    n_tasks: int, n_workers: int, n_classes: int, per_task: int, seed: int
) -> None:
    table, _, _ = simulate(n_tasks, n_workers, n_classes, per_task, seed)
    for steps in (1, 20):
        theirs, model = crowd_kit("DawidSkene", table, steps)
        assert len(model.loss_history_) == steps
        assert difference(after(steps, table, "dawid-skene"), theirs) < 1e-6


def test_one_coin_posteriors_equal_those_of_crowd_kit() -> None:
    table, _, _ = simulate(150, 15, 4, 4, 4)
    for steps in (1, 6):
        assert difference(after(steps, table, "one-coin"), crowd_kit("OneCoinDawidSkene", table, steps)[0]) < 1e-6


def test_with_gold_labels_posteriors_equal_those_of_crowd_kit() -> None:
    table, truth, _ = simulate(200, 15, 3, 3, 5)
    gold = {f"t{t}": f"c{truth[t]}" for t in range(0, 200, 4)}
    found = after(10, table, "dawid-skene", gold=gold)
    assert difference(found, crowd_kit("DawidSkene", table, 10, gold)[0]) < 1e-6
    assert {task: found.labels[task] for task in gold} == gold


@pytest.mark.slow
def test_on_the_crowd_of_trec_posteriors_equal_those_of_crowd_kit(shared_data: Path) -> None:
    frame = pl.read_csv(shared_data / "trec2011-crowd" / "trec-rf10-data.txt.gz", separator="\t", infer_schema=False)
    task = pl.concat_str("topicID", "docID", separator=" ")
    table = frame.select(task=task, worker="workerID", label="label")
    table = table.unique(["task", "worker"], keep="last", maintain_order=True)
    found = after(10, table, "dawid-skene")
    assert len(found) == 20232
    assert difference(found, crowd_kit("DawidSkene", table, 10)[0]) < 1e-6


@pytest.mark.parametrize("known", [0, 8])
def test_posteriors_equal_those_of_the_formulas(known: int) -> None:
    table, truth, _ = simulate(40, 8, 3, 3, 6)
    gold = {f"t{t}": f"c{truth[t]}" for t in range(known)}
    found = after(5, table, "dawid-skene", gold=gold or None)
    slow = slow_dawid_skene(table.rows(), 5, gold)
    for t, name in enumerate(found.answers.tasks["item"]):
        assert found.probability[t] == pytest.approx([slow[name, c] for c in found.classes], abs=1e-12)


def test_the_likelihood_rises_and_is_that_of_all_answers() -> None:
    table, _, _ = simulate(30, 6, 2, 4, 7)
    values = [after(steps, table, "dawid-skene").estimate.log_likelihood for steps in (2, 4, 8, 16)]
    assert values == sorted(values)
    before = after(3, table, "dawid-skene")  # whose matrices and shares the fourth step uses
    share, answers = before.probability.mean(0), before.answers
    whole = 0.0
    for t in range(answers.n_tasks):
        rows = np.flatnonzero(answers.task == t)
        given = before.estimate.confusion[answers.worker[rows], :, answers.label[rows]].prod(0)
        whole += math.log(share @ given)
    assert after(4, table, "dawid-skene").estimate.log_likelihood == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "ordinal-dawid-skene", "glad"])
def test_labels_and_workers_of_a_simulation_are_found(method: str) -> None:
    table, truth, matrices = simulate(3000, 25, 3, 7, 8, accuracy=(0.5, 0.95))
    order = {"order": ["c0", "c1", "c2"]} if method == "ordinal-dawid-skene" else {}
    found, votes = (jr.crowd(table, name, **more) for name, more in ((method, order), ("majority-vote", {})))
    names = [f"c{c}" for c in truth]
    right, simple = (np.mean([each.labels[f"t{t}"] == names[t] for t in range(3000)]) for each in (found, votes))
    assert right > simple
    assert right > 0.93
    share = np.bincount(truth) / 3000
    accuracy = {f"w{w}": float(share @ matrices[w].diagonal()) for w in range(25)}
    for worker in found.workers:
        assert worker.reliability == pytest.approx(accuracy[worker.worker], abs=0.06)


def test_confusion_matrices_of_a_simulation_are_found() -> None:
    table, _, matrices = simulate(6000, 12, 3, 6, 9)
    found = jr.crowd(table)
    assert found.converged
    for w, name in enumerate(found.answers.workers):
        assert np.abs(found.estimate.confusion[w] - matrices[int(name[1:])]).max() < 0.07
    one = found.confusion("w3")
    assert one.columns == ["true", "c0", "c1", "c2"]
    assert one["c1"][0] == found.confusion().filter(worker="w3", true="c0", given="c1")["probability"].item()


def test_what_does_not_converge_is_told() -> None:
    table, _, _ = simulate(60, 8, 3, 3, 10)
    with pytest.warns(ConvergenceWarning, match="dawid-skene: .* did not converge after 2 steps"):
        found = jr.crowd(table, max_iter=2)
    assert not found.converged
    assert found.steps == 2
    assert "not converged" in str(found)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad", "majority-vote"])
def test_the_order_of_rows_and_the_names_do_not_matter(method: str) -> None:
    table, _, _ = simulate(80, 10, 3, 4, 11)
    mixed = table.sample(fraction=1.0, shuffle=True, seed=1)
    found, again = jr.crowd(table, method), jr.crowd(mixed, method)
    assert np.array_equal(found.probability, again.probability)
    renamed = jr.crowd(table.with_columns(worker=pl.format("x{}y", pl.col("worker").str.reverse())), method)
    assert found.probability == pytest.approx(renamed.probability, abs=1e-9)


def test_the_last_of_repeated_answers_counts_and_they_are_counted() -> None:
    rows = [("t", "w", "a"), ("t", "v", "b"), ("t", "w", "b")]
    with pytest.warns(DataWarning, match="1 answer is repeated"):
        found = jr.crowd(rows, "majority-vote")
    assert found.labels == {"t": "b"}
    assert (found.classes, found.probability.tolist()) == (("a", "b"), [[0.0, 1.0]])
