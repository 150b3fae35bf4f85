"""Interleaving: what team draft puts on a page, and that no team has an advantage by its name or its length."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError
from juryrank.tasks.clicks.interleaving import Interleaved, draft, interleave

EXAMPLES = [
    (["a", "b", "c", "d"], ["b", "d", "a", "e"]),
    (["a", "b", "c", "d"], ["a", "b", "d", "c"]),  # a shared beginning
    (["a", "b", "c"], ["a", "b", "c"]),
    (["a", "b"], ["b", "c", "d", "e"]),  # one is shorter
    (["a"], ["b", "c"]),
    (["y", "z"], ["y"]),
    (["b", "y"], ["a", "y"]),  # both want the same last item
    ([], ["a", "b"]),
    (["a", "b", "c", "d", "e"], ["c", "a", "f", "b", "g"], ["e", "c", "a", "h", "i"]),
    (["a", "b", "c"], ["a", "c", "b"], ["a", "d", "e"]),
]


def radlinski(a, b, top, coins):
    """Team-draft interleaving of two long rankings as the paper has it, coin by coin."""
    page, teams = [], []
    while len(page) < top and set(a) - set(page) and set(b) - set(page):
        a_turn = teams.count(0) < teams.count(1) or (teams.count(0) == teams.count(1) and next(coins))
        own = a if a_turn else b
        page.append(next(item for item in own if item not in page))
        teams.append(0 if a_turn else 1)
    return page, teams


def all_pages(rankings, top):
    """Every page with its probability, over all orders of all rounds."""
    n, rounds = len(rankings), 4
    orders = list(permutations(range(n)))
    pages: Counter = Counter()
    for chosen in product(orders, repeat=rounds):
        page = tuple(draft(rankings, top, iter(chosen)))
        pages[page] += Fraction(1, len(orders) ** rounds)
    return pages


@pytest.mark.parametrize("coins", list(product([True, False], repeat=3)))
def test_two_long_rankings_are_drafted_as_in_the_paper(coins):
    a, b = list("abcdefgh"), list("hbadcfeg")
    orders = ([0, 1] if coin else [1, 0] for coin in coins)
    page = draft([a, b], 6, orders)
    assert ([item for item, _ in page], [team for _, team in page]) == radlinski(a, b, 6, iter(coins))


@pytest.mark.parametrize("rankings", EXAMPLES)
@pytest.mark.parametrize("top", [1, 2, 3, 4])
def test_all_teams_are_equally_likely_at_every_position(rankings, top):
    pages = all_pages(rankings, top)
    assert sum(pages.values()) == 1
    for at in range(top):
        chance = [
            sum(p for page, p in pages.items() if len(page) > at and page[at][1] == t) for t in range(len(rankings))
        ]
        assert len(set(chance)) == 1


@pytest.mark.parametrize("rankings", EXAMPLES)
def test_pages_are_as_frequent_as_their_probability(rankings):
    names, n = [f"r{k}" for k in range(len(rankings))], 1000
    expected = all_pages(rankings, 3)
    seen = Counter()
    for request in range(n):
        page = interleave(dict(zip(names, rankings, strict=True)), request=request, top=3)
        seen[
            tuple((i, None if t is None else names.index(t)) for i, t in zip(page.items, page.teams, strict=True))
        ] += 1
    assert seen.keys() <= expected.keys()
    for page, p in expected.items():
        assert abs(seen[page] / n - p) <= 5 * sqrt(p * (1 - p) / n)


ITEMS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(st.lists(ITEMS, min_size=2, max_size=4), st.integers(1, 10), st.integers(0, 99))
def test_a_page_has_the_best_items_each_once(rankings, top, request):
    page = interleave(rankings, request=request, top=top)
    every = {item for ranking in rankings for item in ranking}
    assert len(page.items) == len(set(page.items)) == min(top, len(every))
    assert set(page.items) <= every
    for at, (item, team) in enumerate(zip(page.items, page.teams, strict=True)):
        before = set(page.items[:at])
        first_choices = [next((i for i in ranking if i not in before), None) for ranking in rankings]
        assert item in first_choices
        assert team is None or first_choices[int(team) - 1] == item
    shared = next(at for at in range(10) if len({tuple(r[: at + 1]) for r in rankings}) > 1 or at == 9)
    assert page.teams[:shared] == [None] * min(shared, top, len(page.teams))


def test_equal_rankings_give_no_preference():
    page = interleave({"old": ["a", "b", "c"], "new": ["a", "b", "c"]}, request="r")
    assert (page.items, page.teams) == (["a", "b", "c"], [None, None, None])


def test_the_page_follows_from_seed_and_request_alone():
    rankings = {"old": list("abcdef"), "new": list("fbdeca")}
    pages = [interleave(rankings, request=n) for n in range(50)]
    turned = dict(reversed(rankings.items()))
    assert [interleave(turned, request=str(n)).teams for n in range(50)] == [page.teams for page in pages]
    assert [interleave(rankings, request=n, seed=1).teams for n in range(50)] != [page.teams for page in pages]
    assert len({tuple(page.teams) for page in pages}) > 4
    assert juryrank.interleave is interleave


def test_scores_pairs_and_numbers_are_rankings():
    scored = interleave({"x": {"b": 1.0, "a": 2.0}, "y": [("c", 0.1), ("d", 0.9)]}, request="r", top=4)
    assert sorted(scored.items) == ["a", "b", "c", "d"]
    assert {"a", "d"} == set(scored.items[:2])
    numbers = interleave([[3, 1, 2], [3, 2, 1]], request="r")
    assert numbers.items[0] == 3
    assert numbers.teams[0] is None
    fused = juryrank.fuse({"bm25": ["a", "b"], "dense": ["b", "c"]})
    assert interleave([fused, ["b"]], request="r").items[0] == "b"


def test_repeated_items_and_missing_scores_are_counted():
    with pytest.warns(DataWarning, match="2 entries repeat an item of their ranking"):
        page = interleave({"x": ["a", "b", "a"], "y": ["c", "c", "d"]}, request="r")
    assert sorted(page.items) == ["a", "b", "c", "d"]
    with pytest.warns(DataWarning, match="1 entries without a score"):
        assert "b" not in interleave([{"a": 1.0, "b": float("nan")}, ["a"]], request="r").items


def test_rows_of_a_log_name_the_team():
    page = Interleaved(["a", "b"], [None, "new"], "r7", ("old", "new"))
    assert page.team_of == {"a": None, "b": "new"}
    assert page.log_rows("tea") == [
        {"query": "tea", "session": "r7", "item": "a", "position": 1, "team": None},
        {"query": "tea", "session": "r7", "item": "b", "position": 2, "team": "new"},
    ]
    assert page.log_rows("tea", session="s")[0]["session"] == "s"


@pytest.mark.parametrize(
    ("rankings", "options", "error", "message"),
    [
        ([["a"]], {"request": 1}, DataError, "two rankings or more"),
        ([["a"], "b"], {"request": 1}, DataError, "which would be split into letters"),
        ([["a"], {"b"}], {"request": 1}, DataError, "a set, which has no order"),
        ([["a"], [None]], {"request": 1}, DataError, "an id is text or a whole number"),
        ([["a"], ["b"]], {"request": None}, ParameterError, "needs request="),
        ([["a"], ["b"]], {"request": 1, "top": 0}, ParameterError, "top must be a whole number >= 1"),
        ([["a"], ["b"]], {"request": 1, "seed": 0.5}, ParameterError, "seed must be a whole number"),
    ],
)
def test_wrong_input_is_refused(rankings, options, error, message):
    with pytest.raises(error, match=message):
        interleave(rankings, **options)
