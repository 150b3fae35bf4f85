"""Single experts, next to their weights."""

import json

import polars as pl
import pytest

import juryrank
from juryrank.data.build import from_dicts
from juryrank.data.long_table import from_long
from juryrank.methods import method
from juryrank.tasks.explain import explain
from juryrank.tasks.explain.parts import single_experts

ORDERS = {"x": ("abcd", "dcba"), "twin": ("abcd", "dcba"), "y": ("cabd", "bacd"), "z": ("dbca", "acbd")}
LISTS = {e: {"q": list(first), "r": list(second)} for e, (first, second) in ORDERS.items()}
LABELS = {"q": {"a": 1, "c": 2}, "r": {"b": 1}}


def test_values_are_those_of_evaluate_where_every_expert_ranks_every_query():
    data = from_dicts(LISTS, labels=LABELS)
    found = single_experts(data, "AP")
    assert found is not None
    assert found.values == pytest.approx(juryrank.evaluate(data, data, "AP")["AP"])


def test_the_best_expert_comes_first_with_its_weight():
    data = from_dicts(LISTS, labels=LABELS)
    model = method("supervised-borda").fit(data)
    told = explain(model, data, metrics=["AP"])
    assert told.single_experts is not None
    beside = told.single_experts.with_weights(told.weights)
    assert [value for _, value, _ in beside] == sorted(told.single_experts.values.values(), reverse=True)
    assert {name: weight for name, _, weight in beside} == dict(zip(model.experts_, model.weights_, strict=True))
    assert json.loads(told.render("json"))["alone"]["experts"] == told.single_experts.values
    assert "| expert |     AP | weight |" in told.render("markdown")
    assert told.redundancy is not None
    assert told.redundancy.nearest(data.experts.index("x")) == ("twin", 1.0)


def test_the_picture_sets_weight_against_accuracy():
    pytest.importorskip("matplotlib", reason="pip install juryrank[plots]")
    data = from_dicts(LISTS, labels=LABELS)
    drawn, without = (explain(method(n).fit(data), data).picture("svg").decode() for n in ("borda-fuse", "rrf"))
    assert "weight against accuracy" in drawn
    assert "weight against accuracy" not in without


def test_several_lists_of_one_expert_have_no_value_alone_and_do_no_harm():
    lists = {"query": ["q"] * 4, "item": list("abab"), "expert": ["x"] * 4, "rank": [1.0, 2.0, 2.0, 1.0]}
    entries = pl.DataFrame({**lists, "list": ["1", "1", "2", "2"]})
    data = from_long(entries, labels=pl.DataFrame({"query": ["q"], "item": ["a"], "label": [1.0]}))
    told = explain(method("supervised-borda").fit(data), data)
    assert told.single_experts is None
    assert told.weights == {"x": {"weight": 1.0}}
