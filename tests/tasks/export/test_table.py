"""Position tables: the same scores as the model, or a clear word why there is none."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data.dataset import Dataset
from juryrank.data.long_table import from_long
from juryrank.errors import DataError, NotFittedError
from juryrank.methods import METHODS, method
from juryrank.tasks.export import has_table, position_table


def same_size(seed: int, length: int, n_items: int, n_experts: int = 4, n_queries: int = 6) -> Dataset:
    """Every expert ranks ``length`` of the ``n_items`` items of every query, and all items have labels."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{q}", f"i{item}", f"e{k}", float(rank))
        for q in range(n_queries)
        for k in range(n_experts)
        for rank, item in enumerate(rng.permutation(n_items)[:length], 1)
    ]
    labels = [(f"q{q}", f"i{i}", float(rng.integers(0, 3))) for q in range(n_queries) for i in range(n_items)]
    text = {"query": pl.String, "item": pl.String}
    return from_long(
        pl.DataFrame(rows, schema={**text, "expert": pl.String, "rank": pl.Float64}, orient="row"),
        candidates=pl.DataFrame([row[:2] for row in labels], schema=text, orient="row"),
        labels=pl.DataFrame(labels, schema={**text, "label": pl.Float64}, orient="row"),
    )


@pytest.mark.parametrize("name", ["jury", "ridge", "lambdarank", "rrf"])
def test_where_only_ranks_count_gaps_and_ties_do_no_harm(name, dataset):
    model = method(name).fit(dataset)
    other = random_dataset(5)
    table = position_table(model, other.experts, depth=40)
    assert_allclose(table.scores(other.rankings), model.predict(other).scores, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("params", [{"dialect": "qdrant"}, {"dialect": "llamaindex"}, {"k": 3.0}])
def test_weights_and_dialects_are_in_the_table(params, dataset):
    model = method("rrf", weights={"e1": 2.5, "e3": 0.0}, **params).fit(dataset)
    table = position_table(model, dataset.experts, depth=40)
    assert_allclose(table.scores(dataset.rankings), model.predict(dataset).scores, rtol=1e-12)


def test_strangers_are_in_the_table(dataset):
    model = method("jury").fit(dataset)
    table = position_table(model, depth=40)
    assert "e0" in table.experts
    assert_array_equal(table.other, model.formula().of("somebody", np.arange(1.0, 41)))


TABLES = [(name, {}) for name in METHODS if has_table(METHODS[name]())]
TABLES += [("borda", {"missing": "ignore"}), ("borda", {"missing": "mean"}), ("rrf", {"missing": "last"})]
TABLES += [("dowdall", {"missing": "mean"})]


@pytest.mark.parametrize(("name", "params"), TABLES, ids=str)
def test_a_table_of_these_sizes_gives_the_scores_of_the_model_but_for_a_constant(name, params):
    length, n_items = 5, 8
    data = same_size(0, length, n_items)
    model = method(name, **params).fit(data)
    table = position_table(model, data.experts, depth=length, items=n_items)
    other = same_size(1, length, n_items)
    given, wanted = table.scores(other.rankings), model.predict(other).scores
    apart = (wanted - given).reshape(-1, n_items)
    assert_allclose(apart, np.repeat(apart[:, :1], n_items, axis=1), atol=1e-9 * max(1.0, np.abs(wanted).max()))


def test_methods_that_learn_from_lists_alone_have_tables_too():
    assert {name for name, _ in TABLES} >= {"jury", "ridge", "rrf", "borda", "lambdarank", "svd-lambdarank"}


def test_a_method_that_is_no_sum_is_refused(dataset):
    for name, params in (("mc4", {}), ("kemeny", {}), ("isr", {}), ("lambdarank", {"hidden": 2, "epochs": 1})):
        model = method(name, **params).fit(dataset)
        assert not has_table(model)
        with pytest.raises(DataError, match="not a sum of points by position"):
            position_table(model)


def test_sizes_that_matter_must_be_given(dataset):
    with pytest.raises(DataError, match="the number of items of a query: give items"):
        position_table(method("borda").fit(dataset))
    with pytest.raises(DataError, match="the length of a list: give depth"):
        position_table(method("borda", missing="ignore").fit(dataset))
    with pytest.raises(DataError, match="a list of 9 items does not fit in a query of 5"):
        position_table(method("borda").fit(dataset), depth=9, items=5)
    with pytest.raises(DataError, match="must be 1 or more"):
        position_table(method("rrf").fit(dataset), depth=0)


def test_an_unfitted_model_has_no_table():
    with pytest.raises(NotFittedError, match="must be fitted"):
        position_table(method("rrf"))
