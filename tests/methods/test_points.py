"""Methods whose scores are sums of points by position say so, and the points are those of their scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.methods import METHODS, method
from juryrank.methods.base import Aggregator
from juryrank.methods.points import PositionPoints

BY_RANK = [name for name in METHODS if (points := METHODS[name]().as_points()) is not None and points.formula]


def fitted(name: str) -> Aggregator:
    params = {"weights": {"e0": 2.0, "e1": 0.5}} if "weights" in method(name).params() else {}
    return method(name, **params).fit(random_dataset(3))


@pytest.mark.parametrize("name", BY_RANK)
def test_scores_are_the_sums_of_the_points_of_their_ranks(name):
    model, r = fitted(name), random_dataset(4).rankings
    points = model.as_points()
    ranks = r.entry_place if points.share_ties else r.entry_rank
    expected = np.zeros(r.n_slots)
    for m, (start, stop) in enumerate(zip(r.entry_ptr[:-1], r.entry_ptr[1:], strict=True)):
        expected[r.entry_slot[start:stop]] += r.list_weight[m] * points.of(
            r.experts[r.list_expert[m]], ranks[start:stop]
        )
    assert_allclose(model.predict(r).scores, expected, rtol=1e-10, atol=1e-12)


def test_the_usual_methods_are_sums_of_points_by_rank():
    assert {"rrf", "dowdall", "rbc", "jury", "ridge", "lambdarank"} <= set(BY_RANK)
    assert method("rrf", missing="last").as_points() == PositionPoints(("place", "length", "items"))
    assert method("rrf", dialect="haystack").as_points() is None
    assert method("isr").as_points() is None


def test_points_by_sizes_have_no_formula():
    with pytest.raises(TypeError, match="place and items, not on the rank alone"):
        method("borda").as_points().of("x", np.array([1.0]))
    with pytest.raises(ValueError, match="a formula is needed"):
        PositionPoints(("rank",))
    with pytest.raises(ValueError, match="a formula is needed"):
        PositionPoints(("place", "items"), lambda expert, ranks: ranks)


def test_points_depend_on_known_things():
    for nothing in ((), ("color",)):
        with pytest.raises(ValueError, match="rank, place, length, items"):
            PositionPoints(nothing)
