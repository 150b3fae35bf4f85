"""Saved models come back as they were, and a bad file gives one clear error."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import random_dataset, suited
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, JuryrankError
from juryrank.methods import METHODS, method
from juryrank.models import from_json, load, pack, save, to_json, unpack


@pytest.mark.parametrize("name", METHODS)
def test_a_saved_model_predicts_the_same(name, dataset, tmp_path):
    model = method(name).fit(dataset)
    save(model, tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    assert back == model
    other = suited(model, random_dataset(9))
    assert_array_equal(back.predict(other).scores, model.predict(other).scores)
    assert to_json(back) == to_json(model)


def test_arrays_come_back_bit_for_bit():
    rng = np.random.default_rng(0)
    for array in (
        rng.normal(size=(3, 4)),
        rng.normal(size=5000),
        np.array([np.nan, np.inf, -np.inf]),
        np.arange(3, dtype=np.int32),
        np.zeros((0, 3)),
        np.array([True, False]),
    ):
        back = unpack(json.loads(json.dumps(pack({"x": array}))))["x"]
        assert back.dtype == array.dtype
        assert_array_equal(back, array)


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(JuryrankError, match="must be fitted"):
        save(method("rrf"), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a juryrank model"),
        ("[1]", "not a juryrank model"),
        ('{"format": "other"}', "not a juryrank model"),
        ('{"format": "juryrank-model", "version": 99}', "version 99 is newer"),
        ('{"format": "juryrank-model", "version": -7}', "version of a model must be a whole number .* found -7"),
        ('{"format": "juryrank-model", "version": 0}', "version of a model must be a whole number .* found 0"),
        ('{"format": "juryrank-model", "version": true}', "version of a model must be a whole number .* found True"),
        ('{"format": "juryrank-model", "version": "1"}', "version of a model must be a whole number .* found '1'"),
        ('{"format": "juryrank-model", "version": 1.5}', "version of a model must be a whole number .* found 1.5"),
        ('{"format": "juryrank-model", "version": ' + "9" * 5000 + "}", "not a juryrank model: .* 5000 digits$"),
        ('{"format": "juryrank-model", "version": 1, "version": 1}', "'version' occurs twice"),
        ('{"format": "juryrank-model", "version": NaN}', "numbers must be finite, found NaN"),
        ('{"a": ' * 100_000, "nested too deeply"),
        (
            '{"format": "juryrank-model", "version": 1, "method": "rrf", "params": {}, "learned": %s}'
            % ("[" * 600 + "]" * 600),
            "nested more than 100 deep",
        ),
        (
            '{"format": "juryrank-model", "version": 1, "method": "nobody"}',
            "model of method 'nobody', which this installation does not",
        ),
        ('{"format": "juryrank-model", "version": 1, "method": "rrf"}', "damaged"),
        (
            '{"format": "juryrank-model", "version": 1, "method": "rrf", "params": {"k": -1}, "learned": {"dict": {}}}',
            "k",
        ),
        ('{"format": "juryrank-model", "version": 1, "method": ["rrf"]}', r"model of method \['rrf'\], which"),
        (
            '{"format": "juryrank-model", "version": 1, "method": "rrf", "params": [], "learned": {"dict": {}}}',
            "rrf has the parameters .* but the model has",
        ),
        (
            '{"format": "juryrank-model", "version": 1, "method": "auto", "params": {"target": 5}, "learned": {}}',
            "neither an array nor a dict",
        ),
        (
            '{"format": "juryrank-model", "version": 1, "method": "auto", "params": {"target": 5}, '
            '"learned": {"dict": {}}}',
            "target of Auto must be text, got 5",
        ),
    ],
)
def test_a_foreign_or_damaged_file_is_named(text, complaint, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match=complaint) as caught:
        load(tmp_path / "m.json")
    assert "m.json" in str(caught.value)
    assert "\n" not in str(caught.value)


# Two experts of the format's first version; places 1 to 3 of 3 items give 2, 1 and 0 points, times the weight.
FIRST_VERSION = """
{"format": "juryrank-model", "version": 1, "method": "borda-fuse", "params": {"target": "AP"}, "learned": {"dict": {
 "experts_": ["bad", "good"], "weights_": {"array": {"dtype": "float64", "shape": [2], "values": [0.25, 1.0]}}}}}
"""


def test_a_file_of_the_first_version_stays_readable():
    lists = from_dicts({"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}})
    assert from_json(FIRST_VERSION).predict(lists).to_dict() == {"q": {"a": 2.0, "b": 1.25, "c": 0.5}}


@pytest.mark.parametrize(
    ("sound", "damage", "complaint"),
    [
        ('"shape": [2], "values": [0.25, 1.0]', '"shape": [0], "values": []', "weights_ .* 2 experts, found 0"),
        ('"shape": [2], "values": [0.25, 1.0]', '"shape": [1, 2], "values": [0.25, 1.0]', "2 experts, found 1 × 2"),
        ('"shape": [2]', '"shape": [-1]', r"a shape has sizes >= 0, found \[-1\]"),
        ('"shape": [2]', '"shape": [4000000000000]', "has 2 values"),
        ('"values": [0.25, 1.0]', '"values": [0.25, 1e999]', "weights_ must be finite numbers, but 1 of 2 are not"),
        ('"values": [0.25, 1.0]', '"base64": "AAAAAAAA8H8AAAAAAAD4fw=="', "finite numbers, but 2 of 2 are not"),
        ('"values": [0.25, 1.0]', '"base64": "####"', "cannot be decoded"),
        ('"values": [0.25, 1.0]', '"base64": "AAAA"', "cannot be decoded"),
        ('"values": [0.25, 1.0]', '"values": [0.25, "1.0"]', "values must be a list of float64 numbers"),
        ('"values": [0.25, 1.0]', '"values": [0.25, -1.0]', "weights_ must be >= 0, found -1.0"),
        ('"values": [0.25, 1.0]', '"values": [0.25, 1%s]' % ("0" * 400), "too large for float64"),
        ('"float64"', '"int64"', "values must be a list of int64 numbers"),
        ('"float64"', '"O"', "dtype must be one of float64"),
        ('["bad", "good"]', '["good", "good"]', "experts_ must be distinct names, found 'good' twice"),
        ('["bad", "good"]', '["good", 5]', "experts_ must be a list of names"),
        ('["bad", "good"]', '"good"', "experts_ must be a list of names"),
        ('"weights_"', '"other_"', r"borda-fuse learns \['experts_', 'weights_'\]"),
        ('"target": "AP"', '"goal": "AP"', r"borda-fuse has the parameters \['target'\]"),
    ],
)  # fmt: skip
def test_a_damaged_value_is_named_with_what_was_expected_and_found(sound, damage, complaint):
    assert sound in FIRST_VERSION
    with pytest.raises(DataError, match=complaint):
        from_json(FIRST_VERSION.replace(sound, damage), "m.json")


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed(tmp_path):
    (tmp_path / "m.json").write_text(FIRST_VERSION)
    assert load(tmp_path / "m.json", largest=len(FIRST_VERSION)).name == "borda-fuse"
    with pytest.raises(DataError, match=r"m\.json: a model file must have at most 100 bytes"):
        load(tmp_path / "m.json", largest=100)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file")
def test_an_endless_file_is_refused():
    with pytest.raises(DataError, match=r"/dev/zero.*not a juryrank model"):
        load("/dev/zero")


@given(st.data())
def test_damage_anywhere_gives_a_model_or_one_clear_error(data):
    text = to_json(method("rrf", weights={"e1": 2.0}).fit(random_dataset(0)))
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 20))
    damaged = text[:at] + data.draw(st.text(max_size=5)) + text[at + cut :]
    try:
        from_json(damaged)
    except JuryrankError as error:
        assert str(error)  # noqa: PT017
