"""Saved models come back as they were, and a bad file gives one clear error."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import random_dataset
from juryrank.errors import DataError, JuryrankError
from juryrank.methods import METHODS, method
from juryrank.models import _pack, _unpack, from_json, load, save, to_json


@pytest.mark.parametrize("name", METHODS)
def test_a_saved_model_predicts_the_same(name, dataset, tmp_path):
    model = method(name).fit(dataset)
    save(model, tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    assert back == model
    other = random_dataset(9)
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
        back = _unpack(json.loads(json.dumps(_pack({"x": array}))))["x"]
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
        ('{"format": "juryrank-model", "version": 1, "method": "nobody"}', "no method 'nobody'"),
        ('{"format": "juryrank-model", "version": 1, "method": "rrf"}', "damaged"),
        (
            '{"format": "juryrank-model", "version": 1, "method": "rrf", "params": {"k": -1}, "learned": {"dict": {}}}',
            "k",
        ),
        ('{"format": "juryrank-model", "version": 1, "method": ["rrf"]}', "no method|damaged"),
    ],
)
def test_a_foreign_or_damaged_file_is_named(text, complaint, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match=complaint) as caught:
        load(tmp_path / "m.json")
    assert "m.json" in str(caught.value)


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
