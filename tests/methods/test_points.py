"""Methods whose scores are sums of points by position say so, and the points are those of their scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.methods import METHODS, method
from juryrank.methods.base import Aggregator
from juryrank.methods.formula import Formula

BY_RANK = [name for name in METHODS if (formula := METHODS[name]().formula()) is not None and formula.points]


def fitted(name: str) -> Aggregator:
    params = {"weights": {"e0": 2.0, "e1": 0.5}} if "weights" in method(name).params() else {}
    return method(name, **params).fit(random_dataset(3))


@pytest.mark.parametrize("name", BY_RANK)
def test_scores_are_the_sums_of_the_points_of_their_ranks(name):
    model, r = fitted(name), random_dataset(4).rankings
    formula = model.formula()
    ranks = r.entry_place if formula.share_ties else r.entry_rank
    expected = np.zeros(r.n_slots)
    for m, (start, stop) in enumerate(zip(r.entry_ptr[:-1], r.entry_ptr[1:], strict=True)):
        expected[r.entry_slot[start:stop]] += r.list_weight[m] * formula.of(
            r.experts[r.list_expert[m]], ranks[start:stop]
        )
    assert_allclose(model.predict(r).scores, expected, rtol=1e-10, atol=1e-12)


def test_the_usual_methods_are_sums_of_points_by_rank():
    assert {"rrf", "dowdall", "rbc", "jury", "ridge", "lambdarank"} <= set(BY_RANK)
    assert method("rrf", missing="last").formula().depends_on == ("place", "length", "items")
    assert method("rrf", dialect="haystack").formula().depends_on == ()
    assert method("isr").formula().depends_on == ()


def test_points_by_sizes_have_no_formula():
    with pytest.raises(TypeError, match="place and items, not on the rank alone"):
        method("borda").formula().of("x", np.array([1.0]))
    with pytest.raises(ValueError, match="a formula is needed"):
        Formula(depends_on=("rank",))
    with pytest.raises(ValueError, match="a formula is needed"):
        Formula(depends_on=("place", "items"), points=lambda expert, ranks: ranks)


def test_points_depend_on_known_things():
    for nothing in ((), ("color",)):
        with pytest.raises(ValueError, match="rank, place, length, items"):
            Formula(depends_on=nothing)
