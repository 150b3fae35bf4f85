"""Monotone retargeting: what it needs, what it reports, how coefficients are shared."""

import builtins
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data.build import from_orders
from juryrank.data.dataset import Pairs
from juryrank.errors import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    MissingExtraError,
    ParameterError,
    UnknownNameError,
)
from juryrank.methods import method

NAME = "monotone-retargeting"


def test_data_without_features_says_how_to_read_them(dataset):
    with pytest.raises(DataError, match=r"needs item features.*features=…"):
        method(NAME).fit(dataset.rankings)
    with pytest.raises(DataError, match=r"features=…"):
        method(NAME).fit(dataset).predict(dataset.rankings)


def test_another_number_of_features_is_refused(dataset):
    model = method(NAME).fit(dataset)
    with pytest.raises(DataError, match="fitted on 3 item features, and the data has 2"):
        model.predict(replace(dataset, features=dataset.features[:, :2]))


def test_the_start_is_a_method_that_needs_only_lists(dataset):
    with pytest.raises(ParameterError, match="needs only lists, got 'jury'"):
        method(NAME, start="jury").fit(dataset)
    with pytest.raises(ParameterError, match="needs only lists"):
        method(NAME, start=NAME).fit(dataset)
    with pytest.raises(UnknownNameError, match="bordo"):
        method(NAME, start="bordo").fit(dataset)


def test_pairs_need_a_margin(dataset):
    with pytest.raises(ParameterError, match="give margin="):
        method(NAME, pairs=True).fit(dataset)


def test_coefficients_of_one_query_are_the_same_shared_or_not():
    data = random_dataset(1, n_queries=1, n_items=12)
    for output in ("lists", "features", "lists+features", "start+features"):
        shared, own = (method(NAME, coefficients=c, output=output).fit_predict(data) for c in ("shared", "query"))
        assert_allclose(own.scores, shared.scores, atol=1e-9)
    assert own.details["steps"][0] >= 1
    assert own.details["objective"][0] > 0


def test_labels_are_watched_and_never_learned_from(dataset):
    blind, seeing = method(NAME).fit(Unlabelled(dataset)), method(NAME).fit(dataset)
    assert_array_equal(blind.weights_, seeing.weights_)
    assert set(blind.history_) == {"objective"}
    assert set(seeing.history_) == {"objective", "tau of lists", "tau of features"}
    assert len(seeing.history_["tau of lists"]) == len(seeing.history_["objective"])


def Unlabelled(data):  # noqa: N802 (reads as a kind of data)
    return replace(data, labels=None)


@pytest.mark.filterwarnings("ignore:.*has not learned from")
def test_strangers_weigh_as_the_mean_expert(dataset):
    model = method(NAME, output="lists").fit(dataset)
    r = dataset.rankings
    renamed = replace(dataset, rankings=replace(r, experts=("new", *r.experts[1:])))
    mean = type(model).from_learned(model.params(), {**model.learned(), "weights_": with_mean(model.weights_)})
    assert_allclose(model.predict(renamed).scores, mean.predict(dataset).scores, atol=1e-12)


def with_mean(weights):
    return np.concatenate([[weights.mean()], weights[1:]])


def test_features_decide_among_items_that_the_lists_tie():
    data = from_orders([[("a", "b", "c", "d")], ["a", ("b", "c", "d")]])
    data = replace(data, features=np.array([[4.0], [1.0], [3.0], [2.0]]))
    assert method(NAME).fit_predict(data).top() == {"all": ["a", "c", "d", "b"]}


def test_unknown_values_of_features_are_counted_and_stand_at_the_mean(dataset):
    holes, filled = dataset.features.copy(), dataset.features.copy()
    first = slice(*dataset.rankings.slot_ptr[:2])
    holes[0, 1] = np.nan
    filled[0, 1] = np.delete(filled[first, 1], 0).mean()
    with pytest.warns(DataWarning, match="1 unknown values"):
        model = method(NAME).fit(replace(dataset, features=holes))
    assert_allclose(model.feature_weights_, method(NAME).fit(replace(dataset, features=filled)).feature_weights_)


def test_an_unsettled_fit_warns_and_keeps_its_estimate(dataset):
    with pytest.warns(ConvergenceWarning, match="did not converge after 1 steps"):
        model = method(NAME, max_iter=1, tol=1e-12).fit(dataset)
    assert np.isfinite(model.predict(dataset).scores).all()
    with pytest.warns(ConvergenceWarning, match="of 6 queries did not converge"):
        method(NAME, max_iter=1, tol=1e-12, coefficients="query").fit_predict(dataset)


def test_a_little_supervision_moves_the_order_its_way():
    data = random_dataset(2, n_queries=1, n_items=9)
    start = method("rbc").fit_predict(data).scores
    worst, best = int(start.argmin()), int(start.argmax())
    none = np.array([0, 1])
    pairs = Pairs(
        pair_ptr=none,
        better=np.array([worst], np.int32),
        worse=np.array([best], np.int32),
        weight=np.ones(1),
    )
    taught = replace(data, pairs=pairs)
    without, with_pair = (
        method(NAME, output="features", margin=0.5, pairs=used).fit_predict(taught).scores for used in (False, True)
    )
    assert with_pair[worst] - with_pair[best] > without[worst] - without[best]


def test_the_picture_of_the_history_is_written(dataset, tmp_path):
    pytest.importorskip("matplotlib")
    method(NAME).fit(dataset).plot(str(tmp_path / "history.png"))
    assert (tmp_path / "history.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(DataError, match="no history to draw"):
        method(NAME, coefficients="query").fit(dataset).plot(str(tmp_path / "none.png"))


def test_a_picture_without_matplotlib_names_the_extra(dataset, tmp_path, monkeypatch):
    real = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    model = method(NAME).fit(dataset)
    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    with pytest.raises(MissingExtraError, match=r"juryrank\[plots\]"):
        model.plot(str(tmp_path / "history.png"))
