"""Lists of many queries nested by expert and query, or by query and expert: recognised, or said by ``queries``."""

import warnings

import pytest

from conftest import random_dataset
from juryrank import Fuser, fuse, method
from juryrank.errors import DataError, DataWarning, ParameterError

BY_QUERY = {
    "storms": {"bm25": ["d1", "d2", "d3"], "dense": ["d2", "d1", "d4"]},
    "tides": {"bm25": ["d7", "d8", "d9"], "dense": {"d8": 0.9, "d7": 0.8, "d5": 0.1}},
}
ONE_AFTER_ANOTHER = {query: fuse(lists) for query, lists in BY_QUERY.items()}


def swapped(nested):
    out = {}
    for outer, lists in nested.items():
        for inner, listed in lists.items():
            out.setdefault(inner, {})[outer] = listed
    return out


@pytest.mark.parametrize("name", ["rrf", "combsum", "mc4"])
@pytest.mark.filterwarnings("ignore:.* lists have no scores")
def test_both_ways_of_nesting_are_what_one_query_after_another_gives(name):
    expected = {query: fuse(lists, name) for query, lists in BY_QUERY.items()}
    for options in ({}, {"queries": "outer"}):
        assert fuse(BY_QUERY, name, **options) == expected
    for options in ({}, {"queries": "inner"}):
        assert fuse(swapped(BY_QUERY), name, **options) == expected


def test_names_of_queries_and_known_experts_show_what_is_what_where_lists_are_alike():
    alike = {"x": ["a", "b"], "y": ["b", "a"]}
    by_query = {f"q{n}": alike for n in (1, 2)}
    assert fuse(by_query) == {"q1": fuse(alike), "q2": fuse(alike)} == fuse(swapped(by_query))
    assert fuse({301: alike}) == {301: fuse(alike)}
    model = method("jury").fit(random_dataset(0))
    lists = {"e0": ["a", "b", "c"], "e1": ["c", "b", "a"]}
    assert fuse({"one": lists, "two": lists}, model) == {name: fuse(lists, model) for name in ("one", "two")}
    assert Fuser("rrf", weights={"x": 3.0})({"one": alike}) == {"one": fuse(alike, weights={"x": 3.0})}


def test_where_two_readings_are_possible_the_error_spells_out_both():
    experts = {
        "q1": {"storms": ["a", "b", "c"], "tides": ["e", "f", "g"]},
        "q2": {"storms": ["c", "b", "a"], "tides": ["f", "g", "e"]},
    }
    text = r"with queries='outer' 'q1' is a query and 'storms' an expert, with queries='inner' 'q1' is an expert and 's"
    with pytest.raises(DataError, match=text):
        fuse(experts)
    assert fuse(experts, queries="inner") == fuse(swapped(experts), queries="outer")


def test_few_experts_of_many_queries_with_the_same_items_are_read_as_before():
    lists = {expert: {f"task {n}": ["a", "b", "c"] for n in "uvw"} for expert in ("x", "y")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(fuse(lists)) == ["task u", "task v", "task w"]


def test_queries_must_fit_the_lists():
    with pytest.raises(ParameterError, match=r"queries must be 'outer' for \{query: \{expert: list\}\}"):
        fuse(BY_QUERY, queries="first")
    with pytest.raises(DataError, match=r"query 'x': other queries have \{expert: list\}"):
        fuse({"x": ["a"]}, queries="outer")
    assert fuse({"q": {}}, queries="outer") == {"q": {}}


def test_distances_of_many_queries_are_small_for_the_best():
    distances = {"storms": {"bm25": {"a": 0.1, "b": 0.4}, "dense": {"a": 0.3, "c": 0.2}}, "q": {"bm25": {"a": 1.0}}}
    found = fuse(distances, queries="outer", values="distance")
    assert {query: list(ranked) for query, ranked in found.items()} == {"q": ["a"], "storms": ["a", "c", "b"]}
    assert found["storms"] == fuse(distances["storms"], values="distance")


def test_experts_are_told_whichever_way_lists_are_nested():
    model = method("jury").fit(random_dataset(0))
    with pytest.warns(DataWarning, match="has not learned from: stranger") as said:
        fuse({"one": {"e0": ["a"], "stranger": ["a"]}, "two": {"e0": ["b"], "stranger": ["c"]}}, model)
    assert len(said) == 1
    with pytest.raises(ParameterError, match="all experts have the weight 0"):
        fuse(BY_QUERY, weights={"bm25": 0, "dense": 0})


def test_what_is_no_method_is_told_where_it_belongs():
    bm25, dense = ["a", "b"], ["b", "c"]
    with pytest.raises(ParameterError, match=r"all lists are one argument: .* fuse\(\[bm25, dense\]\)"):
        fuse(bm25, dense)
    with pytest.raises(ParameterError, match=r"give model='models/search\.json'"):
        fuse({"bm25": bm25, "dense": dense}, "models/search.json")
