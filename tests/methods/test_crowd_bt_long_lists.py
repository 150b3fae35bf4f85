"""Crowd Bradley–Terry on long lists: sums over entries equal sums over all pairs, and the fit is that of the pairs."""

import math

import numpy as np
import pytest

import juryrank as jr
from juryrank.methods.strengths._crowd_fit import LongLists, chebyshev_points, has_long_lists


def crowd(n_lists: int, n_items: int, seed: int, *, ties: bool = False) -> jr.Dataset:
    """Noisy lists of two queries; every fifth expert turns the order round."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(size=(2, n_items))
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for m in range(n_lists):
        noisy = (-1 if m % 5 == 0 else 1) * (worth + rng.uniform(0.5, 2) * rng.normal(size=worth.shape))
        values = np.round(noisy) if ties else noisy
        runs[f"e{m}"] = {
            f"q{q}": {f"i{i}": float(values[q, i]) for i in rng.permutation(n_items)[: n_items - m % 3]}
            for q in range(2)
        }
    return jr.from_dicts(runs)


def slow_posterior(lists: LongLists, x: np.ndarray, odds: np.ndarray) -> float:
    """One comparison at a time."""
    r, value = lists.rankings, -0.5 * lists.prior * float(x @ x)
    for k in range(len(r.experts)):
        right = 1 / (1 + math.exp(-odds[k]))
        value += lists.evidence * (lists.trust * math.log(right) + (1 - lists.trust) * math.log(1 - right))
    for m in range(r.n_lists):
        right = 1 / (1 + math.exp(-odds[r.list_expert[m]]))
        entries = range(r.entry_ptr[m], r.entry_ptr[m + 1])
        for a in entries:
            for b in entries:
                if a == b or r.entry_rank[a] > r.entry_rank[b]:
                    continue
                share = 0.5 if r.entry_rank[a] == r.entry_rank[b] else 1.0
                wins = 1 / (1 + math.exp(x[r.entry_slot[b]] - x[r.entry_slot[a]]))
                value += lists.weight[m] * share * math.log(right * wins + (1 - right) * (1 - wins))
    return value


@pytest.mark.parametrize("ties", [False, True])
def test_the_posterior_and_its_slope_are_those_of_all_comparisons(ties: bool) -> None:
    rng = np.random.default_rng(1)
    r = crowd(5, 12, 0, ties=ties).rankings
    lists = LongLists(r, rng.uniform(0.5, 2, r.n_lists), 0.1, 0.8, 5.0)
    x, odds = 2 * rng.normal(size=r.n_slots), rng.normal(size=len(r.experts))
    found = lists.evaluate(x, odds, improve=False)
    assert found is not None
    assert found[0] == pytest.approx(slow_posterior(lists, x, odds), rel=1e-7)
    for slot in range(0, r.n_slots, 5):
        up, down = x.copy(), x.copy()
        up[slot] += 1e-5
        down[slot] -= 1e-5
        rise = (slow_posterior(lists, up, odds) - slow_posterior(lists, down, odds)) / 2e-5
        assert found[1][slot] == pytest.approx(rise, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("ties", [False, True])
def test_reliabilities_are_those_of_the_fit_to_all_pairs(ties: bool) -> None:
    data = crowd(12, 40, 2, ties=ties)
    model = jr.method("crowd-bt", tol=1e-10, max_iter=5000)
    by_pairs = model.fit(data).reliability_
    r = data.rankings
    lists = LongLists(r, np.ones(r.n_lists), float(model.prior), float(model.trust), float(model.evidence), tol=1e-6)
    found = lists.reliabilities()
    assert found is not None
    assert found == pytest.approx([by_pairs[name] for name in r.experts], abs=1e-6)
    assert found[list(r.experts).index("e0")] < 0.5 < found[list(r.experts).index("e1")]


def test_only_long_lists_are_fitted_by_entries_and_wide_strengths_by_pairs() -> None:
    assert not has_long_lists(crowd(4, 30, 3).rankings)
    assert chebyshev_points(-1.0, 1.0) is not None
    assert chebyshev_points(-500.0, 500.0) is None
