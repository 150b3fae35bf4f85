"""Mallows models against probabilities summed over all permutations."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import chisquare

from conftest import random_dataset
from juryrank.data.build import from_orders
from juryrank.errors import ParameterError
from juryrank.kernels.mallows import expected_skips, fit_theta, log_choices, mean_skips
from juryrank.methods import GeneralisedMallows, Kemeny, Mallows
from juryrank.methods.pairwise.generalised_mallows import fit_thetas
from juryrank.methods.pairwise.mallows import sample
from juryrank.methods.pairwise.pairwise import MarginLists
from methods.slow import dense

every_missing = pytest.mark.parametrize("missing", ["ignore", "last"])


def skips(order):
    """Of an order of 0 … n - 1, how many smaller items each place leaves for later."""
    return np.array([sum(later < item for later in order[k + 1 :]) for k, item in enumerate(order)])


def probabilities(n, phi):
    """The probability of every order of 0 … n - 1 by its definition, phi one number or one for each place."""
    weights = {order: float(np.prod(np.power(phi, skips(order)))) for order in permutations(range(n))}
    total = sum(weights.values())
    return {order: weight / total for order, weight in weights.items()}


def log_likelihood(data, q, scores, phi, missing):
    """Σ over lists of the log of the summed probability of all orders that the list allows."""
    ranks, weights = dense(data, q)
    centre = np.argsort(-scores, kind="stable")
    value = 0.0
    for row, w in zip(ranks, weights, strict=True):
        row = np.where(np.isnan(row), 1e9, row) if missing == "last" else row
        ordered = [rank for rank in row[centre] if not np.isnan(rank)]
        chance = probabilities(len(ordered), phi)
        allowed = [p for order, p in chance.items() if (np.diff([0, *np.array(ordered)[list(order)]]) >= 0).all()]
        value += w * np.log(sum(allowed))
    return value


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("theta", [0.0, 1e-5, 0.4, 3.0])
def test_the_normaliser_is_the_sum_over_all_permutations(n, theta):
    distance = np.array([skips(order).sum() for order in permutations(range(n))])
    weight = np.exp(-theta * distance)
    assert np.exp(sum(log_choices(theta, j) for j in range(1, n + 1))) == pytest.approx(weight.sum(), rel=1e-10)
    mean = sum(mean_skips(theta, j) for j in range(1, n + 1))
    assert mean == pytest.approx((weight * distance).sum() / weight.sum(), rel=1e-9, abs=1e-12)


def test_the_series_and_the_formula_of_the_mean_meet():
    for j in (2, 5, 40):
        low, high = mean_skips(0.0499999 / j, j), mean_skips(0.0500001 / j, j)
        slope = -(j * j - 1) / 12 * 2e-7 / j
        assert high - low == pytest.approx(slope, abs=1e-11 * j)
    assert mean_skips(800.0, 5) == 0.0


def test_the_dispersion_makes_the_mean_distance_the_observed_one():
    sizes, stages = np.arange(6), np.array([0.0, 0.0, 3.0, 2.0, 0.5, 7.0])
    for skipped in (0.01, 1.0, 10.0, 16.0):
        assert expected_skips(fit_theta(skipped, sizes, stages), sizes, stages) == pytest.approx(skipped, rel=1e-9)
    assert fit_theta(0.0, sizes, stages) == np.inf
    assert fit_theta(30.0, sizes, stages) == 0.0
    assert fit_theta(0.0, np.arange(4), np.zeros(4)) == 0.0


@every_missing
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_sums_over_the_orders_that_ties_and_gaps_allow(seed, missing):
    data = random_dataset(seed, n_queries=2, n_items=5, n_experts=4)
    consensus = Mallows(missing=missing).fit_predict(data)
    for q in range(len(data)):
        phi = consensus.details["dispersion"][q]
        scores = consensus[q].scores
        value = log_likelihood(data, q, scores, phi, missing)
        assert consensus.details["log_likelihood"][q] == pytest.approx(value, abs=1e-9)
        for other in (0.97 * phi, 1.03 * phi):
            if phi > 0 and other < 1:
                assert log_likelihood(data, q, scores, other, missing) < value


def test_the_centre_is_the_kemeny_order(dataset):
    mallows, kemeny = Mallows().fit_predict(dataset), Kemeny(ties="broken").fit_predict(dataset)
    assert_allclose(mallows.scores, kemeny.scores)
    assert_allclose(mallows.details["objective"], kemeny.details["objective"])


def test_known_dispersions():
    def phi(orders, weights=None):
        return Mallows().fit_predict(from_orders(orders, weights=weights)).details["dispersion"][0]

    assert phi([["a", "b"], ["b", "a"]], [7, 2]) == pytest.approx(2 / 7)
    assert phi([["a", "b", "c"]] * 4) == 0.0
    assert phi([["a", "b"], ["b", "a"]]) == pytest.approx(1.0)
    assert phi([list(order) for order in permutations("abcd")]) == pytest.approx(1.0)
    assert phi([[("a", "b", "c")]]) == 1.0  # nothing is said
    # Of the three items: Z = 1 + 2x + 2x² + x³, mean distance x Z' / Z, here 5 in six lists.
    x = phi([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"], ["c", "b", "a"]] + [["a", "b", "c"]] * 2)
    assert (2 * x + 4 * x**2 + 3 * x**3) / (1 + 2 * x + 2 * x**2 + x**3) == pytest.approx(5 / 6)


@pytest.mark.parametrize("phi", [0.3, [0.1, 0.9, 0.5]])
def test_orders_are_drawn_as_often_as_they_are_probable(phi):
    drawn = sample(["0", "1", "2", "3"], phi, 20_000, seed=1)
    chance = probabilities(4, phi if isinstance(phi, float) else [*phi, 1.0])
    seen = dict.fromkeys(chance, 0)
    for order in drawn:
        seen[tuple(int(i) for i in order)] += 1
    assert chisquare(list(seen.values()), np.array(list(chance.values())) * len(drawn)).pvalue > 0.001


def test_sampling_is_seeded_and_knows_its_bounds():
    assert sample(list("abc"), 0.5, 4, seed=3) == sample(list("abc"), 0.5, 4, seed=3)
    assert sample(list("abc"), 0.5, 9, seed=3) != sample(list("abc"), 0.5, 9, seed=4)
    assert sample([], 0.5, 2) == [[], []]
    with pytest.raises(ParameterError, match="between 0 and 1"):
        sample(list("abc"), 1.5, 1)


def test_the_dispersions_that_lists_were_drawn_with_are_found():
    one = from_orders(sample(list("abcdef"), 0.6, 3000, seed=5))
    found = Mallows().fit_predict(one)
    assert found.top() == {"all": list("abcdef")}
    assert found.details["dispersion"][0] == pytest.approx(0.6, abs=0.02)
    true = [0.1, 0.7, 0.4, 0.8]
    several = from_orders(sample(list("abcde"), true, 3000, seed=6))
    assert_allclose(GeneralisedMallows().fit(several).dispersions(several)[0], true, atol=0.06)


def test_a_place_with_its_own_dispersion_has_the_skips_expected_of_it():
    orders = [list(order) for order in sample(list("abcde"), [0.2, 0.9, 0.3, 0.6], 40, seed=2)]
    data = from_orders(orders)
    model = GeneralisedMallows().fit(data)
    consensus, phi = model.predict(data), model.dispersions(data)[0]
    rank = {item: n for n, item in enumerate(consensus.top()["all"])}
    observed = np.mean([skips([rank[item] for item in order]) for order in orders], axis=0)
    value = 0.0
    for k in range(4):
        options = np.arange(5 - k)

        def loss(t, k=k, options=options):
            return t * observed[k] + np.log(np.exp(-t * options).sum())

        best = minimize_scalar(loss, bounds=(0, 30), method="bounded", options={"xatol": 1e-10})
        assert np.exp(-best.x) == pytest.approx(phi[k], abs=1e-5)
        value -= len(orders) * best.fun
    assert consensus.details["log_likelihood"][0] == pytest.approx(value)
    assert consensus.details["dispersion"][0] == pytest.approx(phi.mean())


@every_missing
def test_places_with_their_own_dispersion_are_never_less_likely(missing):
    data = random_dataset(7, n_queries=20, ties=False)
    one = Mallows(missing=missing).fit_predict(data).details["log_likelihood"]
    several = GeneralisedMallows(missing=missing).fit_predict(data).details["log_likelihood"]
    assert (several >= one - 1e-9).all()
    assert (several > one + 1e-3).any()


def test_no_centre_of_few_items_is_likelier():
    orders = [list("abcd"), list("abdc"), list("badc"), list("acbd"), list("dabc"), list("abcd")]
    data = from_orders(orders)
    model = GeneralisedMallows().fit(data)
    r = data.rankings
    lists = MarginLists(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, r.list_weight, last=True)
    every = [fit_thetas(0, lists, np.argsort(order).astype(float))[0] for order in permutations(range(4))]
    assert model.predict(data).details["log_likelihood"][0] == pytest.approx(max(every))


@pytest.mark.parametrize("model", [Mallows, GeneralisedMallows])
@pytest.mark.parametrize(
    "orders",
    [
        [["a", "b"]],
        [["a"]],
        [[("a", "b", "c")]],
        [["a", "b"], ["b", "c"], ["c", "a"]],
        [["a", "b"], ["c", "d"]],
        [["a", ("b", "c"), "d"], [("a", "d"), "b"]],
    ],
)
@every_missing
def test_degenerate_data_gives_an_order_and_finite_details(model, orders, missing):
    consensus = model(missing=missing).fit_predict(from_orders(orders))
    assert sorted(consensus.scores) == list(range(len(consensus.scores)))
    assert np.isfinite(consensus.details["log_likelihood"]).all()
    assert ((consensus.details["dispersion"] >= 0) & (consensus.details["dispersion"] <= 1)).all()


@pytest.mark.parametrize("model", [Mallows, GeneralisedMallows])
def test_lists_of_weight_zero_say_nothing(model):
    data = from_orders([["a", "b", "c"], ["c", "b", "a"]], weights=[1, 0])
    consensus = model().fit_predict(data)
    assert consensus.top() == {"all": ["a", "b", "c"]}
    assert consensus.details["dispersion"].tolist() == [0.0]
