"""Plain Python and a Dataset give the same, bit for bit, with the same messages, over random lists of every kind."""

import warnings
from math import inf, nan

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conftest import random_dataset
from juryrank.data.names import natural_key
from juryrank.data.plain_lists import Dropped
from juryrank.data.shapes import as_item_list
from juryrank.errors import DataError, DataWarning, JuryrankError
from juryrank.methods import METHODS, method
from juryrank.tasks.fuse import Fuser, fuse
from juryrank.tasks.fuse.by_dataset import rank_by_dataset
from juryrank.tasks.fuse.fuser import sums_of
from tasks.fuse.plain_loop import sums_by_loop

EXPERTS = ["1", "2", "10", "e0", "e1", "unseen"]
IDS = st.sampled_from(["a", "b", "c", "d10", "d9", "9", "10", "007", "é"])
MIXED_IDS = st.one_of(IDS, st.integers(8, 11))
SCORES = st.one_of(st.integers(-2, 2).map(float), st.sampled_from([nan, inf, None, 0.5, 2, 1e-3]))
RANKS = st.one_of(st.integers(1, 5), st.sampled_from([1.5, 7.0, 30, nan, None]))
WEIGHTS = st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0])

POSITIONAL = ["rrf", "dowdall", "rbc", "isr", "log-isr", "mean-rank", "median-rank", "borda"]
PLAIN = [*POSITIONAL, "majority-vote", "combsum", "combmnz", "combmed", "combanz"]
DIALECTS = ["cormack", "qdrant", "haystack"]


def lists_of(ids, numbers):
    """A list in order, or with numbers as a dict or as pairs; ids repeat."""
    pairs = st.lists(st.tuples(ids, numbers), max_size=6)
    return st.one_of(st.lists(ids, max_size=6), pairs.map(dict), pairs)


def some_params(draw, name):
    """Parameters of a method that change what a list gives to its items and to others."""
    known, params = method(name).params(), {}
    for parameter, choices in {
        "missing": ["ignore", "last"]
        if name == "majority-vote" or name.startswith("comb")
        else ["ignore", "last", "mean"],
        "ranks": ["given", "dense"],
        "norm": ["min-max", "rank", "borda", "none"],
        "dialect": DIALECTS,
    }.items():
        if parameter in known:
            params[parameter] = draw(st.sampled_from(choices))
    if "weights" in known and draw(st.booleans()):
        params["weights"] = draw(st.dictionaries(st.sampled_from(EXPERTS), WEIGHTS, min_size=1))
    return params


@st.composite
def calls(draw, names=PLAIN):
    """A method with parameters, lists of several queries, and what their numbers are."""
    name, values = draw(st.sampled_from(names)), draw(st.sampled_from(["score", "rank"]))
    listed = lists_of(draw(st.sampled_from([IDS, IDS, MIXED_IDS])), SCORES if values == "score" else RANKS)
    queries = st.dictionaries(st.sampled_from(["q1", "q2", "q10"]), listed, min_size=1)
    lists = draw(st.dictionaries(st.sampled_from(EXPERTS), queries, min_size=1))
    return name, some_params(draw, name), lists, values


def outcome(call):
    """The queries with their items and scores, or the error, and the texts of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = [(query, list(ranked.items())) for query, ranked in call().items()]
        except JuryrankError as error:
            result = type(error), str(error)
    return result, [str(w.message) for w in caught]


def by_dataset(lists, model, values, where):
    runs = {
        (expert, query): as_item_list(of, where.format(expert=expert, query=query), None, values)
        for expert, queries in lists.items()
        for query, of in queries.items()
    }
    fused = rank_by_dataset(runs, model, values)
    return {query: fused.get(query, {}) for query in sorted({query for _, query in runs}, key=natural_key)}


def without_unknown(params, lists):
    """The parameters without weights of experts that have no list: these are reported before lists are read.

    So is the weight 0 of all experts.
    """
    if "weights" not in params:
        return params
    weights = {expert: weight for expert, weight in params["weights"].items() if expert in lists}
    assume(any(weights.get(expert, 1.0) > 0 for expert in lists))
    return {**params, "weights": weights}


@settings(max_examples=100, deadline=None)
@given(calls())
def test_many_queries_in_plain_python_are_what_a_dataset_gives(call):
    name, params, lists, values = call
    params = without_unknown(params, lists)
    plain = outcome(lambda: Fuser(name, **params)(lists, values=values))
    where = "expert {expert!r}, query {query!r}"
    if all(len(of) == 0 for queries in lists.values() for of in queries.values()):
        assert all(ranked == [] for _, ranked in plain[0])
        return
    assert plain == outcome(lambda: by_dataset(lists, method(name, **params), values, where))


@settings(max_examples=100, deadline=None)
@given(calls())
def test_one_query_in_plain_python_is_what_a_dataset_gives(call):
    name, params, lists, values = call
    one = {expert: next(iter(queries.values())) for expert, queries in lists.items()}
    params = without_unknown(params, one)
    plain = outcome(lambda: {"q": Fuser(name, **params)(one, values=values)})
    queries = {expert: {"q": listed} for expert, listed in one.items()}
    assert plain == outcome(lambda: by_dataset(queries, method(name, **params), values, "expert {expert!r}"))


@given(
    lists=st.dictionaries(st.sampled_from(EXPERTS), st.lists(IDS, min_size=1, max_size=12), min_size=1),
    model=st.sampled_from([method("rrf"), method("rrf", ranks="dense"), method("rbc", weights={"1": 0.3})]),
    top=st.sampled_from([None, 2]),
)
def test_repeated_ids_are_counted_and_added_up_as_by_the_loop(lists, model, top):
    dropped = Dropped()
    fused = sums_of(model).compiled(lists, dropped, top)
    n_repeated = sum(len(listed) - len(set(listed)) for listed in lists.values())
    if fused is None:
        assert model.ranks == "dense"
        assert n_repeated
    else:
        assert list(fused.items()) == list(sums_by_loop(model, lists, top).items())
        assert dropped.repeated == n_repeated


@given(st.dictionaries(st.sampled_from(EXPERTS), st.lists(IDS, min_size=1, max_size=12), min_size=1))
def test_tied_items_stand_as_they_appear_although_ids_repeat(lists):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        fused = fuse(lists, "rrf", dialect="llamaindex")
    appeared = list(dict.fromkeys(item for listed in lists.values() for item in listed))
    assert list(fused) == sorted(appeared, key=fused.__getitem__, reverse=True)


JURY = method("jury").fit(random_dataset(0))


@settings(max_examples=100, deadline=None)
@given(calls(names=["rrf"]))
def test_a_learned_model_in_plain_python_is_what_a_dataset_gives(call):
    _, _, lists, values = call
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not learned from")
        fuser = Fuser(JURY)
        outcome(lambda: fuser({expert: [] for expert in EXPERTS}))  # names the unknown experts once
    where = "expert {expert!r}, query {query!r}"
    if any(len(of) for queries in lists.values() for of in queries.values()):
        plain = outcome(lambda: fuser(lists, values=values))
        assert plain == outcome(lambda: by_dataset(lists, JURY, values, where))


def test_the_methods_of_this_file_are_computed_in_plain_python():
    declared = {name for name in METHODS if not METHODS[name].supervised and method(name).formula() is not None}
    assert declared == {*PLAIN, "combgmnz", "combmax", "combmin"}


def test_counts_of_several_queries_are_added_up():
    lists = {
        "x": {"q1": ["a", "a"], "q2": {"b": nan, "c": 1.0}},
        "y": {"q2": {"b": nan, "c": 2.0}, "q1": ["a", "b", "a"]},
    }
    with pytest.warns(DataWarning) as told:
        fused = fuse(lists)
    assert [str(w.message) for w in told] == [
        "the data: 2 entries without a score are dropped",
        "the data: 2 entries repeat an item of their list; the best is kept",
    ]
    assert fused == {"q1": {"a": 2 / 61, "b": 1 / 62}, "q2": {"c": 2 / 61}}


def test_ids_of_several_types_are_one_item_in_all_queries():
    with pytest.warns(DataWarning, match="1 ids are given in several types"):
        fused = fuse({"x": {"q1": [1, 2], "q2": ["1"]}})
    assert fused == {"q1": {1: 1 / 61, 2: 1 / 62}, "q2": {1: 1 / 61}}


def test_ranks_keep_their_gaps_and_must_be_positive():
    ranked = {"x": {"a": 1, "b": 10}, "y": [("b", 2), ("a", 2)]}
    assert fuse(ranked, values="rank") == {"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 70}
    for name in ("rrf", "borda", "combsum", "kemeny"):
        with pytest.raises(
            DataError, match=r"ranks start at 1 \(1 is best\) .* got 0; .* values='score'; .* values='distance'"
        ):
            fuse({"x": {"a": 1, "b": 0}}, name, values="rank")


def test_lists_that_can_be_read_once_are_read_once():
    lists = {"x": {"q": iter([("a", 2.0), ("b", nan)])}, "y": {"q": (i for i in ["b", 3])}}
    with pytest.warns(DataWarning, match="1 entries without a score"):
        assert fuse(lists) == {"q": {"a": 1 / 61, "b": 1 / 61, 3: 1 / 62}}


@pytest.mark.parametrize("name", ["borda", "rrf", "dowdall", "mean-rank", "combsum", "majority-vote"])
def test_a_subclass_that_computes_other_scores_is_not_served_as_its_base(name):
    class Constant(METHODS[name]):
        def _scores(self, rankings, out):
            out[:] = 7.0

    assert fuse({"x": {"b": 2.0, "a": 1.0}, "y": {"c": 3.0}}, Constant()) == {"a": 7.0, "b": 7.0, "c": 7.0}


@pytest.mark.parametrize("name", ["rrf", "borda", "combsum", "kemeny"])
@pytest.mark.parametrize("listed", [["a", ["b"]], ["a", {"b"}], [("a", 1.0), (["b"], 2.0)], [1, True], [1, 1, True]])
def test_what_cannot_be_an_id_is_refused_by_every_method(name, listed):
    for lists in ({"x": listed}, {"x": listed, "y": {"a": 1.0}}, {"x": {"q": listed}}):
        with pytest.raises(DataError, match="expert 'x'"):
            fuse(lists, name)
