"""Models that are asked about lists of experts they have never seen."""

import warnings

import numpy as np
import pytest

from conftest import random_dataset
from juryrank import fuse
from juryrank.data.build import from_dicts
from juryrank.errors import DataWarning
from juryrank.methods import METHODS, consensus_methods, method
from juryrank.models import from_json, to_json

# It learns from features of items, and does not ask who ranks.
NOBODY = {"retargeting"}
LEARNED = [name for name in METHODS if METHODS[name].supervised and name not in NOBODY]
FEWER = {"auto": {"among": "jury"}, "blend": {"epochs": 5}, "boosted": {"trees": 5}}
UNKNOWN = {"stranger": {"q": ["i0", "i1", "i2", "i3"]}, "another": {"q": ["i1", "i0", "i3"]}}


@pytest.fixture(scope="module")
def models():
    return {name: method(name, **FEWER.get(name, {})).fit(random_dataset(1, n_queries=8)) for name in LEARNED}


@pytest.mark.parametrize("name", LEARNED)
def test_lists_of_unknown_experts_alone_are_warned_of_once(name, models):
    text = f"{name}: none of the experts was in the training data: another, stranger; known: e0, e1"
    for model in (models[name], from_json(to_json(models[name]))):
        with pytest.warns(DataWarning, match=text) as said:
            scores = model.predict(from_dicts(UNKNOWN)).scores
        assert len(said) == 1
        assert said[0].filename == __file__
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", LEARNED)
def test_unknown_experts_beside_known_ones_are_named_once(name, models):
    text = f"{name}: experts that the model has not learned from: another, stranger; known: e0, e1"
    with pytest.warns(DataWarning, match=text) as said:
        some_known = models[name].predict(from_dicts(UNKNOWN | {"e0": {"q": ["i2"], "r": ["i1"]}}))
    assert len(said) == 1
    with warnings.catch_warnings(record=True) as said:
        models[name].predict(from_dicts({"e0": {"q": ["i2"]}}))
        nothing = models[name].predict(from_dicts({"stranger": {"q": ["i0"]}})[[]])
    assert said == []
    assert (len(some_known.scores), len(nothing.scores)) == (5, 0)


@pytest.mark.parametrize("name", ["jury", "kernel", "crf"])
def test_fuse_names_unknown_experts_once(name, models):
    lists = {"stranger": ["a", "b"], "another": ["b"]}
    with pytest.warns(DataWarning, match="has not learned from: another, stranger") as said:
        fuse(lists, model=models[name])
    assert len(said) == 1


@pytest.mark.parametrize("name", ["jury", "crf", "lambdarank"])
def test_a_model_that_shares_its_weights_has_no_unknown_experts(name):
    model = method(name, experts="shared").fit(random_dataset(1, n_queries=8))
    assert model.experts_seen() == frozenset()
    model.predict(from_dicts(UNKNOWN))


def test_methods_that_learn_nothing_know_nobody():
    data = from_dicts(UNKNOWN)
    for name in ("rrf", "borda", "kemeny"):
        assert name in consensus_methods()
        method(name).fit(random_dataset(1)).predict(data)
