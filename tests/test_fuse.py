"""fuse: the short way must give what the long way gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning
from juryrank.fuse import fuse
from juryrank.methods import method

NAMES = st.sampled_from([f"d{n}" for n in range(8)])
ORDERS = st.lists(NAMES, unique=True, max_size=8)
SCORED = st.dictionaries(NAMES, st.integers(-3, 3).map(float), max_size=8)
EXPERTS = st.dictionaries(st.sampled_from(["1", "2", "10", "bm25", "dense"]), st.one_of(ORDERS, SCORED), min_size=1)


@given(EXPERTS, st.sampled_from(["rrf", "dowdall", "rbc"]), st.sampled_from(["given", "dense"]), st.booleans())
def test_the_short_way_gives_what_a_dataset_gives(lists, name, ranks, weighted):
    weights = {"1": 0.5, "bm25": 2.0, "10": 3.0} if weighted else None
    if weights is not None:
        weights = {expert: w for expert, w in weights.items() if len(lists.get(expert, ()))}
    short = fuse(lists, name, ranks=ranks, weights=weights)
    data = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    long = method(name, ranks=ranks, weights=weights).fit_predict(data).to_dict().get("q", {})
    assert list(short.items()) == list(long.items())


@pytest.mark.parametrize("dialect", ["elasticsearch", "qdrant", "haystack", "llamaindex"])
def test_dialects_are_the_same_either_way(dialect):
    lists = {"x": ["a", "b", "c"], "y": {"c": 0.4, "d": 0.2}, "z": []}
    model = method("rrf", dialect=dialect, weights={"x": 2.0})
    data = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    assert fuse(lists, model) == pytest.approx(model.fit_predict(data).to_dict()["q"])


def test_many_queries_come_back_by_query():
    assert fuse({"x": {"q1": {"a": 2, "b": 1}, "q2": ["c"]}, "y": {"q1": ["b", "a"]}}, "borda") == {
        "q1": {"a": 1.0, "b": 1.0},
        "q2": {"c": 0.0},
    }


def test_every_kind_of_method_takes_one_query():
    lists = [["a", "b", "c"], ["b", "a"], {"a": 0.5, "c": 0.1}]
    for name in ("kemeny", "mc4", "copeland", "combmnz", "isr"):
        fused = fuse(lists, name)
        assert next(iter(fused)) == "a"
        assert list(fused.values()) == sorted(fused.values(), reverse=True)


def test_ranks_must_be_declared():
    ranked = {"x": {"a": 1, "b": 9}, "y": {"a": 2, "b": 3}}
    assert list(fuse(ranked)) == ["b", "a"]
    assert list(fuse(ranked, values="rank")) == ["a", "b"]
    with pytest.raises(DataError, match="'score' or 'rank'"):
        fuse(ranked, values="places")


def test_items_keep_their_own_type():
    assert list(fuse({"x": [3, 1], "y": [1]})) == [1, 3]
    assert list(fuse({"x": [3, 1], "y": [1]}, "borda")) == [1, 3]


def test_repeated_items_are_counted_and_the_best_is_kept():
    with pytest.warns(DataWarning, match="1 entries repeat an item"):
        assert list(fuse({"x": ["a", "b", "a"]})) == ["a", "b"]


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="score"):
        fuse({"x": {"a": "high"}})
    with pytest.warns(DataWarning, match="1 entries without a score"):
        assert list(fuse({"x": {"a": float("nan"), "b": 1.0}})) == ["b"]


def test_a_text_is_not_a_list_of_items():
    with pytest.raises(DataError, match="a list of items is needed"):
        fuse({"x": "abc"})


def test_nothing_fuses_to_nothing():
    assert fuse({}) == {}
    assert fuse({"x": []}) == {}
    assert fuse({"x": []}, "borda") == {}


def test_a_changed_parameter_is_not_forgotten():
    model = method("rrf", k=60)
    lists = {"x": ["a"]}
    assert fuse(lists, model) == {"a": 1 / 61}
    model.set_params(k=1)
    assert fuse(lists, model) == {"a": 1 / 2}
