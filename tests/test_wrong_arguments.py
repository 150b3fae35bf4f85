"""Arguments of the wrong kind: one clear message, wherever a user meets it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import juryrank
from juryrank.errors import DataError, ParameterError

DATA = juryrank.from_dicts({"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}})
TABLE = pd.DataFrame({"query": ["q"], "item": ["a"], "expert": ["x"], "rank": [1]})
TAKE_A_DATASET = {
    "compare": lambda given: juryrank.compare(["rrf"], given, "AP"),
    "election": juryrank.election,
    "explain": lambda given: juryrank.explain(juryrank.method("rrf").fit(DATA), given),
    "fit of a method": lambda given: juryrank.method("jury").fit(given),
    "leaderboard": juryrank.leaderboard,
    "predict": juryrank.method("rrf").fit(DATA).predict,
    "verdict": juryrank.verdict,
}


@pytest.mark.parametrize("name", TAKE_A_DATASET)
def test_what_is_no_dataset_is_told_with_the_way_to_read_it(name):
    for path in ("file.csv", Path("file.csv")):
        with pytest.raises(DataError, match=r"got the path 'file\.csv'; juryrank\.read\('file\.csv'\) reads one"):
            TAKE_A_DATASET[name](path)
    with pytest.raises(DataError, match=r"got a table; juryrank\.read\(table\) reads one"):
        TAKE_A_DATASET[name](TABLE)


@pytest.mark.parametrize("call", [juryrank.explain, lambda given: juryrank.save(given, "model.json")])
def test_what_is_no_model_is_told(call):
    with pytest.raises(ParameterError, match=r"got 'model\.json'; juryrank\.load reads one from a file"):
        call("model.json")
    with pytest.raises(ParameterError, match="a model is a fitted method"):
        call(3)


def test_what_is_no_method_of_a_comparison_is_told():
    for given in (3, [3], {"a": 3}, Path("x")):
        with pytest.raises(ParameterError, match="methods are names or methods, in a list or by label; got"):
            juryrank.compare(given, DATA, "AP")


def test_what_is_no_array_and_no_orders_is_told():
    for given in ("x.csv", Path("x.csv"), TABLE, {"a": [1]}):
        with pytest.raises(DataError, match="ranks are numbers, experts × items"):
            juryrank.from_array(given)
    for given in ("x.csv", Path("x.csv"), TABLE, 3):
        with pytest.raises(DataError, match="orders: a sequence of orders is needed, got"):
            juryrank.from_orders(given)
    assert len(juryrank.from_orders(order for order in np.array([["a", "b"], ["b", "a"]])).rankings.experts) == 2


def test_a_table_for_lists_is_told():
    with pytest.raises(DataError, match=r"got a table; give its columns as \{id: score\}, or use juryrank\.read"):
        juryrank.fuse(TABLE)
