"""Fuser: a method prepared once; the Fusers that ``fuse`` keeps, and what they do to models."""

import gc
import os
import pickle
import warnings
import weakref

import pytest

import juryrank
from conftest import random_dataset
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.methods import METHODS, method
from juryrank.models import save
from juryrank.tasks.fuse import Fuser, fuse
from juryrank.tasks.fuse.fuse import fuser_of

LISTS = {"e0": ["i0", "i1", "i2"], "e1": {"i2": 2.0, "i0": 2.0, "i7": 1.0}}
QUERIES = {expert: {"q": listed, "2": ["x", "y"]} for expert, listed in LISTS.items()}
SCORED = {"e0": {"i0": 3.0, "i1": 2.0, "i2": 1.0}, "e1": {"i2": 2.0, "i0": 2.0, "i7": 1.0}}
FEWER = {"auto": {"among": "jury"}, "blend": {"epochs": 3}, "boosted": {"trees": 3}}
JURY = method("jury").fit(random_dataset(0))


def fitted(name: str):
    return method(name, **FEWER.get(name, {})).fit(random_dataset(1, n_queries=8))


@pytest.mark.filterwarnings("ignore:.* lists have no scores")
@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].needs_features])
def test_a_model_that_is_served_is_not_changed(name):
    model = fitted(name)
    before = dict(vars(model))
    lists = SCORED if model.needs_scores else LISTS
    queries = (
        {expert: {"q": listed, "2": listed} for expert, listed in SCORED.items()} if model.needs_scores else QUERIES
    )
    first = fuse(lists, model=model), fuse(queries, model=model), Fuser(model)(lists, top=2)
    assert list(vars(model)) == list(before)
    assert all(vars(model)[key] is value for key, value in before.items())
    assert (fuse(lists, model=model), fuse(queries, model=model), Fuser(model)(lists, top=2)) == first


@pytest.mark.parametrize("name", ["rrf", "borda", "kemeny"])
def test_a_method_that_is_not_fitted_is_not_changed_either(name):
    model = method(name)
    before = dict(vars(model))
    fuse(LISTS, model)
    assert vars(model) == before


def test_a_fuser_gives_what_fuse_gives(tmp_path):
    save(JURY, tmp_path / "model.json")
    expected = fuse(LISTS, model=JURY)
    for fuser in (Fuser(JURY), Fuser(tmp_path / "model.json"), Fuser(str(tmp_path / "model.json"))):
        assert list(fuser(LISTS).items()) == list(expected.items())
        assert fuser(LISTS, top=1) == dict(list(expected.items())[:1])
        assert fuser(QUERIES) == fuse(QUERIES, model=JURY)
    assert Fuser("rrf", k=10)(LISTS) == fuse(LISTS, "rrf", k=10)
    assert Fuser()(LISTS) == fuse(LISTS)
    ranked = {"x": {"a": 1, "b": 9}, "y": {"a": 2, "b": 3}}
    assert list(Fuser("borda")(ranked, values="rank")) == ["a", "b"]
    assert juryrank.Fuser is Fuser


def test_a_fuser_does_not_change_when_its_model_does():
    model = method("jury").fit(random_dataset(0))
    fuser = Fuser(model)
    before = fuser(LISTS)
    model.fit(random_dataset(1))
    assert fuser({**LISTS, "e2": []}) == fuser(LISTS) == before != fuse(LISTS, model=model)
    weighted = method("rrf", weights={"e0": 2.0})
    long = {"e0": [f"i{n}" for n in range(500)], "e1": ["i3"]}
    fuser, expected = Fuser(weighted), fuse(long, method("rrf", weights={"e0": 2.0}))
    weighted.weights["e0"] = 5.0
    weighted.set_params(k=1)
    assert fuser(long) == expected


def test_a_fuser_does_not_change_with_the_weights_it_was_given():
    weights = {"e0": 2.0, "e1": 1.0}
    fuser = Fuser("rrf", weights=weights)
    weights["e0"] = 7.0
    assert fuser(LISTS) == fuse(LISTS, "rrf", weights={"e0": 2.0, "e1": 1.0})
    weights["e0"] = -1.0
    assert fuser(LISTS) == fuse(LISTS, "rrf", weights={"e0": 2.0, "e1": 1.0})


def test_a_fuser_has_nothing_to_set():
    fuser = Fuser("rrf")
    for name in ("k", "model", "weights"):
        with pytest.raises(AttributeError):
            setattr(fuser, name, 1)


def test_fuse_notices_every_way_of_changing_a_model():
    model = method("rrf", k=60.0, weights={"e0": 2.0})

    def now() -> dict:
        return fuse(LISTS, method("rrf", **{**model.params(), "weights": dict(model.weights)}))

    answers = [fuse(LISTS, model)]
    for change in (
        lambda: model.set_params(k=1.0),
        lambda: setattr(model, "k", 7.0),
        lambda: model.weights.update(e0=3.0),
        lambda: model.weights.update(e1=0.5),
        lambda: model.set_params(weights={"e1": 4.0}),
        lambda: model.set_params(dialect="qdrant"),
    ):
        change()
        answers.append(fuse(LISTS, model))
        assert answers[-1] == now()
        assert answers[-1] != answers[-2]


def test_fuse_notices_a_method_that_is_fitted_later():
    model = method("mpm", theta="learned")
    unfitted = fuse(LISTS, model)
    model.fit(random_dataset(5))
    assert fuse(LISTS, model=model) == Fuser(model)(LISTS) != unfitted


def test_fuse_keeps_the_fuser_of_a_model_while_the_model_lives():
    model = method("jury").fit(random_dataset(0))
    fuser = fuser_of(model)
    assert fuser_of(model) is fuser
    twin = method("jury").fit(random_dataset(0))
    assert twin == model
    assert fuser_of(twin) is not fuser
    kept, alive = weakref.ref(model), weakref.ref(model.curves_)
    del model, fuser
    gc.collect()
    assert kept() is None
    assert alive() is None


def test_models_that_compare_in_their_own_way_are_told_apart_by_identity():
    class Equal(METHODS["rrf"]):
        def __eq__(self, other):
            raise AssertionError("models are not compared")

        __hash__ = None

    lists = {"x": ["a", "b"], "y": ["b"]}
    near, far = Equal(k=1.0), Equal(k=60.0)
    for _ in range(2):
        assert fuse(lists, near) == fuse(lists, "rrf", k=1.0)
        assert fuse(lists, far) == fuse(lists, "rrf", k=60.0)
        assert fuse(lists, model=near) == fuse(lists, "rrf", k=1.0)


def test_a_fuser_checks_its_parameters():
    with pytest.raises(ParameterError, match="k of RRF must be > 0"):
        Fuser("rrf", k=-1)
    with pytest.raises(ParameterError, match="k of RRF must be > 0"):
        Fuser(method("rrf", k=-1))
    with pytest.raises(ParameterError, match="has its parameters already"):
        Fuser(JURY, k=1)
    with pytest.raises(ParameterError, match="has its parameters already"):
        Fuser("model.json", k=1)
    with pytest.raises(ParameterError, match="has its parameters already"):
        fuse(LISTS, method("rrf"), k=1)
    with pytest.raises(UnknownNameError, match="no method 'rff'; did you mean 'rrf'"):
        Fuser("rff")
    with pytest.raises(DataError, match=r"absent\.json: cannot be read"):
        Fuser("absent.json")
    with pytest.raises(DataError, match="jury learns from labels: fit it first"):
        Fuser("jury")


@pytest.mark.parametrize("call", [lambda lists, model: Fuser(model)(lists), lambda lists, m: fuse(lists, model=m)])
def test_warnings_point_to_the_line_of_the_caller(call):
    model = method("jury").fit(random_dataset(0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call({"e0": ["a", "a"], "stranger": ["b"]}, model)
    assert [str(w.message).partition(":")[0] for w in caught] == ["jury", "the data"]
    assert {w.category for w in caught} == {DataWarning}
    assert {w.filename for w in caught} == {__file__}


def test_weights_without_any_list_are_reported():
    with pytest.warns(DataWarning, match="weights for experts that are not in the data: e0"):
        assert Fuser("rrf", weights={"e0": 2.0})({}) == {}


def test_a_fuser_looks_at_the_names_of_experts_again_when_they_change():
    fuser = Fuser(method("jury").fit(random_dataset(0)))
    for _ in range(2):
        fuser({"e0": ["a"], "e1": ["b"]})
    with pytest.warns(DataWarning, match="not learned from: stranger"):
        fuser({"e0": ["a"], "stranger": ["b"]})
    with pytest.raises(DataError, match="expert '1' is given twice"):
        fuser({"1": ["a"], 1: ["b"]})


def test_a_fuser_names_an_unknown_expert_once():
    fuser = Fuser(JURY)
    with pytest.warns(DataWarning, match="not learned from: stranger"):
        fuser({"e0": ["a"], "stranger": ["b"]})
    fuser({"e0": ["a"], "stranger": ["b"]})
    with pytest.raises(UnknownNameError, match="not learned from: stranger"):
        fuser({"e0": ["a"], "stranger": ["b"]}, strict=True)


@pytest.mark.parametrize("model", [JURY, method("rrf", k=3.0), method("kemeny")])
def test_a_fuser_can_be_sent_to_another_process(model):
    fuser = Fuser(model)
    expected = fuser(LISTS)
    assert pickle.loads(pickle.dumps(fuser))(LISTS) == expected


def test_a_fuser_says_what_it_is_made_of():
    assert repr(Fuser("rrf", k=3)).startswith("Fuser(RRF(weights=None,")


@pytest.mark.parametrize("thing", [3, None, juryrank.RRF, 2.5])
def test_what_is_neither_a_model_nor_a_path_is_refused(thing):
    with pytest.raises(ParameterError, match="path of a model file, got"):
        Fuser(thing)
    with pytest.raises(ParameterError, match="path of a model file, got"):
        fuse({"a": ["x"]}, model=thing or 0)
    with pytest.raises(ParameterError, match="a name such as 'rrf'"):
        juryrank.method(thing)


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_read_again(tmp_path):
    lists = {"a": ["x", "y"], "b": ["y"]}
    for name, k in (("now", 10), ("next", 20)):
        save(method("rrf", k=k).fit(random_dataset(0)), tmp_path / name)
        os.utime(tmp_path / name, (1, 1))
    assert fuse(lists, model=tmp_path / "now") == fuse(lists, k=10)
    os.replace(tmp_path / "next", tmp_path / "now")
    assert fuse(lists, model=tmp_path / "now") == fuse(lists, k=20)


def test_a_method_that_needs_item_features_says_so():
    with pytest.raises(DataError, match="monotone-retargeting needs item features"):
        Fuser("monotone-retargeting")({"a": ["x", "y"]})
