"""Forests against the libraries that grew them, and what a fitted model needs."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.data.dataset import Dataset
from juryrank.errors import DataError, MissingExtraError
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.validation import PessimisticValidation
from juryrank.methods import method
from juryrank.methods.learned.boosted import Boosted
from juryrank.methods.learned.boosting import Boosting, TrainingRows
from juryrank.methods.learned.boosting_libraries import LIBRARIES, Grower, library_labels
from juryrank.models import from_json, to_json

every_library = pytest.mark.parametrize("library", LIBRARIES)


def some_rows(seed: int = 0, n_queries: int = 20, size: int = 15) -> TrainingRows:
    rng = np.random.default_rng(seed)
    gains = rng.integers(0, 3, n_queries * size).astype(float)
    x = rng.normal(size=(len(gains), 4)) + gains[:, None] * [1.0, 0.5, 0.0, 0.0]
    x[rng.random(x.shape) < 0.3] = np.nan
    x[:, 3] = np.nan_to_num(x[:, 3])  # never missing in training
    return TrainingRows(x.astype(np.float32).astype(np.float64), gains, np.full(n_queries, size))


def grower(library: str, **changed: float) -> Grower:
    settings = {"rate": 0.1, "leaves": 8, "least": 5, "columns": 0.8, "shrink": 1.0, "seed": 0} | changed
    return Grower(library=library, **settings)


def predicted_by(library: str, model, x: np.ndarray) -> np.ndarray:
    """The library's own word."""
    if library == "xgboost":
        return model.predict(sys.modules["xgboost"].DMatrix(x))
    return model.predict(x)


@every_library
def test_a_forest_scores_as_the_library_that_grew_it(library, monkeypatch):
    module = pytest.importorskip(library)
    models = []
    if library == "catboost":
        fit = module.CatBoost.fit
        monkeypatch.setattr(module.CatBoost, "fit", lambda *a, **k: models.append(fit(*a, **k)) or models[-1])
    else:
        train = module.train
        monkeypatch.setattr(module, "train", lambda *a, **k: models.append(train(*a, **k)) or models[-1])
    forest = grower(library)(some_rows(), 40)
    x = some_rows(1).x
    x[:50, 3] = np.nan
    out = np.zeros(len(x))
    forest.add_scores(x, np.array([0, len(x)]), out)
    given = predicted_by(library, models[0], x)
    assert np.ptp(out) > 0.1
    assert_allclose(out - out.mean(), given - given.mean(), atol=1e-5)


def one_expert_knows(seed: int, n_queries: int = 40) -> Dataset:
    """One expert is right, two say the same wrong thing."""
    rng = np.random.default_rng(seed)
    runs: dict = {"right": {}, "wrong": {}, "same": {}}
    labels = {}
    for q in range(n_queries):
        items = [f"i{i}" for i in rng.permutation(10)]
        runs["right"][f"q{q}"] = items[:8]
        runs["wrong"][f"q{q}"] = runs["same"][f"q{q}"] = items[::-1]
        labels[f"q{q}"] = {item: max(0, 2 - place // 2) for place, item in enumerate(items)}
    return from_dicts(runs, labels=labels)


@every_library
def test_the_expert_who_is_right_is_found(library):
    pytest.importorskip(library)
    model = method("boosted", library=library, least=5).fit(one_expert_knows(0))
    assert len(model.root_) <= model.trees
    assert model.score(one_expert_knows(1)) > 0.99
    assert method("rrf").fit(one_expert_knows(1)).score(one_expert_knows(1)) < 0.8


def test_trees_are_cut_where_the_validation_queries_like_them_best():
    pytest.importorskip("lightgbm")
    train, valid = random_dataset(1, n_queries=30), random_dataset(2, n_queries=30)
    model = method("boosted", least=5, trees=60, target="AP").fit(train, valid=valid)
    queries = LabelledQueries.of(valid, "irrelevant")
    rows = TrainingRows.of(LabelledQueries.of(train, "irrelevant"), model._columns)
    forest = grower("lightgbm", rate=0.05, columns=0.3)(rows, 60)
    values = []
    for n in range(5, 61, 5):
        out = np.zeros(queries.data.rankings.n_slots)
        forest.first(n).add_scores(model._columns(queries.data), queries.data.rankings.slot_ptr, out)
        values.append(PessimisticValidation(queries, "AP").mean(out))
    assert len(model.root_) == 5 * (1 + int(np.argmax(values)))
    assert len(set(values)) > 1


def test_trees_cut_on_some_queries_are_grown_again_on_all():
    # Five trees are looked at once and all kept, so only the queries that were learned from can differ.
    pytest.importorskip("lightgbm")
    data, other = random_dataset(1, n_queries=30), random_dataset(2, n_queries=30)
    model = method("boosted", least=5, trees=5)
    scores = model.fit(data).predict(other).scores
    assert_array_equal(scores, model.fit(data, valid=other).predict(other).scores)
    assert (scores != model.fit(data.take(np.arange(24)), valid=other).predict(other).scores).any()


@pytest.mark.parametrize("deepest", [3, 1000])
def test_of_a_long_query_those_that_gain_and_the_first_by_rrf_are_used(deepest):
    queries = LabelledQueries.of(random_dataset(3, n_queries=8), "irrelevant")
    slots = np.arange(queries.data.rankings.n_slots, dtype=float)[:, None]
    rows = TrainingRows.of(queries, lambda _: slots, deepest)
    size = np.add.reduceat(queries.weights > 0, queries.data.rankings.slot_ptr[:-1])
    assert_array_equal(rows.sizes, np.minimum(size, deepest))
    assert rows.sizes.sum() == len(rows.x) == len(rows.gains)


def test_gains_that_are_no_grades_are_learned_in_their_order():
    labels, graded = library_labels(np.array([0.0, 0.25, 1.0]))
    assert (labels.tolist(), graded) == ([0, 8, 30], False)
    assert library_labels(np.array([0.0, 2.0, 4.0]))[1]


def test_a_library_that_is_not_installed_is_named_with_the_extra(monkeypatch, dataset):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"need lightgbm: pip install 'juryrank\[boost\]'"):
        method("boosted").fit(dataset)


def test_a_saved_model_predicts_without_the_library(monkeypatch, dataset):
    pytest.importorskip("lightgbm")
    model = method("boosted", least=2).fit(dataset)
    text = to_json(model)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert_array_equal(from_json(text).predict(dataset).scores, model.predict(dataset).scores)


@pytest.mark.parametrize("field", ["left_", "right_", "feature_", "root_"])
def test_trees_that_lead_astray_are_refused(field, dataset):
    pytest.importorskip("lightgbm")
    model = method("boosted", least=2).fit(dataset)
    wrong = getattr(model, field).copy()
    wrong[0] = 10**6
    with pytest.raises(DataError, match=f"{field} must .* damaged"):
        Boosted.from_learned(model.params(), {**model.learned(), field: wrong})


def test_a_tree_that_goes_in_circles_is_refused(dataset):
    pytest.importorskip("lightgbm")
    model = method("boosted", least=2).fit(dataset)
    circles = {**model.learned(), "left_": np.where(model.left_ >= 0, 0, -1)}
    with pytest.raises(DataError, match="left_ must lead from a node to a later one"):
        Boosted.from_learned(model.params(), circles)


def test_labels_that_never_differ_teach_nothing():
    data = random_dataset(0)
    flat = Dataset(rankings=data.rankings, reference=np.full(data.rankings.n_slots, 1.0))
    with pytest.raises(DataError, match="no query has lists and labels that differ"):
        Boosting(grower("lightgbm"), 5, "nDCG@10", 0, "irrelevant", lambda _: np.zeros((0, 1))).run(flat, None)


def test_features_of_the_items_are_looked_at_where_that_is_asked_for():
    rng = np.random.default_rng(0)
    queries = [f"q{n}" for n in range(60)]
    labels = {q: {f"i{i}": int(v) for i, v in enumerate(rng.integers(0, 3, 10))} for q in queries}
    shuffled = {q: [f"i{i}" for i in rng.permutation(10)] for q in queries}
    data = from_dicts({"noise": shuffled}, labels=labels)
    known = np.column_stack([rng.normal(size=data.rankings.n_slots), data.slot_labels])
    data = replace(data, features=known)
    model = method("boosted", item_features=True).fit(data[:40])
    assert model.score(data[40:]) > 0.99
    assert method("boosted").fit(data[:40]).score(data[40:]) < 0.9
    with pytest.raises(DataError, match="fitted on 2 item features, and the data has 1"):
        model.predict(replace(data, features=known[:, :1]))
    with pytest.raises(DataError, match="needs item features"):
        model.predict(replace(data, features=None))
