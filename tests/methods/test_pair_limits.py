"""Models that store pairs of items state their limit and refuse larger data before they allocate memory."""

import pytest

from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import DataError
from juryrank.methods import method
from juryrank.methods.strengths.crowd_bt import COMPARISON_LIMIT
from juryrank.methods.strengths.strengths import PAIR_LIMIT


def items(n):
    return [f"i{k}" for k in range(n)]


@pytest.mark.parametrize("name", ["bradley-terry", "thurstone", "svp", "rank-centrality", "crowd-bt"])
def test_a_query_with_too_many_pairs_is_refused_with_advice(name):
    few, many = from_orders([["a", "b", "c", "d"], ["b", "a"]]), from_orders([items(4473), ["i1", "i0"]])
    assert len(method(name).fit_predict(few).scores) == 4
    pairs = 4473 * 4472 // 2
    assert pairs > PAIR_LIMIT
    text = f"up to {PAIR_LIMIT} in a query; query 'all' may have {pairs}; use .*, or cut the lists"
    with pytest.raises(DataError, match=text):
        method(name).fit_predict(many)


def test_crowd_bt_refuses_more_comparisons_than_it_can_evaluate_in_seconds_unless_it_is_allowed():
    data = from_dicts({"expert": {f"q{q}": items(4400) for q in range(11)}})
    comparisons = 11 * 4400 * 4399 // 2
    assert comparisons > COMPARISON_LIMIT
    text = f"up to {COMPARISON_LIMIT}; the lists make {comparisons}, which would take about 106 seconds; cut the lists"
    with pytest.raises(DataError, match=text):
        method("crowd-bt").fit(data)
    few = from_orders([items(5), items(4)])  # 16 comparisons
    with pytest.raises(DataError, match="up to 15; the lists make 16"):
        method("crowd-bt", most_comparisons=15).fit(few)
    assert len(method("crowd-bt", most_comparisons=16).fit_predict(few).scores) == 5
