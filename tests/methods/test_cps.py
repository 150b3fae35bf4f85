"""The coset-permutation stagewise models against distances averaged over all permutations."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.data.long_table import from_long
from juryrank.errors import ConvergenceWarning, DataError
from juryrank.kernels.cps import DISTANCES, stage_costs
from juryrank.methods import CPS, ThetaCPS
from juryrank.methods.learned.theta_cps import Likelihood, levels
from methods.slow import dense, places

every_distance = pytest.mark.parametrize("distance", DISTANCES)


def kendall(tau, sigma):
    n = len(tau)
    return sum(
        (tau[i] < tau[j]) * (1.0 if sigma[i] > sigma[j] else 0.5 if sigma[i] == sigma[j] else 0.0)
        for i in range(n)
        for j in range(n)
    )


DEFINED = {
    "kendall": kendall,
    "spearman": lambda tau, sigma: ((tau - sigma) ** 2).sum(),
    "footrule": lambda tau, sigma: np.abs(tau - sigma).sum(),
}


def coset_distance(prefix, sigma, distance):
    """The mean distance from sigma (places) to the permutations that begin with ``prefix``."""
    n = len(sigma)
    rest = [i for i in range(n) if i not in prefix]
    found = []
    for tail in permutations(rest):
        tau = np.empty(n)
        tau[[*prefix, *tail]] = np.arange(1, n + 1)
        found.append(DEFINED[distance](tau, sigma))
    return np.mean(found)


def costs(place, left, k, distance):
    out = np.empty((len(left), len(place)))
    stage_costs(DISTANCES[distance], np.asarray(place, float), np.asarray(left), k, out)
    return out


@every_distance
@pytest.mark.parametrize("place", [[2, 5, 1, 4, 3], [1.5, 1.5, 3, 4.5, 4.5], [1, 5, 5, 2, 5]])
def test_costs_differ_as_the_mean_distances_over_all_permutations(distance, place):
    for prefix in ([], [3], [3, 0], [3, 0, 4]):
        left = [i for i in range(5) if i not in prefix]
        expected = np.array([coset_distance([*prefix, x], np.array(place), distance) for x in left])
        found = costs([place], left, len(prefix) + 1, distance)[:, 0]
        assert_allclose(found - found[0], expected - expected[0], atol=1e-12)


@pytest.mark.parametrize("theta", [0.3, 1.2])
def test_with_one_list_and_kendalls_distance_it_is_mallows_model(theta):
    sigma = np.array([2.0, 4.0, 1.0, 3.0])
    orders = list(permutations(range(4)))
    log_p = np.zeros(len(orders))
    for row, order in enumerate(orders):
        for k in range(4):
            energy = -theta * costs([sigma], list(order[k:]), k + 1, "kendall")[:, 0]
            log_p[row] += energy[0] - logsumexp(energy)
    distance = np.array([kendall(np.argsort(order), sigma) for order in orders])
    assert logsumexp(log_p) == pytest.approx(0, abs=1e-12)
    assert_allclose(log_p - log_p[0], -theta * (distance - distance[0]), atol=1e-12)


@every_distance
@pytest.mark.parametrize("missing", ["last", "mean"])
def test_each_stage_takes_the_item_of_lowest_cost(distance, missing):
    data = random_dataset(1, n_queries=8)
    weights = {f"e{k}": w for k, w in enumerate([0.31, 1.07, 2.13, 0.77, 1.59])}
    consensus = CPS(distance=distance, missing=missing, weights=weights).fit_predict(data)
    r = data.rankings
    for q in range(len(data)):
        given, _ = dense(data, q)
        place = places(given)
        n = place.shape[1]
        for row in place:
            gaps = np.isnan(row)
            row[gaps] = n if missing == "last" else n - (gaps.sum() - 1) / 2
        w = [weights[r.experts[k]] for k in r.list_expert[r.list_ptr[q] : r.list_ptr[q + 1]]]
        left, lo = list(range(n)), r.slot_ptr[q]
        for k in range(1, n + 1):
            cost = costs(place, left, k, distance) @ np.array(w)
            taken = left[int(np.argmin(cost.round(9)))]
            assert consensus.scores[lo + taken] == n - k
            left.remove(taken)


def test_levels_of_labels_are_taken_together_and_the_lowest_teaches_nothing():
    found = [(left.tolist(), k, n) for left, k, n in levels(np.array([0.0, 2.0, np.nan, 1.0, 2.0, 0.0]))]
    assert found == [([1, 4, 3, 0, 5], 1, 2), ([3, 0, 5], 3, 1)]
    assert list(levels(np.array([1.0, 1.0]))) == []
    assert list(levels(np.array([np.nan]))) == []


@every_distance
def test_the_gradient_agrees_with_differences_and_is_zero_where_the_weight_is_not(distance):
    data = random_dataset(2, n_queries=12)
    model = ThetaCPS(distance=distance, prior=0.01).fit(data)
    choices = list(model._choices(data))
    unit = np.sqrt(np.mean([cost.var() for cost, _ in choices]))
    likelihood = Likelihood([(cost / unit, n) for cost, n in choices], 0.01)
    at = np.array([0.1, 0.5, 0.0, 1.0, 0.3])
    assert_allclose(likelihood(at)[1], approx_fprime(at, lambda x: likelihood(x)[0], 1e-7), atol=1e-6)
    theta = model.theta_ * unit
    slope = likelihood(theta)[1]
    assert (slope >= -1e-6).all()
    assert_allclose(slope * (theta > 1e-9), 0, atol=1e-6)


def test_the_likelihood_is_that_of_one_choice_after_another():
    data = from_dicts(
        {"x": {"q": ["a", "b", "c", "d"]}, "y": {"q": ["d", "a", "c", "b"]}},
        labels={"q": {"a": 3, "b": 1, "c": 2, "d": 0}},
    )
    choices = list(ThetaCPS()._choices(data))
    value, _ = Likelihood(choices, 0.0)(np.array([0.7, 0.2]))
    expected, left = 0.0, [0, 2, 1, 3]
    for k in range(3):
        energy = -costs([[1, 2, 3, 4], [2, 4, 3, 1]], left[k:], k + 1, "kendall") @ [0.7, 0.2]
        expected += energy[0] - logsumexp(energy)
    assert -value * 3 == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:.*has not learned from")
def test_good_experts_get_weight_and_strangers_the_mean():
    rng = np.random.default_rng(0)
    runs, labels = {"good": {}, "fair": {}, "random": {}}, {}
    for q in range(100):
        truth = rng.normal(size=8)
        labels[f"q{q}"] = {f"i{i}": int(truth[i] > 0.5) for i in range(8)}
        for name, noise in (("good", 0.7), ("fair", 1.2), ("random", 50.0)):
            runs[name][f"q{q}"] = [f"i{i}" for i in np.argsort(-(truth + noise * rng.normal(size=8)))]
    model = ThetaCPS().fit(from_dicts(runs, labels=labels))
    theta = dict(zip(model.experts_, model.theta_, strict=True))
    assert theta["good"] > theta["fair"] > 2 * theta["random"]
    stranger = from_dicts({"new": {"q": ["a", "b"]}, "random": {"q": ["b", "a"]}})
    assert model.predict(stranger).top() == {"q": ["a", "b"]}


@every_distance
@pytest.mark.parametrize(
    ("orders", "first"),
    [
        ([["a", "b"]], "a"),
        ([["a"]], "a"),
        ([[("a", "b", "c")]], "a"),
        ([["a", "b"], ["b", "c"], ["c", "a"]], "a"),
        ([["b", "a"], ["c", "d"]], "b"),
    ],
)
def test_degenerate_data_gives_an_order_with_ties_cut_by_the_slots(orders, first, distance):
    consensus = CPS(distance=distance).fit_predict(from_orders(orders))
    assert sorted(consensus.scores) == list(range(len(consensus.scores)))
    assert consensus.top(1) == {"all": [first]}


def test_lists_of_weight_zero_say_nothing():
    data = from_orders([["a", "b", "c"], ["c", "b", "a"]], weights=[1, 0])
    assert CPS().fit_predict(data).top() == {"all": ["a", "b", "c"]}


def test_labels_without_levels_are_an_error():
    data = from_dicts({"x": {"q": ["a", "b"]}, "y": {"q": ["b"]}}, labels={"q": {"a": 1, "b": 1}})
    with pytest.raises(DataError, match="theta-cps: no query has lists and labels that differ"):
        ThetaCPS().fit(data)


def test_steps_that_run_out_are_warned_of_and_keep_the_estimate():
    with pytest.warns(ConvergenceWarning, match="did not converge after 1 steps"):
        model = ThetaCPS(max_iter=1).fit(random_dataset(3))
    assert np.isfinite(model.theta_).all()


def test_an_item_that_nobody_ranks_comes_after_those_that_all_rank():
    import polars as pl

    entries = pl.DataFrame({"query": "q", "expert": "e", "item": ["b", "c"], "rank": [1.0, 2.0]})
    data = from_long(entries, candidates=pl.DataFrame({"query": "q", "item": ["a", "b", "c"]}))
    for distance in DISTANCES:
        assert CPS(distance=distance).fit_predict(data).top() == {"q": ["b", "c", "a"]}


def test_mq2008_is_above_the_published_row_with_and_without_labels(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    methods = {f"{cls.name} {d}": cls(distance=d) for cls in (CPS, ThetaCPS) for d in DISTANCES}
    found = juryrank.compare(methods, data, ["nDCG@1", "nDCG@5", "AP"], convention="letor")
    assert (100 * found.means >= [26.52, 40.04, 41.02]).all()
    alike, learned = np.split(found.means[:, 2], 2)
    assert (learned > alike + 0.01).all()
