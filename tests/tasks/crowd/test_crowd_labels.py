"""The result: ties, expected grades, labels for everything downstream, agreement, and what to do next."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.annotators.agreement import fleiss, krippendorff, krippendorff_of_counts
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.tasks.crowd.review import entropy, expected_information, upper_bound
from tasks.crowd.simulated_crowds import simulate

GRADES = [("q", "a", "ann", 2), ("q", "a", "ben", 1), ("q", "b", "ann", 0), ("q", "b", "ben", 0), ("r", "a", "ben", 1)]


def test_ties_are_told() -> None:
    found = jr.crowd([("t", "ann", "yes"), ("t", "ben", "no"), ("s", "ann", "yes")], "majority-vote")
    assert found.tied.tolist() == [False, True]
    assert found.tied_labels() == {("all", "t"): ["no", "yes"]}
    assert found.labels == {"s": "yes", "t": "no"}
    assert "1 task is tied" in str(found)


def test_expected_grades_are_scores_and_labels() -> None:
    found = jr.crowd(GRADES, "majority-vote")
    assert found.expected.tolist() == [1.5, 0.0, 1.0]
    assert found.consensus().to_dict() == {"q": {"a": 1.5, "b": 0.0}, "r": {"a": 1.0}}
    labels = found.to_labels()
    assert (labels.label_value.tolist(), labels.label_weight.tolist()) == ([1.0, 0.0, 1.0], [0.5, 1.0, 1.0])
    assert found.to_labels("expected").label_value.tolist() == [1.5, 0.0, 1.0]
    with pytest.raises(ParameterError, match="kind of labels must be one of most-likely, expected"):
        found.to_labels("mean")


def test_expected_grades_are_evaluated_and_written_as_qrels(tmp_path: Path) -> None:
    found = jr.crowd(GRADES, "majority-vote")
    run = {"q": {"b": 2.0, "a": 1.0}, "r": {"a": 1.0}}
    data = jr.read({"bm25": run})
    ours = jr.evaluate(jr.method("borda").fit(data).predict(data), found.to_labels("expected"), "nDCG@2")
    assert ours["nDCG@2"] == pytest.approx((1 / math.log2(3) + 1) / 2)  # gain 1.5 at rank 2 of q, 1 at rank 1 of r
    jr.write(found.to_dataset("expected"), tmp_path / "labels.qrels")
    assert (tmp_path / "labels.qrels").read_text() == "q 0 a 1.5\nq 0 b 0\nr 0 a 1\n"


def test_written_labels_are_read_with_their_confidence_as_weight(tmp_path: Path) -> None:
    found = jr.crowd(GRADES, "majority-vote")
    found.to_frame().write_csv(tmp_path / "labels.csv")
    data = jr.read({"bm25": {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}}}, labels=tmp_path / "labels.csv")
    assert data.labels is not None
    assert data.labels.label_value.tolist() == [1.0, 0.0, 1.0]
    assert data.labels.label_weight is not None
    assert data.labels.label_weight.tolist() == [0.5, 1.0, 1.0]


def test_an_order_of_labels_gives_grades() -> None:
    rows = [("t", "w", "poor"), ("t", "v", "good"), ("s", "w", "fair")]
    found = jr.crowd(rows, "majority-vote", order=["poor", "fair", "good"])
    assert found.classes == ("poor", "fair", "good")
    assert found.expected.tolist() == [1.0, 1.0]
    graded = jr.crowd(rows, "majority-vote", grades={"poor": 0, "fair": 5, "good": 7})
    assert dict(zip(graded.answers.tasks["item"], graded.expected, strict=True)) == {"s": 5.0, "t": 3.5}
    with pytest.raises(DataError, match=r"grades need labels that are numbers.*order="):
        _ = jr.crowd(rows, "majority-vote").expected
    with pytest.raises(DataError, match="order= lacks labels of the data: good"):
        jr.crowd(rows, order=["poor", "fair"])
    with pytest.raises(DataError, match="grades= lacks labels of the data: good"):
        jr.crowd(rows, grades={"poor": 0, "fair": 1})
    with pytest.raises(DataError, match="ordinal-dawid-skene needs an order of the labels"):
        jr.crowd(rows, "ordinal-dawid-skene")


def test_ordinal_labels_are_those_of_combine_judgements() -> None:
    rng = np.random.default_rng(0)
    rows = [("q", f"i{i}", f"w{w}", int(np.clip(i % 4 + rng.normal(), 0, 3))) for i in range(40) for w in range(4)]
    ours = jr.crowd(rows, "ordinal-dawid-skene").to_frame().sort("item")
    theirs = jr.combine_judgements(rows).to_frame().sort("item")
    assert ours["expected"].to_list() == pytest.approx(theirs["expected"].to_list())
    assert ours["confidence"].to_list() == pytest.approx(theirs["label_weight"].to_list())


def test_gold_as_a_check_changes_no_label_and_gives_the_accuracy() -> None:
    table, truth, _ = simulate(300, 12, 3, 5, 0)
    gold = {f"t{t}": f"c{truth[t]}" for t in range(100)}
    plain, checked, fitted = jr.crowd(table), jr.crowd(table, gold=gold, gold_for="check"), jr.crowd(table, gold=gold)
    assert checked.labels == plain.labels
    right = np.mean([plain.labels[task] == label for task, label in gold.items()])
    assert [a.method for a in checked.accuracy] == ["dawid-skene", "majority-vote"]
    assert checked.accuracy[0].right == pytest.approx(right)
    assert fitted.accuracy[0] == checked.accuracy[0]
    assert {task: fitted.labels[task] for task in gold} == gold
    assert fitted.next_tasks().height == 200


def test_fleiss_kappa_is_that_of_the_published_example() -> None:
    # Fleiss 1971, ten subjects, fourteen raters, five categories: 0.210
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert fleiss(np.array(counts)) == pytest.approx(0.210, abs=5e-4)
    assert math.isnan(fleiss(np.array([[3, 0], [2, 0]])))
    assert math.isnan(fleiss(np.array([[1, 0]])))


def test_alpha_of_counts_is_that_of_krippendorffs_example() -> None:
    # Krippendorff 2011, four observers and twelve units: nominal 0.743, interval 0.849
    units = [
        [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4], [1, 1, 2, 1],
        [2, 2, 2, 2], [5, 5, 5], [1, 1],
    ]  # fmt: skip
    counts = np.array([[unit.count(value) for value in range(1, 6)] for unit in units])
    assert krippendorff_of_counts(counts)[0] == pytest.approx(0.743, abs=5e-4)
    interval = krippendorff_of_counts(counts, np.arange(1.0, 6.0))
    assert interval[0] == pytest.approx(0.849, abs=5e-4)
    assert interval[0] == pytest.approx(krippendorff([list(map(float, unit)) for unit in units])[0])
    assert interval[1] < interval[0] < interval[2]
    assert math.isnan(krippendorff_of_counts(np.array([[1, 0], [0, 1]]))[0])


def test_agreement_of_a_crowd_uses_differences_where_labels_are_numbers() -> None:
    rows = [("a", "v", 0), ("a", "w", 1), ("b", "v", 5), ("b", "w", 5)]
    numbers, names = jr.crowd(rows, "majority-vote"), jr.crowd([(t, w, f"x{g}") for t, w, g in rows], "majority-vote")
    assert numbers.alpha[0] == pytest.approx(krippendorff([[0.0, 1.0], [5.0, 5.0]])[0])
    assert numbers.alpha[0] > names.alpha[0]


def test_expected_information_is_the_expected_fall_of_the_entropy() -> None:
    rng = np.random.default_rng(1)
    confusion = rng.dirichlet(np.ones(3), 3)
    for before in rng.dirichlet(np.ones(3), 5):
        after = 0.0
        for given in range(3):
            joint = before * confusion[:, given]
            after += joint.sum() * float(entropy(joint / joint.sum()))
        assert expected_information(before[None], confusion)[0] == pytest.approx(float(entropy(before)) - after)


def test_the_tasks_to_ask_again_are_the_unsure_ones() -> None:
    rows = [(f"sure{n}", f"w{w}", "ab"[n % 2]) for n in range(10) for w in range(5)]
    rows += [("unsure", f"w{w}", "ab"[w % 2]) for w in range(4)]
    found = jr.crowd(rows, "majority-vote")
    assert found.next_tasks(1)["item"].to_list() == ["unsure"]
    assert "unsure" in str(found)


def test_workers_who_guess_or_always_say_the_same_are_to_be_reviewed() -> None:
    table, truth, _ = simulate(400, 10, 3, 5, 2, accuracy=(0.8, 0.95))
    rng = np.random.default_rng(0)
    rows = table.rows() + [(f"t{t}", "lazy", "c0") for t in range(150)]
    rows += [(f"t{t}", "guesser", f"c{rng.integers(3)}") for t in range(150)] + [("t1", "new", "c2")]
    gold = {f"t{t}": f"c{truth[t]}" for t in range(60)}
    found = jr.crowd(rows, gold=gold)
    reasons = {worker.worker: worker.reasons for worker in found.workers if worker.reasons}
    assert {"lazy", "guesser"} <= set(reasons)
    assert "new" not in reasons
    assert len(reasons) <= 4
    assert "100% of the answers are 'c0'" in "; ".join(reasons["lazy"])
    assert "nearly nothing" in "; ".join(reasons["guesser"])
    assert "gold tasks" in reasons["guesser"][0]
    frame = found.workers_frame()
    assert frame.filter(worker="lazy")["review"].item() == "; ".join(reasons["lazy"])
    assert frame.filter(worker="lazy")["gold_tasks"].item() == 60


def test_the_usual_share_of_right_gold_answers_and_agreements_is_that_of_all_workers() -> None:
    """Worked by hand: 20 gold tasks, of which two workers have all right and a third has half, and 20 other tasks."""
    rows = [(f"{kind}{t}", worker, "yes") for kind in ("g", "t") for t in range(20) for worker in ("ann", "ben")]
    rows += [(f"{kind}{t}", "cat", "yes" if t < 10 else "no") for kind in ("g", "t") for t in range(20)]
    rows += [(f"s{t}", "ann", "yes") for t in range(60)]  # nobody else answers these, so they are not compared
    board = jr.crowd(rows, "majority-vote", gold={f"g{t}": "yes" for t in range(20)})
    [cat] = [worker for worker in board.workers if worker.reasons]
    # On gold 20 + 20 + 10 of 60 answers are right; of 120 that can be compared, 40 + 40 + 20 agree.
    assert cat.reasons[0] == "right on 10 of 20 gold tasks, all workers on 83%"
    assert cat.reasons[-1] == "agrees with 50% of the labels, all workers with 83%"


def test_workers_come_by_reliability_then_by_their_number_of_answers_then_by_name() -> None:
    rows = [(f"t{t}", worker, "yes") for t in range(4) for worker in ("zoe", "ben", "ann")]
    rows += [("t4", "ben", "yes"), ("t0", "cat", "no")]
    board = jr.crowd(rows, "majority-vote", gold={f"t{t}": "yes" for t in range(5)})
    assert [worker.worker for worker in board.workers] == ["ben", "ann", "zoe", "cat"]
    assert [worker.reliability for worker in board.workers] == [1.0, 1.0, 1.0, 0.0]


def test_the_upper_bound_of_a_share_is_wilsons() -> None:
    # Wilson's interval is where the difference to the share is 1.96 standard errors of the bound itself
    for right, n in ((3, 10), (0, 20), (19, 20)):
        bound = upper_bound(right, n)
        assert abs(bound - right / n) == pytest.approx(1.959964 * math.sqrt(bound * (1 - bound) / n), rel=1e-6)


def test_a_report_has_all_labels_and_workers() -> None:
    found = jr.crowd(GRADES, "majority-vote")
    whole = found.to_dict()
    assert [row["label"] for row in whole["labels"]] == ["1", "0", "1"]
    assert [worker["worker"] for worker in whole["workers"]] == ["ben", "ann"]
    assert found.probabilities().columns == ["query", "item", "p(0)", "p(1)", "p(2)"]
    assert found.probabilities()["p(2)"].to_list() == [0.5, 0.0, 0.0]
    assert found.render("csv").splitlines()[0] == "query,item,label,confidence,tied,answers,expected"
    assert repr(found) == "CrowdLabels(3 tasks, 2 workers, 5 answers, by majority-vote)"


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    table, _, _ = simulate(60, 8, 3, 4, 3)
    jr.crowd(table).plot(tmp_path / "crowd.svg")
    drawn = (tmp_path / "crowd.svg").read_text()
    assert drawn.count("<use ") > 8  # a mark for each worker


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"method": "dawid"}, UnknownNameError, "did you mean 'dawid-skene'"),
        ({"gold_for": "nothing"}, ParameterError, "gold_for must be one of fit, check"),
        ({"max_iter": 0}, ParameterError, "max_iter of crowd must be at least 1"),
        ({"tol": -1}, ParameterError, "tol of crowd must be at least 0"),
    ],
)
def test_wrong_parameters_are_refused(settings: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jr.crowd(GRADES, **settings)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad", "ordinal-dawid-skene", "majority-vote"])
def test_one_task_and_one_class_are_fine(method: str) -> None:
    assert jr.crowd([("t", "w", 1)], method).labels == {"t": "1"}
    found = jr.crowd([("t", "w", 1), ("t", "v", 1)], method)
    assert found.probability.tolist() == [[1.0]]
    assert isinstance(found.to_frame(), pl.DataFrame)
    assert "Agreement is unknown" in str(found)
