"""Models that keep pairs of items say their limit and refuse beyond it, before any memory is taken."""

import pytest

from juryrank.data.build import from_orders
from juryrank.errors import DataError
from juryrank.methods import method
from juryrank.methods.strengths import _base as strength
from juryrank.methods.strengths import crowd_bt


@pytest.mark.parametrize("name", ["bradley-terry", "thurstone", "svp", "rank-centrality", "crowd-bt"])
def test_a_query_with_too_many_pairs_is_refused_with_advice(name, monkeypatch):
    data = from_orders([["a", "b", "c", "d"], ["b", "a"]])
    assert len(method(name).fit_predict(data).scores) == 4
    monkeypatch.setattr(strength, "PAIR_LIMIT", 5)
    with pytest.raises(DataError, match=r"up to 5 in a query; query 'all' may have 6; use .*, or cut the lists"):
        method(name).fit_predict(data)


def test_crowd_bt_refuses_more_comparisons_than_it_can_keep(monkeypatch):
    monkeypatch.setattr(crowd_bt, "COMPARISON_LIMIT", 6)
    with pytest.raises(DataError, match="up to 6; the lists make 7"):
        method("crowd-bt").fit(from_orders([["a", "b", "c", "d"], ["b", "a"]]))
