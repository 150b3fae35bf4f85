"""Kemeny where several orders are optimal, against all orders of the items one by one."""

from itertools import combinations, permutations

import numpy as np
import pytest

from juryrank import Rankings, from_orders, read
from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.methods import Kemeny, Mallows
from juryrank.methods.pairwise import _group_orders
from juryrank.methods.pairwise._group_orders import by_moves, by_subsets
from juryrank.methods.pairwise._optimal_orders import OptimalOrders
from peers import peer


def random_election(seed: int) -> tuple[Dataset, list[tuple[list[tuple[str, ...]], int]]]:
    """Ballots with ties, some of them short, with weights that are whole numbers; up to 6 items."""
    rng = np.random.default_rng(seed)
    n, n_ballots = int(rng.integers(2, 7)), int(rng.integers(1, 7))
    ballots = []
    for _ in range(n_ballots):
        items = rng.permutation(n)[: rng.integers(1, n + 1)]
        level = np.sort(rng.integers(0, n, len(items)))
        groups = [tuple(f"i{i}" for i in items[level == k]) for k in np.unique(level)]
        ballots.append((groups, int(rng.integers(1, 4))))
    ballots.append(([tuple(f"i{i}" for i in range(n))], 1))  # orders nothing, and has every item
    data = from_orders([groups for groups, _ in ballots], weights=[weight for _, weight in ballots])
    return data, ballots


def all_optimal_orders(
    ballots: list[tuple[list[tuple[str, ...]], int]], missing: str
) -> tuple[set[tuple[str, ...]], int]:
    """The orders with the fewest disagreements, and how many these are; every order is tried."""
    items = sorted(ballots[-1][0][0])
    over = dict.fromkeys(permutations(items, 2), 0)
    for groups, weight in ballots:
        place = {item: at for at, group in enumerate(groups) for item in group}
        for a, b in over:
            if missing == "last":
                over[a, b] += weight * (place.get(a, 99) < place.get(b, 99))
            elif a in place and b in place:
                over[a, b] += weight * (place[a] < place[b])
    cost = {order: sum(over[b, a] for a, b in combinations(order, 2)) for order in permutations(items)}
    fewest = min(cost.values())
    return {order for order, value in cost.items() if value == fewest}, fewest


def expected_scores(orders: set[tuple[str, ...]]) -> dict[str, float]:
    """The number of items below in every order; those that come first in one share the most."""
    items = sorted(next(iter(orders)))
    below = {a: sum(all(o.index(a) < o.index(b) for o in orders) for b in items if b != a) for a in items}
    first = {order[0] for order in orders}
    most = max([below[i] for i in first] + [below[i] + 1 for i in items if i not in first])
    return {i: float(most if i in first else below[i]) for i in items}


@pytest.mark.parametrize("missing", ["last", "ignore"])
@pytest.mark.parametrize("seed", range(80))
def test_scores_orders_and_uniqueness_are_those_of_all_orders(seed: int, missing: str) -> None:
    data, ballots = random_election(seed)
    orders, fewest = all_optimal_orders(ballots, missing)
    method = Kemeny(missing=missing)
    consensus = method.fit_predict(data)
    listed = method.optimal_orders(data, limit=1000)["all"]
    assert {tuple(order) for order in listed} == orders
    assert len(listed) == len(orders)
    assert consensus.to_dict()["all"] == expected_scores(orders)
    assert consensus.details["unique"].tolist() == ["yes" if len(orders) == 1 else "no"]
    assert consensus.details["objective"].tolist() == [fewest]
    assert consensus.winners()["all"] == sorted({order[0] for order in orders})
    strict = Kemeny(missing=missing, ties="broken").fit_predict(data)
    assert strict.top()["all"] == listed[0]
    assert strict.scores.tolist() == Mallows(missing=missing).fit_predict(data).scores.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_the_winners_are_those_of_pref_voting(seed: int) -> None:
    profiles, methods = peer("pref_voting.profiles_with_ties"), peer("pref_voting.other_methods")
    data, ballots = random_election(seed)
    ranks = [{int(i[1:]): at for at, group in enumerate(groups, 1) for i in group} for groups, _ in ballots]
    candidates = list(range(len(ballots[-1][0][0])))
    profile = profiles.ProfileWithTies(ranks, rcounts=[w for _, w in ballots], candidates=candidates)
    profile.use_extended_strict_preference()
    expected = [f"i{i}" for i in methods.kemeny_young(profile)]
    assert Kemeny().fit_predict(data).winners()["all"] == expected


def cycles(rng: np.random.Generator, n: int) -> Floats:
    """Small whole margins, so that many orders are equally good."""
    margin: Floats = np.triu(rng.integers(-1, 2, (n, n)), 1).astype(float)
    return np.subtract(margin, margin.T)


def best_order(margin: Floats) -> Ints:
    value = {o: sum(margin[a, b] for a, b in combinations(o, 2)) for o in permutations(range(len(margin)))}
    return np.array(max(value, key=lambda o: value[o]))


def test_moves_of_single_items_find_only_orders_that_subsets_find() -> None:
    rng = np.random.default_rng(0)
    some = 0
    for _ in range(60):
        margin = cycles(rng, 6)
        order = best_order(margin)
        inner = margin[order[:, None], order]
        whole, part = by_subsets(order, inner, 0.5), by_moves(order, inner, 0.5)
        assert not (whole.agreed & ~part.agreed).any()
        assert set(part.next_items(0)) <= set(whole.next_items(0))
        assert whole.known
        assert not part.known
        assert part.single or not whole.single
        some += not part.single
    assert some > 20


def tournament(n: int) -> Dataset:
    """Lists of pairs in which each item beats the (n - 1) / 2 that follow it on a circle: no optimum is alone."""
    pairs = [[f"{i:02}", f"{(i + k) % n:02}"] for i in range(n) for k in range(1, n // 2 + 1)]
    return from_orders(pairs)


def test_large_cycles_that_are_known_to_have_several_orders_say_so() -> None:
    method = Kemeny(missing="ignore")
    consensus = method.fit_predict(tournament(15))
    assert consensus.details["optimal"].tolist() == [True]
    assert consensus.details["unique"].tolist() == ["no"]
    listed = method.optimal_orders(tournament(15), limit=50)["all"]
    assert 2 <= len(listed) <= 50
    assert len({tuple(order) for order in listed}) == len(listed)
    for order in listed:
        upsets = sum((int(b) - int(a)) % 15 > 7 for a, b in combinations(order, 2))
        assert upsets == consensus.details["objective"][0]


def test_one_order_of_a_large_cycle_is_not_said_to_be_the_only_one() -> None:
    rng = np.random.default_rng(1)
    n = _group_orders.SUBSETS + 3
    margin = np.triu(rng.integers(1, 1000, (n, n)), 1).astype(float)
    margin[0, n - 1] = -0.5  # a cycle through all items
    margin = np.triu(margin, 1) - np.triu(margin, 1).T
    assert OptimalOrders(margin, np.zeros(n), np.arange(n)).unique == "unknown"


def test_an_order_without_proof_is_not_said_to_be_the_only_one() -> None:
    data = from_orders([["a", "b"], ["b", "a"]])
    consensus = Kemeny(solver="heuristic").fit_predict(data)
    assert (consensus.details["optimal"].tolist(), consensus.details["unique"].tolist()) == ([False], ["unknown"])
    assert Kemeny(solver="heuristic").optimal_orders(data) == {"all": []}


def test_the_list_of_orders_has_a_limit() -> None:
    free = from_orders([[tuple("abcdefgh")]])
    assert [len(Kemeny().optimal_orders(free, limit=limit)["all"]) for limit in (1, 20)] == [1, 20]
    assert len(Kemeny().optimal_orders(free, limit=10**6)["all"]) == 40320


def test_weights_that_are_not_whole_numbers_still_tie() -> None:
    data = from_orders([["a", "b"], ["b", "a"], ["b", "a"]], weights=[0.3, 0.1, 0.2])
    assert Kemeny().fit_predict(data).ties() == {"all": [["a", "b"]]}


def test_the_order_of_the_ballots_does_not_matter() -> None:
    for seed in range(20):
        data, ballots = random_election(seed)
        turned = from_orders([g for g, _ in ballots[::-1]], weights=[w for _, w in ballots[::-1]])
        assert Kemeny().fit_predict(data).to_dict() == Kemeny().fit_predict(turned).to_dict()


def test_an_item_that_no_list_ranks_does_not_win() -> None:
    data = read({"x": {"q": {"a": 2.0, "b": 1.0}}}, candidates={"q": ["a", "b", "c"]})
    found = Kemeny(missing="ignore").fit_predict(data)
    assert found.to_dict() == {"q": {"a": 1.0, "b": 0.0, "c": 0.0}}
    assert found.details["unique"].tolist() == ["no"]


def test_an_empty_query_has_no_order() -> None:
    data, _ = random_election(0)
    empty = data.rankings.take(np.array([], np.int64))
    assert isinstance(empty, Rankings)
    assert Kemeny().fit_predict(empty).ties() == {}
