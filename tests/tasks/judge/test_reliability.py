"""Several judges: Dawid–Skene against a slow version, the truth of simulations, and gold labels of a crowd."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import juryrank as jr
from juryrank.annotators.combine import combine_grades, expected_grades
from juryrank.annotators.dawid_skene import Judgements, Regularisation, dawid_skene, ordinal_matrix
from juryrank.errors import ConvergenceWarning, DataError, DataWarning, UnknownNameError
from juryrank.io import read
from juryrank.tasks.judge.reliability import CombinedJudgements

RUN = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq1 Q0 c 3 7 t\n"


def simulate(
    seed: int, *, n_items: int = 300, n_judges: int = 25, per_item: int = 3, n_grades: int = 4
) -> tuple[np.ndarray, pl.DataFrame]:
    """True grades, and the grades of judges with noise and bias of their own on a continuous scale."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_grades, n_items, p=rng.dirichlet(np.full(n_grades, 4.0)))
    noise, bias = rng.gamma(2.0, 0.35, n_judges), rng.normal(0, 0.4, n_judges)
    active = rng.pareto(1.0, n_judges) + 0.1
    rows = []
    for i in range(n_items):
        for j in rng.choice(n_judges, per_item, replace=False, p=active / active.sum()):
            grade = np.clip(np.round(truth[i] + bias[j] + noise[j] * rng.normal()), 0, n_grades - 1)
            rows.append(("q", f"i{i:04}", f"j{j:02}", float(grade)))
    return truth, pl.DataFrame(rows, schema=["query", "item", "judge", "grade"], orient="row")


def slow_steps(given: Judgements, prior: Regularisation, steps: int) -> np.ndarray:
    """The same EM, one judgement at a time."""
    size = len(given.levels)
    graded = [
        [(j, g) for i, j, g in zip(given.item, given.judge, given.grade, strict=True) if i == n]
        for n in range(given.n_items)
    ]
    marginal = [1.0 + sum(g == c for g in given.grade) for c in range(size)]
    p = [[sum(g == c for _, g in row) / len(row) if t < 0 else float(t == c) for c in range(size)]
         for row, t in zip(graded, given.true_grade, strict=True)]  # fmt: skip
    tells = [len(row) + (t >= 0) > 1 for row, t in zip(graded, given.true_grade, strict=True)]
    for _ in range(steps):
        count = np.zeros((given.n_judges, size, size))
        share = prior.share * np.array(marginal) / sum(marginal)
        for n, row in enumerate(graded):
            if tells[n]:
                share = share + p[n]
                for j, g in row:
                    count[j, :, g] += p[n]
        share = share / share.sum()
        pooled = count.sum(0) + prior.average * ordinal_matrix(size, prior.step)
        for n, row in enumerate(graded):
            if given.true_grade[n] >= 0:
                continue
            odds = share.copy()
            for j, g in row:
                for c in range(size):
                    average = pooled[c, g] / pooled[c].sum()
                    odds[c] *= (count[j, c, g] + prior.judge * average) / (count[j, c].sum() + prior.judge)
            p[n] = odds / odds.sum()
    return np.array(p)


@pytest.mark.filterwarnings("ignore::juryrank.errors.ConvergenceWarning")
@pytest.mark.parametrize("gold", [False, True])
def test_steps_are_those_of_a_slow_version(gold: bool) -> None:
    truth, rows = simulate(1, n_items=30, n_judges=6)
    given = combine_grades(rows[:80], method="mean").given  # so some items have one grade
    true_grade = np.where(gold & (np.arange(given.n_items) % 4 == 0), truth[: given.n_items], -1)
    given = Judgements(given.item, given.judge, given.grade, given.levels, true_grade, given.n_judges)
    prior = Regularisation(max_iter=4, tol=0.0, calibration=1e12)  # without calibration
    assert_allclose(dawid_skene(given, prior).probability, slow_steps(given, prior, 4), atol=1e-8)


def test_the_ordinal_matrix_falls_with_the_distance_from_the_true_grade() -> None:
    matrix = ordinal_matrix(4, 0.25)
    assert_allclose(matrix.sum(1), 1.0)
    assert_allclose(matrix[1, 2:] / matrix[1, 1:3], 0.25)


def errors(labels: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(((labels - truth) ** 2).mean()))


def test_in_simulations_labels_are_nearer_to_the_truth_than_mean_and_majority() -> None:
    found: dict[str, list[float]] = {"dawid-skene": [], "mean": [], "majority": []}
    right: dict[str, list[float]] = {"dawid-skene": [], "mean": [], "majority": []}
    for seed in range(8):
        truth, rows = simulate(seed, n_judges=(5, 25, 60)[seed % 3], per_item=(2, 3, 5)[seed % 3])
        for method, values in found.items():
            combined = combine_grades(rows, method=method)
            values.append(errors(combined.expected, truth))
            right[method].append(np.mean(combined.label == truth))
    means = {method: np.mean(values) for method, values in found.items()}
    assert means["dawid-skene"] < 0.9 * means["mean"] < 0.9 * means["majority"]
    assert np.mean(np.array(found["dawid-skene"]) < found["mean"]) > 0.7
    assert np.mean(right["dawid-skene"]) > np.mean(right["majority"]) + 0.05


@pytest.mark.parametrize("labels", ["most-likely", "expected"])
def test_weights_say_how_near_labels_are_to_the_truth(labels: str) -> None:
    off, weights = [], []
    for seed in range(6):
        truth, rows = simulate(seed)
        combined = combine_grades(rows, labels=labels)
        off.append((combined.label - truth) ** 2)
        weights.append(combined.weight)
    off, weights = np.concatenate(off), np.concatenate(weights)
    low, high = off[weights < np.quantile(weights, 0.3)].mean(), off[weights > np.quantile(weights, 0.7)].mean()
    assert high < 0.5 * low


def test_the_weight_of_the_most_likely_grade_is_how_often_it_is_right() -> None:
    found = []
    for seed in range(8):
        truth, rows = simulate(seed, n_judges=12, per_item=4)
        combined = combine_grades(rows)
        found.append((np.mean(combined.label == truth), combined.weight.mean()))
    right, weight = np.mean(found, axis=0)
    assert weight == pytest.approx(right, abs=0.1)


def test_the_mean_weight_is_the_share_of_variance_explained() -> None:
    probability = np.random.default_rng(0).dirichlet(np.full(2, 0.3), 5000)
    levels = np.array([0.0, 2.0])
    label, weight = expected_grades(probability, levels)
    drawn = levels[[np.random.default_rng(n).choice(2, p=p) for n, p in enumerate(probability)]]
    assert weight.mean() == pytest.approx(1 - ((drawn - label) ** 2).mean() / drawn.var(), abs=0.02)
    assert_allclose(label, probability @ levels)


def lenient(seed: int) -> tuple[np.ndarray, np.ndarray, list[int], pl.DataFrame, float]:
    """Truth, grades of a lenient judge, items without gold, the labels with the gold of 40 items, the judge's bias."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, 600, p=[0.5, 0.25, 0.15, 0.1])
    grades = np.clip(np.round(truth + 0.8 + 0.7 * rng.normal(size=600)), 0, 3)
    rows = [("q", f"i{n:03}", "model", grade) for n, grade in enumerate(grades)]
    gold = {"q": {f"i{n:03}": int(truth[n]) for n in rng.permutation(600)[:40]}}
    found = jr.combine_judgements(rows, gold, labels="expected")
    rest = [n for n in range(600) if f"i{n:03}" not in gold["q"]]
    return truth[rest], grades[rest], rest, found.to_frame().sort("item")[rest], found.judges[0].bias


def test_a_few_true_labels_correct_a_lenient_judge() -> None:
    off, explained, weights = [], [], []
    for seed in range(6):
        truth, grades, _, labels, bias = lenient(seed)
        label = labels["label"].to_numpy()
        assert (grades - truth).mean() > 0.6
        assert bias > 0.4  # against the true labels
        assert errors(label, truth) < 0.75 * errors(grades, truth)
        off.append((label - truth).mean())
        explained.append(1 - errors(label, truth) ** 2 / truth.var())
        weights.append(labels["label_weight"].mean())
    assert abs(np.mean(off)) < 0.12
    assert np.mean(weights) == pytest.approx(np.mean(explained), abs=0.1)


def test_a_trusted_judge_is_gold() -> None:
    truth, rows = simulate(3, n_items=120, n_judges=3)
    some = [("q", f"i{n:04}", "boss", float(truth[n])) for n in range(0, 120, 4)]
    listed = [*rows.rows(), *some]
    found = jr.combine_judgements(listed, trusted=["boss"]).to_frame()
    same = jr.combine_judgements(rows.rows(), {"q": {item: grade for _, item, _, grade in some}}).to_frame()
    assert found.equals(same)
    known = found.filter(pl.col("item").is_in([item for _, item, _, _ in some]))
    assert_array_equal(known["label"], truth[::4])
    assert (known["label_weight"] == 1).all()
    with pytest.raises(DataError, match=r"trusted: no such judge: bos \(did you mean 'boss'\?\)"):
        jr.combine_judgements(listed, trusted=["bos"])


def test_gold_and_trusted_grades_are_true_together_and_a_trusted_judge_has_the_last_word() -> None:
    rows = [("q", item, judge, 0.0) for item in "abcd" for judge in ("ann", "ben")]
    rows += [("q", "b", "boss", 2.0), ("q", "c", "boss", 2.0)]
    table = jr.combine_judgements(rows, {"q": {"a": 1, "b": 1}}, trusted=["boss"]).to_frame()
    known = dict(zip(table["item"], table["label"], strict=True))
    assert (known["a"], known["b"], known["c"]) == (1.0, 2.0, 2.0)


def test_the_order_of_rows_and_the_names_of_judges_do_not_matter() -> None:
    _, rows = simulate(5)
    one = combine_grades(rows)
    mixed = combine_grades(rows.sample(fraction=1.0, shuffle=True, seed=1))
    assert_allclose(mixed.label, one.label, atol=1e-9)
    renamed = combine_grades(rows.with_columns(judge="z" + pl.col("judge").str.reverse()))
    assert_allclose(renamed.label, one.label, atol=1e-9)
    assert_array_equal(combine_grades(rows).label, one.label)


def test_a_judge_who_never_meets_others_is_the_average_judge() -> None:
    _, rows = simulate(2, n_items=100, n_judges=8)
    alone = pl.DataFrame([("q", "new", "alone", 3.0)], schema=rows.schema, orient="row")
    combined = combine_grades(pl.concat([rows, alone]))
    estimate = combined.estimate
    assert estimate is not None
    who = combined.judges.index("alone")
    assert combined.given.compares.sum() == 100
    counted = [n for n in range(len(combined.judges)) if n != who]
    assert estimate.confusion[who, 3, 3] < max(estimate.confusion[n, 3, 3] for n in counted)
    assert estimate.confusion[who, 3, 3] > min(estimate.confusion[n, 3, 3] for n in counted)
    found = jr.combine_judgements(pl.concat([rows, alone]))
    last = found.judges[-1]
    assert (last.judge, last.grades, last.compared) == ("alone", 1, 0)
    assert np.isnan([last.agreement, last.bias, last.accuracy]).all()


def plain(found: CombinedJudgements) -> list[tuple[str, str, float, float]]:
    """Query, item, label and weight of each label."""
    rows: list[tuple[str, str, float, float]] = found.to_frame().drop("expected").rows()
    return rows


def test_one_grade_per_item_is_the_label_with_weight_1() -> None:
    rows = [("q", "a", "ann", 2), ("q", "b", "ben", 0), ("r", "a", "ann", 0.5)]
    found = jr.combine_judgements(rows)
    assert plain(found) == [("q", "a", 2.0, 1.0), ("q", "b", 0.0, 1.0), ("r", "a", 0.5, 1.0)]
    assert found.labels.label_weight is None


def test_the_last_grade_of_a_judge_counts_and_none_takes_it_back() -> None:
    rows = [("q", "a", "ann", 2), ("q", "b", "ann", 1), ("q", "a", "ann", 0), ("q", "b", "ann", None)]
    assert plain(jr.combine_judgements(rows)) == [("q", "a", 0.0, 1.0)]


def test_mean_and_majority() -> None:
    rows = [("q", "a", judge, grade) for judge, grade in zip("uvwx", (0, 3, 3, 1), strict=True)]
    rows += [("q", "b", judge, grade) for judge, grade in zip("uv", (0, 3), strict=True)]
    labels = {m: jr.combine_judgements(rows, method=m).to_frame()["label"].to_list() for m in ("mean", "majority")}
    assert labels == {"mean": [1.75, 1.5], "majority": [3.0, 1.5]}
    with pytest.raises(UnknownNameError, match="no way to combine grades 'median'"):
        jr.combine_judgements(rows, method="median")
    with pytest.raises(UnknownNameError, match="no kind of label 'soft'"):
        jr.combine_judgements(rows, labels="soft")


def test_with_very_many_different_grades_the_mean_is_used() -> None:
    rows = [("q", f"i{n}", judge, n + 0.5 * (judge == "v")) for n in range(30) for judge in "uv"]
    found = jr.combine_judgements(rows)
    assert found.method == "mean"
    assert found.to_frame()["label"].to_list() == sorted([n + 0.25 for n in range(30)], key=lambda v: f"i{int(v)}")


def test_equal_grades_everywhere_are_certain() -> None:
    rows = [("q", item, judge, 1) for item in "ab" for judge in "uv"]
    assert plain(jr.combine_judgements(rows)) == [("q", "a", 1.0, 1.0), ("q", "b", 1.0, 1.0)]


def test_an_estimate_that_did_not_converge_is_reported() -> None:
    _, rows = simulate(1)
    with pytest.warns(
        ConvergenceWarning, match="dawid-skene: the reliability of judges did not converge after 2 steps"
    ):
        combined = combine_grades(rows, prior=Regularisation(max_iter=2))
    assert combined.estimate is not None
    assert not combined.estimate.converged


def test_the_report_ranks_judges_by_estimated_accuracy_and_counts_all() -> None:
    _, rows = simulate(4, n_judges=30)
    found = jr.combine_judgements(rows)
    accuracies = [each.accuracy for each in found.judges]
    assert accuracies == sorted(accuracies, reverse=True)
    assert sum(each.grades for each in found.judges) == rows.height
    text = str(found)
    assert f"{len(found.judges) - 20} judges in between are not shown" in text
    assert f"{len(found.judges)} judges gave 900 grades, labels are of 300 items; 300 items have several grades" in text
    assert found.to_dict()["judges"][0]["judge"] == found.judges[0].judge


@pytest.mark.parametrize("wrong", [[("q", "a", "ann")], 7, [("q", "a", "ann", "good")]])
def test_something_else_than_judgements_is_an_error(wrong: object) -> None:
    with pytest.raises(DataError, match="judgements are a file, a frame, or rows of query, item, judge and grade"):
        jr.combine_judgements(wrong)


def test_no_grades_are_an_error() -> None:
    with pytest.raises(DataError, match="there are no grades"):
        jr.combine_judgements([])
    with pytest.raises(DataError, match=r"need a column 'judge', .* columns are 'query', 'item', 'grade'"):
        jr.combine_judgements(pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1]}))


# Reading: --labels FILE and read(labels=FILE)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "some.run"
    path.write_text(RUN)
    return path


@pytest.mark.parametrize(
    "header", ["query,item,judge,grade", "qid,docno,worker,label", "query_id,doc_id,annotator,relevance"]
)
def test_labels_of_several_judges_are_combined_when_read(tmp_path: Path, run: Path, header: str) -> None:
    rows = ["q1,a,u,2", "q1,b,u,0", "q1,a,v,2", "q1,b,v,1", "q1,c,v,0"]
    path = tmp_path / "judged.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    with pytest.warns(
        DataWarning, match=r"judged.csv: 2 judges gave 5 grades, labels are of 3 items; 2 items have several"
    ):
        data = read(run, labels=path)
    expected = jr.combine_judgements(path).to_frame()
    assert_allclose(data.slot_labels, expected["label"])
    assert_allclose(data.slot_label_weights, expected["label_weight"])
    with pytest.raises(DataError, match="refused because strict"):
        read(run, labels=path, strict=True)
    with pytest.warns(DataWarning, match="1 items have several labels; the highest is kept"):
        kept = read(run, labels=path, label_columns={"expert": None})
    assert_array_equal(kept.slot_labels, [2.0, 1.0, 0.0])


def test_judges_with_different_items_are_read_as_labels_without_a_warning(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_text("query,item,judge,grade,note,time\nq1,a,u,2,,t\nq1,b,v,1,,t\nq1,a,u,3,,t\nq1,b,v,,undone,t\n")
    assert_array_equal(read(run, labels=path).slot_labels, [3.0, np.nan, np.nan])


def test_a_column_gold_beside_grades_of_judges_has_true_labels(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_text("query,item,judge,grade,gold\nq1,a,u,2,1\nq1,b,u,0,\nq1,a,v,2,1\nq1,b,v,1,\n")
    with pytest.warns(DataWarning, match="labels are of 2 items, 1 of them with a trusted grade"):
        data = read(run, labels=path)
    assert (data.slot_labels[0], data.slot_label_weights[0]) == (1.0, 1.0)


def test_a_table_of_lists_with_labels_is_not_one_of_judges(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("query,item,system,rank,label\nq1,a,x,1,1\nq1,a,y,1,1\nq1,b,x,2,0\n")
    assert_array_equal(read(run, labels=path).slot_labels, [1.0, 0.0, np.nan])


# Real judgements


@pytest.fixture(scope="module")
def crowd(shared_data: Path) -> pl.DataFrame:
    frame = pl.read_csv(shared_data / "trec2011-crowd" / "trec-rf10-data.txt.gz", separator="\t")
    frame = frame.filter((pl.col("label") != -2) & (pl.col("gold") != -2))
    text = pl.col("topicID").cast(pl.String)
    return frame.select(query=text, item="docID", judge="workerID", grade=pl.col("label").cast(pl.Float64), gold="gold")


def auc(relevant: np.ndarray, score: np.ndarray) -> float:
    """The share of pairs of a relevant and another item in the right order."""
    order = np.sort(score[~relevant])
    below = np.searchsorted(order, score[relevant], "left") + np.searchsorted(order, score[relevant], "right")
    return float(below.mean() / 2 / len(order))


def test_on_crowd_judgements_labels_are_nearer_to_gold_than_mean_and_majority(crowd: pl.DataFrame) -> None:
    gold = crowd.filter(pl.col("gold") >= 0).select("query", "item", "gold").unique().sort("query", "item")
    found = {}
    for method in ("dawid-skene", "mean", "majority"):
        labels = combine_grades(crowd.drop("gold"), method=method, labels="expected").label_rows()
        joined = gold.join(labels, on=["query", "item"], how="left", maintain_order="left")
        found[method] = auc(joined["gold"].to_numpy() >= 1, joined["label"].to_numpy())
    assert found["dawid-skene"] > found["mean"] + 0.03 > found["majority"] + 0.03
