"""``Fuser.detailed``: the same ranking, with ranks and contributions by expert."""

import numpy as np
import pytest

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError

LISTS = {
    "bm25": ["a", "b", "c", "d"],
    "dense": {"c": 0.9, "b": 0.8, "e": 0.8, "a": 0.1},
    "title": [("f", 3.0), ("a", 2.0)],
}
RANKS = {  # by hand; equal scores share the smaller rank
    "a": {"bm25": 1, "dense": 4, "title": 2},
    "b": {"bm25": 2, "dense": 2},
    "c": {"bm25": 3, "dense": 1},
    "d": {"bm25": 4},
    "e": {"dense": 2},
    "f": {"title": 1},
}
SUMS = ["rrf", "borda", "combsum"]
OTHERS = ["combmnz", "isr", "median-rank", "mc4", "kemeny", "copeland"]


@pytest.mark.filterwarnings("ignore:.*without scores:juryrank.errors.DataWarning")
@pytest.mark.parametrize("name", SUMS + OTHERS)
def test_the_ranking_is_that_of_the_call_and_ranks_are_those_of_the_lists(name):
    fuser = juryrank.Fuser(name)
    lists = {"bm25": {"a": 4, "b": 3, "c": 2, "d": 1}, **{e: LISTS[e] for e in ("dense", "title")}}
    found = fuser.detailed(lists)
    assert {each.item: each.score for each in found} == fuser(lists)
    assert [each.item for each in found] == list(fuser(lists))
    assert {each.item: each.ranks for each in found} == RANKS
    assert fuser.detailed(lists, top=2) == found[:2]


@pytest.mark.parametrize("name", SUMS)
def test_contributions_to_a_sum_add_up_to_the_score(name):
    found = juryrank.Fuser(name).detailed({"one": {"a": 3, "b": 1}, "two": {"c": 5, "a": 2, "d": 1}, "three": {"b": 1}})
    assert found
    for each in found:
        assert sum(each.contributions.values()) == pytest.approx(each.score, rel=1e-12)


@pytest.mark.parametrize("name", ["combmnz", "median-rank", "mc4"])
def test_where_scores_are_no_sums_there_are_no_contributions(name):
    found = juryrank.Fuser(name).detailed({"one": {"a": 2.0, "b": 1.0}, "two": {"b": 2.0}})
    assert [each.contributions for each in found] == [None, None]


def test_the_contributions_of_rrf_are_its_formula():
    found = juryrank.Fuser("rrf", k=10, weights={"bm25": 2.0}).detailed({"bm25": ["a", "b"], "dense": ["b"]})
    assert {each.item: each.contributions for each in found} == {
        "b": {"bm25": pytest.approx(2 / 12), "dense": pytest.approx(1 / 11)},
        "a": {"bm25": pytest.approx(2 / 11)},
    }


def test_a_learned_model_gives_the_contributions_of_explain():
    data = juryrank.read("src/juryrank/demo/cooking.csv")
    model = juryrank.fit(data, "jury")
    query = data.queries[0]
    one = data[query]
    r = one.rankings
    lists = {}
    for number in range(r.n_lists):
        entries = slice(r.entry_ptr[number], r.entry_ptr[number + 1])
        order = np.argsort(r.entry_rank[entries], kind="stable")
        lists[r.experts[r.list_expert[number]]] = r.items[r.slot_item[r.entry_slot[entries]]][order].tolist()
    from juryrank.tasks.explain import contributions

    expected = contributions(model, one)
    by_name = {item: expected[slot] for slot, item in enumerate(r.items[r.slot_item])}
    found = juryrank.Fuser(model).detailed(lists)
    assert len(found) > 10
    for each in found:
        for expert, added in each.contributions.items():
            assert added == pytest.approx(by_name[each.item][r.experts.index(expert)], abs=1e-12)


@pytest.mark.parametrize("top", [None, 1, 5, 29, 30, 31, 100])
def test_lists_in_order_have_the_ranks_and_points_that_a_search_in_each_list_gives(top):
    rng = np.random.default_rng(7)
    lists = {name: [f"d{i}" for i in rng.permutation(30)[:size]] for name, size in (("y", 30), ("x", 9), ("z", 0))}
    fuser = juryrank.Fuser("rrf", k=10, weights={"y": 2.0, "x": 1.0, "z": 1.0})
    found = fuser.detailed(lists, top=top)
    assert [(each.item, each.score) for each in found] == list(fuser(lists, top=top).items())
    assert len(found) == min(top or 30, 30)
    for each in found:
        ranks = {name: listed.index(each.item) + 1 for name, listed in lists.items() if each.item in listed}
        assert each.ranks == ranks
        assert list(each.ranks) == list(ranks)
        assert each.contributions == pytest.approx({n: (2.0 if n == "y" else 1.0) / (10 + r) for n, r in ranks.items()})
    numbers = {name: [int(item[1:]) for item in listed] for name, listed in lists.items()}
    assert sorted(each[1:3] for each in fuser.detailed(numbers)) == sorted(each[1:3] for each in fuser.detailed(lists))


def test_points_stay_right_when_lists_grow_and_experts_are_many():
    fuser = juryrank.Fuser("rrf", k=10)
    for size in (3, 500, 2_000, 4):
        last = fuser.detailed({"bm25": list(map(str, range(size)))})[-1]
        assert (last.ranks, last.contributions) == ({"bm25": size}, {"bm25": pytest.approx(1 / (10 + size))})
    for n in range(600):
        (only,) = fuser.detailed({f"expert {n}": ["a"]})
        assert only.contributions == {f"expert {n}": pytest.approx(1 / 11)}


def test_repeated_items_missing_scores_and_other_shapes_are_cleaned_once():
    fuser = juryrank.Fuser("rrf")
    with pytest.warns(DataWarning, match="1 entries repeat an item") as caught:
        found = fuser.detailed({"bm25": ["a", "b", "a"]})
    assert len(caught) == 1
    assert [each.ranks for each in found] == [{"bm25": 1}, {"bm25": 2}]
    with pytest.warns(DataWarning, match="1 entries without a score"):
        assert len(fuser.detailed({"bm25": {"a": 1.0, "b": float("nan")}})) == 1
    assert fuser.detailed({"bm25": [{"id": "a"}, {"id": "b"}]})[1].ranks == {"bm25": 2}
    assert fuser.detailed({"bm25": {"a": 7, "b": 3}}, values="rank")[0][:3] == ("b", pytest.approx(1 / 63), {"bm25": 3})
    assert fuser.detailed(iter([iter(["a"])]))[0].ranks == {"1": 1}
    assert fuser.detailed({}) == []


def test_many_queries_and_bad_options_are_refused():
    with pytest.raises(DataError, match="lists of one query"):
        juryrank.Fuser("rrf").detailed({"bm25": {"q": ["a"]}})
    with pytest.raises(ParameterError, match="top must be"):
        juryrank.Fuser("rrf").detailed({"bm25": ["a"]}, top=0)


def test_with_exploration_the_weights_of_the_request_apply():
    fuser = juryrank.Fuser("rrf", explore=1.0)
    lists = {"bm25": ["a", "b"], "dense": ["b", "c"]}
    for request in "abcdefgh":
        found = fuser.detailed(lists, request=request)
        assert {each.item: each.score for each in found} == fuser(lists, request=request)


def test_whether_scores_matter():
    assert juryrank.Fuser("combsum").uses_scores
    assert not juryrank.Fuser("rrf").uses_scores


@pytest.mark.parametrize("top", [None, 2])
@pytest.mark.parametrize("dialect", ["cormack", "langchain"])
def test_ranks_are_those_of_their_own_expert_whatever_the_order_of_the_lists(dialect: str, top: int | None) -> None:
    for experts in (("z", "a"), ("z", "m", "a"), ("10", "9")):
        lists = {expert: [f"d{(n * (m + 2)) % 7}" for n in range(3 + m)] for m, expert in enumerate(experts)}
        lists["0"] = []
        for found in juryrank.Fuser("rrf", dialect=dialect).detailed(lists, top=top):
            expected = {e: listed.index(found.item) + 1 for e, listed in lists.items() if found.item in listed}
            assert found.ranks == expected
            assert sum(found.contributions.values()) == pytest.approx(found.score)
