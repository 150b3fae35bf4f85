"""The promises of every method, over the whole catalogue."""

import json

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset, suited, with_features
from juryrank.data import build
from juryrank.data.dataset import Dataset
from juryrank.errors import DataError, DataWarning, NotFittedError, ParameterError, UnknownNameError
from juryrank.methods import ALIASES, METHODS, consensus_methods, method
from juryrank.methods.base import Aggregator
from juryrank.models import to_json
from juryrank.params import parameters

every_method = pytest.mark.parametrize("name", METHODS)
# Labels and item features may contradict the lists; promises about lists are made by methods that take lists alone.
every_consensus_method = pytest.mark.parametrize("name", consensus_methods())
# Ties between items that no majority separates are cut by the order of the slots.
CUTS_TIES = {"borda-fuse", "kemeny", "condorcet", "cps", "theta-cps", "mallows", "generalised-mallows"}
# The metric by which it is tuned cuts ties by the names of the items.
CUTS_TIES |= {"convex", "tuned-rrf"}
# The metric by which it chooses cuts ties by the names of the items.
CHOOSES = {"auto"}


def from_long(*args, **kwargs) -> Dataset:
    return with_features(build.from_long(*args, **kwargs))


def from_orders(*args, **kwargs) -> Dataset:
    return with_features(build.from_orders(*args, **kwargs))


def variants(name: str) -> list[Aggregator]:
    """The method with each value of each parameter that has choices."""
    made = [method(name)]
    for f in parameters(METHODS[name]):
        made += [method(name, **{f.name: choice}) for choice in f.metadata["choices"] or () if choice != f.default]
    return made


def scores(model: Aggregator, data: Dataset) -> np.ndarray:
    return model.fit(data).predict(suited(model, data)).scores


@every_method
def test_the_constructor_only_stores_and_every_parameter_has_a_default(name):
    assert METHODS[name]().params() == {f.name: f.default for f in parameters(METHODS[name])}


@every_method
def test_every_slot_gets_a_finite_score_whatever_the_choices(name, dataset):
    for model in variants(name):
        out = scores(model, dataset)
        assert out.shape == (dataset.rankings.n_slots,)
        assert np.isfinite(out).all(), model


@every_method
def test_same_input_gives_the_same_output(name, dataset):
    assert_array_equal(scores(method(name), dataset), scores(method(name), dataset))


@every_method
def test_a_query_scores_the_same_alone(name):
    for model in variants(name):
        data = suited(model, random_dataset(3))
        model.fit(data)
        together = model.predict(data)
        for q in range(len(data)):
            assert_array_equal(model.predict(data[q]).scores, together[q].scores, err_msg=str(model))


@every_method
def test_the_order_of_the_queries_does_not_matter(name):
    data = suited(method(name), random_dataset(4))
    order = np.array([3, 0, 5, 1, 4, 2])
    model = method(name).fit(data)
    assert_array_equal(model.predict(data[order]).scores, model.predict(data)[order].scores)


@every_method
def test_experts_are_known_by_name_and_may_come_in_any_order(name):
    data = random_dataset(5)
    frame = _long(data)
    beside = {"candidates": frame.select("query", "item"), "labels": _labels(data)}
    shuffled = from_long(frame.sample(fraction=1.0, shuffle=True, seed=1), **beside)
    straight = from_long(frame, **beside)
    assert_array_equal(scores(method(name), shuffled), scores(method(name), straight))


@every_method
def test_the_number_of_threads_does_not_matter(name, monkeypatch):
    data = random_dataset(6, n_queries=15)
    one = scores(method(name), data)
    monkeypatch.setenv("JURYRANK_THREADS_FROM", "0")
    for n_threads in ("1", "7"):
        monkeypatch.setenv("JURYRANK_THREADS", n_threads)
        assert_array_equal(scores(method(name), data), one)


@every_consensus_method
def test_unanimous_experts_are_obeyed(name):
    data = from_orders([["d", "b", "a", "c"]] * 3)
    for model in variants(name):
        out = dict(zip("abcd", scores(model, data), strict=True))
        drops = np.diff([out[item] for item in "dbac"])
        assert (drops <= 0).all() if model.coarse else (drops < 0).all(), (model, out)


@every_method
def test_permuting_the_items_permutes_the_scores(name):
    # Where ties are cut by the order of the slots, take majorities without ties and cycles.
    swapped = [["i0", "i1", "i2", "i3"], ["i1", "i0", "i2", "i3"], ["i0", "i1", "i3", "i2"]]
    labels = {"all": {f"i{i}": 3 - i for i in range(4)}}
    plain = build.from_dicts({f"e{k}": {"all": order} for k, order in enumerate(swapped)}, labels=labels)
    data = plain if name in CUTS_TIES else random_dataset(7)
    fixed = {"among": "jury"} if name in CHOOSES else {}
    frames = _long(data), None if data.labels is None else _labels(data)
    turn = pl.lit("z") + (9 - pl.col("item").str.slice(1).cast(int)).cast(str)
    renamed = (f if f is None else f.with_columns(item=turn) for f in frames)
    straight, turned = (
        method(name, **fixed).fit_predict(suited(method(name), from_long(f, labels=labels))).to_dict()
        for f, labels in (frames, renamed)
    )
    for query, given in straight.items():
        back = {f"i{9 - int(item[1:])}": score for item, score in turned[query].items()}
        assert back == pytest.approx(given, rel=1e-9, abs=1e-12)


@every_method
def test_a_method_is_fitted_after_fit_and_not_before(name, dataset):
    fresh = method(name)
    assert not fresh.is_fitted
    assert fresh.fit(dataset).is_fitted


@every_method
def test_predict_before_fit_names_the_method(name, dataset):
    with pytest.raises(NotFittedError, match=name):
        method(name).predict(dataset)


@every_method
def test_parameters_are_plain_values_that_make_the_same_method(name):
    for model in variants(name):
        plain = json.loads(json.dumps(model.params()))
        assert method(name, **plain) == model


@every_method
def test_fit_refuses_parameters_out_of_bounds(name, dataset):
    for f in parameters(METHODS[name]):
        bad = _out_of_bounds(f.metadata)
        if bad is None:
            continue
        with pytest.raises(ParameterError, match=f"{f.name} of "):
            method(name, **{f.name: bad}).fit(dataset)


@every_method
def test_empty_queries_and_empty_data_are_no_trouble(name, dataset):
    model = method(name).fit(dataset)
    empty = dataset[np.array([], np.int64)]
    assert model.predict(empty).scores.shape == (0,)
    nobody = from_long(_long(dataset).filter(query="q0"), candidates=_candidates(dataset))
    out = model.predict(suited(model, nobody))["q1"].scores
    assert np.isfinite(out).all()
    # What is known about the items may rank them where no list does.
    assert np.ptp(out) == 0 or name in CUTS_TIES or METHODS[name].needs_features


@every_consensus_method
def test_an_item_that_nobody_ranks_is_never_above_one_that_all_put_first(name):
    data = from_long(_long(from_orders([["a", "b", "c"]] * 3)), candidates=_candidates(from_orders([["a", "x"]])))
    for model in variants(name):
        out = model.fit(data).predict(data).to_dict()["all"]
        assert out["a"] > out["x"], model


@every_method
def test_scores_are_used_without_writing_to_the_input(name, dataset):
    before = {f: np.array(getattr(dataset.rankings, f)) for f in ("entry_slot", "entry_rank", "list_weight")}
    scores(method(name), dataset)
    for field, value in before.items():
        assert_array_equal(getattr(dataset.rankings, field), value)
        assert not getattr(dataset.rankings, field).flags.writeable


@every_method
def test_equal_weights_change_nothing_and_a_zero_weight_silences_an_expert(name):
    if "weights" not in method(name).params():
        pytest.skip(f"{name} has no expert weights")
    data = random_dataset(8)
    plain = scores(method(name), data)
    ones = scores(method(name, weights={f"e{k}": 1.0 for k in range(5)}), data)
    assert_array_equal(ones, plain)
    silenced = scores(method(name, weights={"e0": 0.0}), data)
    beside = {"candidates": _candidates(data), "labels": _labels(data)}
    without = from_long(_long(data).filter(_long(data)["expert"] != "e0"), **beside)
    assert_allclose(silenced, scores(method(name), without), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases_lead_to_methods(alias, dataset):
    assert np.isfinite(scores(method(alias), dataset)).all()


def test_unknown_names_and_parameters_are_named():
    with pytest.raises(UnknownNameError, match="did you mean 'borda'"):
        method("bordo")
    with pytest.raises(ParameterError, match="rrf has no parameter 'kk'"):
        method("rrf", kk=1)


def test_weights_of_strangers_are_warned_of(dataset):
    with pytest.warns(match="not in the data: nobody"):
        method("rrf", weights={"nobody": 2.0}).fit(dataset).predict(dataset)


def test_bad_weights_are_refused(dataset):
    for weights in ({"e0": -1.0}, {"e0": float("nan")}, {"e0": "much"}, [1.0]):
        with pytest.raises(ParameterError, match="weight"):
            method("borda", weights=weights).fit(dataset)


def _long(data: Dataset):
    r = data.rankings
    lists = np.repeat(np.arange(r.n_lists), r.list_size)
    return pl.DataFrame(
        {
            "query": np.array(r.queries, dtype=object)[r.list_query[lists]].astype(str),
            "item": r.items[r.slot_item[r.entry_slot]].astype(str),
            "expert": np.array(r.experts, dtype=object)[r.list_expert[lists]].astype(str),
            "rank": r.entry_rank,
        }
    )


def _labels(data: Dataset):
    labels = data.labels
    query = np.repeat(np.array(labels.queries, dtype=object), np.diff(labels.label_ptr))
    item = labels.items[labels.label_item]
    return pl.DataFrame({"query": query.astype(str), "item": item.astype(str), "label": labels.label_value})


def _candidates(data: Dataset):
    r = data.rankings
    query = np.repeat(np.array(r.queries, dtype=object), r.query_size)
    return pl.DataFrame({"query": query.astype(str), "item": r.items[r.slot_item].astype(str)})


def _out_of_bounds(bounds):
    if bounds["choices"] is not None:
        return "nonsense"
    if bounds["above"] is not None:
        return bounds["above"]
    if bounds["at_least"] is not None:
        return bounds["at_least"] - 1
    if bounds["at_most"] is not None:
        return bounds["at_most"] + 1
    return None


def test_the_planted_fault_of_a_method_that_depends_on_other_queries_is_caught(dataset):
    class Drifting(METHODS["rrf"]):
        def _scores(self, rankings, out):
            super()._scores(rankings, out)
            out += len(rankings)

    model = Drifting().fit(dataset)
    with pytest.raises(AssertionError):
        assert_array_equal(model.predict(dataset[0]).scores, model.predict(dataset)[0].scores)


def test_data_without_lists_is_warned_of():
    data = Dataset(rankings=build.from_dicts({"x": {"q": ["a", "b"]}}).rankings.keep_lists(np.zeros(1, bool)))
    assert data.rankings.n_lists == 0
    with pytest.warns(DataWarning, match="rrf: the data has no lists, only items, so there is nothing to rank by"):
        assert method("rrf").fit_predict(data).scores.tolist() == [0.0, 0.0]


def test_a_score_needs_labels():
    data = build.from_dicts({"x": {"q": ["a", "b"]}})
    empty = Dataset(rankings=data.rankings, labels=build.from_dicts({}, labels={"q": {}}).labels)
    with pytest.warns(DataWarning, match="no labels"), pytest.raises(DataError, match="rrf: no query has labels"):
        method("rrf").fit(data).score(empty)


def test_a_whole_number_for_a_parameter_that_may_be_a_fraction_is_one_of_that_type(dataset):
    model = method("mc4", teleport=0, tol=np.int64(1)).fit(dataset)
    assert [(value, type(value)) for value in (model.teleport, model.tol)] == [(0.0, float), (1.0, float)]
    assert type(method("mc4", max_iter=9.0).fit(dataset).max_iter) is int


@pytest.mark.parametrize("number", [np.int64(2), np.float32(2.0), np.float64(2.0), np.uint8(2), 2])
def test_numbers_of_numpy_are_parameters_and_can_be_saved(number, dataset):
    model = method("rrf", k=number, weights={"e0": number}).fit(dataset)
    plain = method("rrf", k=2, weights={"e0": 2.0}).fit(dataset)
    assert_array_equal(model.predict(dataset).scores, plain.predict(dataset).scores)
    assert to_json(model).replace("2.0", "2") == to_json(plain).replace("2.0", "2")
    assert type(method("mc1", max_iter=np.float32(500)).fit(dataset).params()["max_iter"]) is int


@pytest.mark.parametrize("weight", [np.bool_(True), np.float64("nan"), np.array([1.0, 2.0]), "2", None, -np.int64(1)])
def test_a_weight_that_is_no_number_is_refused(weight, dataset):
    with pytest.raises(ParameterError, match="weight of expert 'e0' must be a finite number >= 0"):
        method("rrf", weights={"e0": weight}).fit(dataset)
