"""Weights of labels: kept with their labels, read and written, used in learning and not by metrics."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data import Dataset, Labels
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning
from juryrank.evaluation.evaluate import evaluate
from juryrank.io import read, write
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import METHODS, method
from juryrank.metrics import NDCG

RUN = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq1 Q0 c 3 7 t\n"
LISTS = {"x": {"q": ["a", "b", "c", "d"]}, "y": {"q": ["d", "a", "b"]}}
USES_WEIGHTS = {"auto", "blend", "jury", "kernel", "ridge"}


def weighted(data: Dataset, weight: np.ndarray | float) -> Dataset:
    assert data.labels is not None
    weights = np.broadcast_to(weight, data.labels.label_value.shape).astype(np.float64)
    return replace(data, labels=replace(data.labels, label_weight=weights))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "some.run"
    path.write_text(RUN)
    return path


def test_a_label_in_a_dict_may_have_a_weight() -> None:
    data = from_dicts(LISTS, labels={"q": {"a": (0.37, 0.5), "b": 2, "d": (1, 0)}})
    assert_array_equal(data.slot_labels, [0.37, 2.0, np.nan, 1.0])
    assert_array_equal(data.slot_label_weights, [0.5, 1.0, np.nan, 0.0])


def test_labels_without_weights_have_weight_1() -> None:
    data = from_dicts(LISTS, labels={"q": {"a": (1, 1.0), "b": 2}})
    assert data.labels is not None
    assert data.labels.label_weight is None
    assert_array_equal(data.slot_label_weights, [1.0, 1.0, np.nan, np.nan])


@pytest.mark.parametrize("weight", [-0.1, np.nan, np.inf, 1e51])
def test_a_weight_that_is_not_a_number_from_0_is_an_error_that_names_the_item(weight: float) -> None:
    with pytest.raises(DataError, match=r"weights of labels must be .* item 'b' of query 'q'"):
        from_dicts(LISTS, labels={"q": {"a": 1, "b": (1, weight)}})


@pytest.mark.parametrize("wrong", [(1,), (1, 2, 3), ("x", 1), "x", [1, 2]])
def test_something_else_than_a_label_and_a_weight_is_an_error(wrong: object) -> None:
    with pytest.raises(DataError, match=r"labels must be .* \(number, weight\) in place of a number"):
        from_dicts(LISTS, labels={"q": {"a": wrong}})  # type: ignore[dict-item]


def test_weights_must_be_as_many_as_labels() -> None:
    labels = from_dicts(LISTS, labels={"q": {"a": 1, "b": 0}}).labels
    assert labels is not None
    with pytest.raises(DataError, match="one number for each label"):
        replace(labels, label_weight=np.ones(3))
    with pytest.raises(DataError, match="at least 0"):
        replace(labels, label_weight=np.array([1.0, -1.0]))


def test_weights_go_with_their_labels_when_queries_are_taken_or_aligned() -> None:
    labels = {"q1": {"a": (1, 0.1), "b": (2, 0.2)}, "q2": {"z": (3, 0.3), "a": (1, 0.4)}}
    data = from_dicts({"e": {"q1": ["b", "a"], "q2": ["a", "z"]}}, labels=labels)
    assert_array_equal(data.take(np.array([1])).slot_label_weights, [0.4, 0.3])
    other = from_dicts({"e": {"q2": ["z", "new", "a"], "q0": ["a"]}})
    joined = other.with_labels(data)
    assert_array_equal(joined["q2"].slot_label_weights, [0.4, np.nan, 0.3])
    assert_array_equal(joined["q2"].slot_labels, [1.0, np.nan, 3.0])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "query,item,label,weight\nq1,a,0.5,0.25\nq1,b,0,\n"),
        ("b.csv", "qid,docno,grade,Confidence\nq1,a,0.5,0.25\nq1,b,0,1\n"),
        ("c.csv", "query;item;score;label_weight\nq1;a;0,5;0,25\nq1;b;0;1\n"),
        (
            "d.jsonl",
            '{"query": "q1", "item": "a", "label": 0.5, "weight": 0.25}\n{"query": "q1", "item": "b", "label": 0}\n',
        ),
    ],
)
def test_weights_are_read_from_a_column_beside_the_label(tmp_path: Path, run: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    data = read(run, labels=tmp_path / name)
    assert_array_equal(data.slot_labels, [0.5, 0.0, np.nan])
    assert_array_equal(data.slot_label_weights, [0.25, 1.0, np.nan])


def test_a_count_is_not_a_weight_unless_the_user_names_it(tmp_path: Path, run: Path) -> None:
    frame = pl.DataFrame({"query": ["q1", "q1"], "item": ["a", "b"], "label": [1, 0], "count": [5, 2]})
    labels = read(run, labels=frame).labels
    assert labels is not None
    assert labels.label_weight is None
    for word in ("weight", "label_weight"):
        assert_array_equal(
            read(run, labels=frame, label_columns={word: "count"}).slot_label_weights, [5.0, 2.0, np.nan]
        )


def test_of_two_columns_that_could_be_weights_the_user_chooses(run: Path) -> None:
    frame = pl.DataFrame({"query": ["q1"], "item": ["a"], "label": [1], "weight": [0.5], "confidence": [0.25]})
    with pytest.raises(DataError, match=r"'weight', 'confidence' could all be the weights of labels; choose one"):
        read(run, labels=frame)
    chosen = read(run, labels=frame, label_columns={"label_weight": "confidence"})
    assert chosen.slot_label_weights[0] == 0.25
    none = read(run, labels=frame, label_columns={"label_weight": None}).labels
    assert none is not None
    assert none.label_weight is None


def test_in_a_table_of_lists_weight_is_of_lists_and_label_weight_of_labels() -> None:
    frame = pl.DataFrame(
        {"query": ["q"] * 2, "item": ["a", "b"], "expert": ["x"] * 2, "rank": [1, 2], "weight": [3.0] * 2,
         "label": [1, 0], "label_weight": [0.5, None]}
    )  # fmt: skip
    data = read(frame)
    assert_array_equal(data.rankings.list_weight, [3.0])
    assert_array_equal(data.slot_label_weights, [0.5, 1.0])


def test_of_equal_labels_with_several_weights_the_highest_is_kept_with_a_warning(run: Path) -> None:
    frame = pl.DataFrame({"query": ["q1"] * 3, "item": ["a", "a", "b"], "label": [1, 1, 0], "weight": [0.2, 0.7, 1.0]})
    with pytest.warns(DataWarning, match="1 items have several labels; the highest is kept"):
        data = read(run, labels=frame)
    assert_array_equal(data.slot_label_weights, [0.7, 1.0, np.nan])


@pytest.mark.parametrize("name", ["a.qrels", "a.letor"])
def test_formats_without_weights_leave_them_out_with_a_warning_that_counts_them(tmp_path: Path, name: str) -> None:
    data = from_dicts(LISTS, labels={"q": {"a": (0.5, 0.5), "b": 1, "c": (2, 0.1)}})
    with pytest.warns(DataWarning, match="2 labels have weights other than 1, which are left out; write a table"):
        write(data, tmp_path / name)
    again = read(tmp_path / name)
    assert_array_equal(again.slot_labels[:3], [0.5, 1.0, 2.0])


@given(st.integers(0, 1000))
@settings(max_examples=5, deadline=None)
def test_metrics_do_not_use_weights(seed: int) -> None:
    data = random_dataset(seed)
    weights = np.random.default_rng(seed).random(len(data.labels.label_value))  # type: ignore[union-attr]
    consensus = method("rrf").fit_predict(data)
    metrics = ["nDCG@5", "AP", "ERR@5"]
    means = [evaluate(consensus, d.labels, metrics).means() for d in (data, weighted(data, weights))]
    assert means[0] == means[1]


def test_items_have_the_weights_of_their_labels_and_unjudged_ones_that_of_their_place() -> None:
    data = from_dicts({"e": {"q": ["a", "b", "c"]}}, labels={"q": {"a": (2, 0.25), "b": (1, 0)}})
    queries = LabelledQueries.of(data, "irrelevant")
    assert_allclose(queries.weights, [0.25, 0.0, 50 / 53])  # b is not unjudged: its label is known not to count
    assert_array_equal(queries.known_gains, [2.0, np.nan, 0.0])


def test_a_query_whose_labels_all_have_weight_0_teaches_nothing() -> None:
    labels = {"q1": {"a": (2, 0), "b": (1, 0)}, "q2": {"a": (1, 0.5)}}
    queries = LabelledQueries.of(from_dicts({"e": {"q1": ["a", "b"], "q2": ["a", "b"]}}, labels=labels), "irrelevant")
    assert queries.data.queries == ("q2",)


def twins(copies: np.ndarray) -> Dataset:
    """Items of which each is there so often; copies share the ranks and the label of the first."""
    data = random_dataset(4, n_queries=5)
    r = data.rankings
    names = lambda s, n: f"{r.items[r.slot_item[s]]}-{n}"  # noqa: E731
    query = np.repeat(np.arange(len(r)), r.query_size)
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in r.experts}
    for m in range(r.n_lists):
        listed = runs[r.experts[r.list_expert[m]]].setdefault(r.queries[r.list_query[m]], {})
        for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            for n in range(copies[r.entry_slot[e]]):
                listed[names(r.entry_slot[e], n)] = float(r.entry_rank[e])
    labels: dict[str, dict[str, float]] = {}
    for s in np.flatnonzero(~np.isnan(data.slot_labels)):
        for n in range(copies[s]):
            labels.setdefault(r.queries[query[s]], {})[names(s, n)] = float(data.slot_labels[s])
    return from_dicts(runs, labels=labels, values="rank")


@pytest.mark.parametrize(("name", "params"), [("jury", {"prior": "equal"}), ("ridge", {})])  # not by length of lists
def test_a_label_of_weight_w_counts_as_w_items_that_are_alike(name: str, params: dict[str, str]) -> None:
    copies = np.random.default_rng(3).integers(1, 4, random_dataset(4, n_queries=5).rankings.n_slots)
    single = twins(np.ones_like(copies))
    by_name = {}
    r = random_dataset(4, n_queries=5).rankings
    for q, (a, b) in enumerate(zip(r.slot_ptr[:-1], r.slot_ptr[1:], strict=True)):
        for s in range(a, b):
            by_name[r.queries[q], f"{r.items[r.slot_item[s]]}-0"] = float(copies[s])
    labels = single.labels
    assert labels is not None
    query = np.repeat(np.arange(len(labels)), np.diff(labels.label_ptr))
    names = zip(query, labels.items[labels.label_item], strict=True)
    weights = np.array([by_name[labels.queries[q], item] for q, item in names])
    models = [
        method(name, unjudged="ignore", **params).fit(data) for data in (weighted(single, weights), twins(copies))
    ]
    one, other = (model.predict(single).scores for model in models)
    assert_allclose(one, other, rtol=1e-7, atol=1e-10)
    plain = method(name, unjudged="ignore", **params).fit(single).predict(single).scores
    assert np.abs(plain - one).max() > 1e-4  # so the weights matter


@pytest.mark.parametrize("name", sorted(USES_WEIGHTS - {"auto"}))
def test_weights_of_1_change_nothing_and_others_do(name: str) -> None:
    data = random_dataset(7, n_queries=8)
    same, half = (method(name).fit(weighted(data, w)).predict(data).scores for w in (1.0, 0.3))
    assert_array_equal(same, method(name).fit(data).predict(data).scores)
    assert (half != same).any()


def test_methods_that_cannot_use_weights_say_so_and_ignore_them() -> None:
    learned = {name for name, cls in METHODS.items() if cls.supervised}
    assert {name for name in learned if METHODS[name].uses_label_weights} == USES_WEIGHTS
    data = random_dataset(7, n_queries=4)
    plain = method("supervised-borda").fit(data)
    with pytest.warns(DataWarning, match="supervised-borda does not use weights of labels: all labels count alike"):
        same = method("supervised-borda").fit(weighted(data, 0.5))
    assert_array_equal(same.predict(data).scores, plain.predict(data).scores)


def test_a_method_that_cannot_use_weights_leaves_out_labels_of_weight_0() -> None:
    labels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 2, "c": 1}}
    lists = {"x": {"q1": ["a", "b", "c"], "q2": ["a", "c"]}, "y": {"q1": ["c", "b", "a"], "q2": ["a", "c"]}}
    without = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2, "c": 1}}
    zero = {"q1": {**labels["q1"], "c": (2, 0)}, "q2": labels["q2"]}
    fits = [method("crf", unjudged="ignore").fit(from_dicts(lists, labels=each)) for each in (zero, without)]
    data = from_dicts(lists)
    assert_array_equal(*(fit.predict(data).scores for fit in fits))


def test_ignoring_weights_keeps_those_of_0() -> None:
    labels = from_dicts(LISTS, labels={"q": {"a": (1, 0.5), "b": (1, 0), "c": 2}}).labels
    assert isinstance(labels, Labels)
    assert_array_equal(labels.ignore_weights().label_weight, [1.0, 0.0, 1.0])
    assert not labels.ignore_weights().has_partial_weights


def test_soft_labels_gain_what_they_say() -> None:
    labels = {"q": {"a": 0.37, "b": 0.9, "c": 2.5}}
    run = {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}
    found = evaluate(run, labels, ["nDCG@2", NDCG(cutoff=2, dcg="exp-log2"), "AP", "AP(rel=2)"]).means()
    log3 = np.log2(3)
    linear = (0.9 + 0.37 / log3) / (2.5 + 0.9 / log3)
    exponential = (2**0.9 - 1 + (2**0.37 - 1) / log3) / (2**2.5 - 1 + (2**0.9 - 1) / log3)
    assert list(found.values()) == pytest.approx([linear, exponential, 1 / 3, 1 / 3])
