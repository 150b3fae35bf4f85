"""fuse: the short way must give what the long way gives."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import random_dataset
from juryrank import fuse
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning, ParameterError
from juryrank.methods import method
from juryrank.models import save
from tasks.fuse.plain_loop import sums_by_loop

NAMES = st.sampled_from([f"d{n}" for n in range(8)])
ORDERS = st.lists(NAMES, unique=True, max_size=8)
SCORED = st.dictionaries(NAMES, st.integers(-3, 3).map(float), max_size=8)
EXPERTS = st.dictionaries(st.sampled_from(["1", "2", "10", "bm25", "dense"]), st.one_of(ORDERS, SCORED), min_size=1)


@given(
    lists=EXPERTS,
    name=st.sampled_from(["rrf", "dowdall", "rbc"]),
    ranks=st.sampled_from(["given", "dense"]),
    weighted=st.booleans(),
)
def test_the_short_way_gives_what_a_dataset_gives(lists, name, ranks, weighted):
    weights = {"1": 0.5, "bm25": 2.0, "10": 3.0} if weighted else None
    if weights is not None:
        weights = {expert: w for expert, w in weights.items() if len(lists.get(expert, ()))}
    model = method(name, ranks=ranks, weights=weights)
    short = sums_by_loop(model, lists)
    data = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    long = model.fit_predict(data).to_dict().get("q", {})
    assert list(short.items()) == list(long.items()) == list(fuse(lists, model).items())


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


@pytest.mark.filterwarnings("ignore:.* lists have no scores")
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
    with pytest.raises(DataError, match="'score', 'rank' or 'distance'"):
        fuse(ranked, values="places")


def test_items_keep_their_own_type():
    assert list(fuse({"x": [3, 1], "y": [1]})) == [1, 3]
    assert list(fuse({"x": [3, 1], "y": [1]}, "borda")) == [1, 3]


@pytest.mark.parametrize("more", [0, 500])
@pytest.mark.parametrize("others", [{}, {"y": ["b"]}])
def test_repeated_items_are_counted_and_the_best_is_kept(more, others):
    rest = [f"z{n}" for n in range(more)]
    with pytest.warns(DataWarning, match="1 entries repeat an item"):
        assert fuse({**others, "x": ["a", "b", *rest, "a"]}) == fuse({**others, "x": ["a", "b", *rest]})


def test_the_items_below_a_repeated_one_keep_their_ranks():
    with pytest.warns(DataWarning, match="1 entries repeat an item"):
        assert fuse({"x": ["a", "a", "b"]}) == {"a": 1 / 61, "b": 1 / 63}
    with pytest.warns(DataWarning, match="1 entries repeat an item"):
        assert fuse({"x": ["a", "a", "b"]}, ranks="dense") == {"a": 1 / 61, "b": 1 / 62}


@pytest.mark.parametrize("more", [0, 500])
def test_tied_items_of_several_types_stand_in_the_natural_order_of_their_text(more):
    rest = [f"z{n:03}" for n in range(more)]
    fused = fuse([["b", 10, *rest], [9, "a", *rest], ["c"]])
    assert [item for item in fused if item not in rest] == [9, "b", "c", 10, "a"]


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
    assert fuse([]) == fuse(iter([])) == {}
    assert fuse({"x": {}}, "borda") == {}
    assert fuse({"x": [], "y": ["a"]}) == fuse({"y": ["a"]})


@pytest.mark.parametrize("name", ["rrf", "borda"])
def test_a_query_without_items_has_an_empty_answer(name):
    fused = fuse({"x": {"q1": [], "q2": ["a"]}, "y": {"q3": {}}, "z": {}}, name)
    assert list(fused) == ["q1", "q2", "q3"]
    assert [list(of) for of in fused.values()] == [[], ["a"], []]


def test_a_changed_parameter_is_not_forgotten():
    model = method("rrf", k=60)
    lists = {"x": ["a"]}
    assert fuse(lists, model) == {"a": 1 / 61}
    model.set_params(k=1)
    assert fuse(lists, model) == {"a": 1 / 2}


FITTED = {name: method(name).fit(random_dataset(0)) for name in ("jury", "ridge", "lambdarank", "borda-fuse")}
NEW = pytest.mark.filterwarnings("ignore:.*(has not learned from|none of the experts was)")
LISTS = st.dictionaries(st.sampled_from(["e0", "e1", "e2", "10", "new"]), st.one_of(ORDERS, SCORED), min_size=1)


@NEW
@given(LISTS, st.sampled_from(sorted(FITTED)))
def test_a_fitted_model_gives_what_a_dataset_gives(lists, name):
    short = fuse(lists, model=FITTED[name])
    data = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    long = FITTED[name].predict(data).to_dict().get("q", {})
    assert list(short) == list(long)
    assert list(short.values()) == pytest.approx(list(long.values()), rel=1e-12, abs=1e-15)


@NEW
@given(LISTS)
def test_jury_is_the_same_bit_for_bit(lists):
    data = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    assert fuse(lists, model=FITTED["jury"]) == FITTED["jury"].predict(data).to_dict().get("q", {})


def test_a_model_can_be_a_file_and_is_read_again_when_it_changes(tmp_path):
    path = tmp_path / "model.json"
    lists = {"e0": ["a", "b"], "e1": ["b", "c"]}
    for name in ("jury", "ridge"):
        save(FITTED[name], path)
        os.utime(path, ns=(0, len(name)))  # as if time had passed
        assert fuse(lists, model=path) == fuse(lists, model=str(path)) == fuse(lists, model=FITTED[name])


def test_a_refitted_model_is_not_served_from_memory():
    model = method("jury").fit(random_dataset(0))
    lists = {"e0": ["a", "b"], "e1": ["b", "c"]}
    before = fuse(lists, model=model)
    model.fit(random_dataset(1))
    after = fuse(lists, model=model)
    assert after != before
    assert after == fuse(lists, model=method("jury").fit(random_dataset(1)))
    model.partial_fit(random_dataset(2))
    assert fuse(lists, model=model) != after


def test_long_lists_after_short_ones():
    items = [f"i{n:04}" for n in range(1000)]
    model = method("jury").fit(random_dataset(0))
    assert list(fuse({"e0": items[:3]}, model=model)) == items[:3]
    data = from_dicts({"e0": {"q": items}})
    assert fuse({"e0": items}, model=model) == model.predict(data).to_dict()["q"]


def test_a_method_that_learns_must_be_fitted_first():
    for learner in ("jury", method("jury")):
        with pytest.raises(DataError, match="jury learns from labels: fit it first, and give the fitted model"):
            fuse({"x": ["a"]}, learner)
    with pytest.raises(DataError, match="fit it first"):
        fuse({"x": ["a"]}, model=method("ridge"))


def test_a_model_excludes_a_method_and_its_parameters():
    with pytest.raises(ParameterError, match="not both"):
        fuse({"x": ["a"]}, "borda", model=FITTED["jury"])
    with pytest.raises(ParameterError, match="not both"):
        fuse({"x": ["a"]}, model=FITTED["jury"], k=3)


def test_a_model_file_that_is_not_there_or_none_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.json: cannot be read"):
        fuse({"x": ["a"]}, model=tmp_path / "absent.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(DataError, match=r"other\.json: not a juryrank model"):
        fuse({"x": ["a"]}, model=tmp_path / "other.json")


def test_many_queries_with_a_model():
    lists = {"e0": {"q1": ["a", "b"], "q2": ["c"]}, "e1": {"q1": ["b"]}}
    fused = fuse(lists, model=FITTED["jury"])
    assert fused["q1"] == fuse({"e0": ["a", "b"], "e1": ["b"]}, model=FITTED["jury"])
    assert set(fused) == {"q1", "q2"}
