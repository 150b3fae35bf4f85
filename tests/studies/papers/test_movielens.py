"""The studies of preference models measure what they say."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.metrics import NDCG
from studies.papers.completion import completed, factorised, ideal, ndcg, observed
from studies.papers.movielens import contests, count_matrix, gradient_steps, gradient_steps_of_orders
from studies.papers.sushi import distance


def test_the_ndcg_of_completed_ratings_is_that_of_the_library() -> None:
    rng = np.random.default_rng(0)
    ratings = np.where(rng.random((4, 12)) < 0.4, np.nan, rng.integers(1, 6, (4, 12)).astype(float))
    filled, scores = completed(ratings, 2.0), rng.normal(size=12)
    found = ndcg(filled, ideal(filled, 10), np.argsort(-scores))
    names = [f"i{i:02}" for i in range(12)]
    for user, row in enumerate(filled):
        one = {"one": {"q": dict(zip(names, scores, strict=True))}}
        data = from_dicts(one, labels={"q": dict(zip(names, row, strict=True))})
        consensus = juryrank.method("combsum", norm="none").fit_predict(data)
        for k in (1, 5, 10):
            metric = NDCG(cutoff=k, dcg="exp-log2")
            assert juryrank.evaluate(consensus, data, metric).values[0, 0, 0] == pytest.approx(found[user, k - 1])


def test_ratings_are_laid_out_by_user_and_item() -> None:
    data = from_dicts({"u": {"q": {"a": 5, "c": 1}}, "v": {"q": {"b": 3}}})
    assert_allclose(observed(data.rankings), [[5, np.nan, 1], [np.nan, 3, np.nan]])


def test_factorisation_finds_what_means_do_not() -> None:
    rng = np.random.default_rng(1)
    true = 3 + np.outer(rng.normal(size=40), rng.normal(size=30)) + rng.normal(size=40)[:, None]
    known = rng.random(true.shape) < 0.6
    guess = factorised(np.where(known, true, np.nan), factors=2, ridge=0.1)
    inside = ~known & (true > true[known].min()) & (true < true[known].max())
    assert np.abs(guess - true)[inside].mean() < 0.3 * np.abs(true[known].mean() - true)[inside].mean()


def test_contests_are_pairs_with_different_ratings() -> None:
    data = from_dicts({"u": {"q": {"a": 5, "b": 3, "c": 3}}, "v": {"q": {"b": 4, "c": 1}}})
    won, lost = contests(data.rankings)
    assert won.tolist() == [2, 1, 0]
    assert lost.tolist() == [0, 1, 2]


def test_contests_are_those_of_the_paper(shared_data) -> None:
    data = juryrank.read(shared_data / "ml-100k" / "u.data")
    won, lost = contests(data.rankings)
    users = data.rankings.slot_lists
    told = {(int(n), int(w), int(lo)) for n, w, lo in zip(users, won, lost, strict=True)}
    assert {(190, 10190, 12347), (192, 13251, 17551), (170, 11785, 14452)} <= told


def test_the_steps_of_bradley_terry_climb_to_the_likelihood_of_the_library() -> None:
    rng = np.random.default_rng(5)
    ratings = np.where(rng.random((8, 5)) < 0.2, np.nan, rng.integers(1, 6, (8, 5)).astype(float))
    users = {f"u{u}": {f"i{i}": x for i, x in enumerate(row) if x == x} for u, row in enumerate(ratings)}
    data = from_dicts({user: {"q": rated} for user, rated in users.items()})
    best = juryrank.method("bradley-terry", counts="difference", prior=1e-9).fit_predict(data).scores
    assert_allclose(gradient_steps(count_matrix(ratings), steps=5000, rate=4.0), best, atol=1e-5)


def test_a_step_is_a_gradient_of_the_likelihood() -> None:
    counts = np.random.default_rng(6).random((4, 4))
    np.fill_diagonal(counts, 0)

    def likelihood(s: np.ndarray) -> float:
        return sum(counts[i, j] * -np.log1p(np.exp(s[j] - s[i])) for i in range(4) for j in range(4))

    before = gradient_steps(counts, steps=2, rate=1.5)
    slope = approx_fprime(before, likelihood, 1e-6)
    assert_allclose(gradient_steps(counts, steps=3, rate=1.5), before + 1.5 / counts.sum() * slope, atol=1e-5)


def test_the_steps_of_the_paper_give_its_first_and_last_movies(shared_data) -> None:
    data = juryrank.read(shared_data / "ml-100k" / "u.data")
    order = np.argsort(-gradient_steps(count_matrix(observed(data.rankings))))
    items = data.rankings.items[data.rankings.slot_item[order]].tolist()
    assert items[:5] == ["1449", "114", "483", "408", "603"]
    assert items[:-6:-1] == ["424", "758", "457", "1336", "1250"]


def test_a_step_of_plackett_luce_is_a_gradient_of_its_likelihood_with_ties_by_number() -> None:
    rng = np.random.default_rng(7)
    ratings = np.where(rng.random((6, 5)) < 0.3, np.nan, rng.integers(1, 4, (6, 5)).astype(float))
    number = rng.permutation(5)
    orders = [sorted(np.flatnonzero(~np.isnan(row)), key=lambda i, row=row: (-row[i], number[i])) for row in ratings]

    def likelihood(s: np.ndarray) -> float:
        return sum(s[i] - np.log(np.exp(s[order[at:]]).sum()) for order in orders for at, i in enumerate(order))

    before = gradient_steps_of_orders(ratings, number, steps=2, rate=1.5)
    slope = approx_fprime(before, likelihood, 1e-6)
    after = gradient_steps_of_orders(ratings, number, steps=3, rate=1.5)
    assert_allclose(after, before + 1.5 / (~np.isnan(ratings)).sum() * slope, atol=1e-5)


def test_plackett_luce_with_ties_by_number_gives_the_movies_of_the_paper(shared_data) -> None:
    data = juryrank.read(shared_data / "ml-100k" / "u.data")
    r = data.rankings
    number = np.array([int(item) for item in r.items[r.slot_item]])
    order = np.argsort(-gradient_steps_of_orders(observed(r), number))
    assert number[order[:4]].tolist() == [64, 114, 12, 50]  # Shawshank, Wallace & Gromit, Usual Suspects, Star Wars
    assert number[order[:-6:-1]].tolist() == [1215, 1274, 1254, 1419, 1230]


def test_the_distance_to_the_votes_counts_pairs() -> None:
    data = random_dataset(2, n_queries=1, ties=False)
    consensus = juryrank.method("borda").fit_predict(data)
    r, total, place = data.rankings, 0, np.argsort(consensus.order)
    for m in range(r.n_lists):
        listed = r.entry_slot[r.entry_ptr[m] : r.entry_ptr[m + 1]]
        total += sum(place[i] > place[j] for i, j in combinations(listed, 2))
    assert distance(data, consensus) == pytest.approx(total / r.n_lists)


def test_no_method_is_nearer_to_the_votes_than_kemeny() -> None:
    rng = np.random.default_rng(3)
    data = from_orders([[str(i) for i in rng.permutation(6)] for _ in range(9)])
    best = distance(data, juryrank.method("kemeny", solver="exact", ties="broken").fit_predict(data))
    for name in ("mallows", "generalised-mallows", "mpm", "borda"):
        assert distance(data, juryrank.method(name).fit_predict(data)) >= best
