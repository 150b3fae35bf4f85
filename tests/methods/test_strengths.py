"""Likelihood models of strengths: zero slope of a dense objective, peers' numbers, and what the definitions imply."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr, logsumexp

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.data.long_table import from_long
from juryrank.errors import ConvergenceWarning, DataError, ParameterError
from juryrank.methods import BradleyTerry, CrowdBT, PlackettLuce, PlackettLuceGamma, Thurstone

PRIOR = 0.3


def battles(rows):
    """A dataset of comparisons (winner, loser, tie, weight), each a list of its own."""
    made = []
    for n, (winner, loser, tie, weight) in enumerate(rows):
        made.append(("all", winner, "e", f"{n:06d}", 1.0, float(weight)))
        made.append(("all", loser, "e", f"{n:06d}", 1.0 if tie else 2.0, float(weight)))
    schema = {"query": pl.String, "item": pl.String, "expert": pl.String, "list": pl.String}
    return from_long(pl.DataFrame(made, schema={**schema, "rank": pl.Float64, "weight": pl.Float64}, orient="row"))


def random_battles(seed, n_items=7, n=60, ties=0.2):
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n_items)
    rows = []
    for _ in range(n):
        i, j = rng.choice(n_items, 2, replace=False)
        if rng.random() > expit(strength[i] - strength[j]):
            i, j = j, i
        rows.append((f"i{i}", f"i{j}", rng.random() < ties, rng.choice([1.0, 2.0, 0.5])))
    return battles(rows)


def dense_counts(data, q=0, *, last=False):
    """won[i, j] and tied[i, j] of one query, from the words of the definition."""
    r = data.rankings
    lo, n = r.slot_ptr[q], int(r.query_size[q])
    won, tied = np.zeros((n, n)), np.zeros((n, n))
    for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
        rank = np.full(n, np.nan)
        for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            rank[r.entry_slot[e] - lo] = r.entry_rank[e]
        below = rank[:, None] < rank[None, :]
        if last:
            below |= ~np.isnan(rank)[:, None] & np.isnan(rank)[None, :]
        won += r.list_weight[m] * below
        tied += r.list_weight[m] * (rank[:, None] == rank[None, :]) * (1 - np.eye(n))
    return won, tied


def best(negative, n):
    """The minimum of a smooth convex function, by scipy."""
    found = minimize(negative, np.zeros(n), method="BFGS", options={"gtol": 1e-9})
    return found.x


LOG_CHANCE = {
    "bradley-terry": lambda d: -np.logaddexp(0, -d),
    "thurstone": log_ndtr,
}


@pytest.mark.parametrize("method", [BradleyTerry, Thurstone])
@pytest.mark.parametrize("missing", ["ignore", "last"])
def test_pairwise_strengths_maximise_the_dense_objective(method, missing):
    data = random_dataset(1)
    scores = method(prior=PRIOR, missing=missing).fit_predict(data).scores
    log_chance = LOG_CHANCE[method.name]
    for q in range(len(data)):
        won, tied = dense_counts(data, q, last=missing == "last")
        won = won + 0.5 * tied

        def negative(s, won=won):
            return -(won * log_chance(s[:, None] - s[None, :])).sum() + PRIOR / 2 * (s**2).sum()

        lo, hi = data.rankings.slot_ptr[q : q + 2]
        assert_allclose(scores[lo:hi], best(negative, hi - lo), atol=2e-5)


def dense_differences(data, q, *, last):
    """won[i, j]: how far list by list i is above j, in score or else in rank."""
    r = data.rankings
    lo, n = int(r.slot_ptr[q]), int(r.query_size[q])
    won = np.zeros((n, n))
    for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
        entries = range(r.entry_ptr[m], r.entry_ptr[m + 1])
        value = {r.entry_slot[e] - lo: -r.entry_rank[e] if r.entry_score is None else r.entry_score[e] for e in entries}
        absent = [i for i in range(n) if i not in value] if last else []
        value.update(dict.fromkeys(absent, -max(1 - min(value.values()), n)))
        for i, ours in value.items():
            for j, theirs in value.items():
                won[i, j] += r.list_weight[m] * max(ours - theirs, 0)
    return won


@pytest.mark.parametrize(("scored", "missing"), [(False, "ignore"), (False, "last"), (True, "ignore")])
def test_counts_by_difference_maximise_the_dense_objective(scored, missing):
    data = random_dataset(1)
    if scored:
        rng, r = np.random.default_rng(4), data.rankings
        score = rng.integers(1, 6, r.n_entries) / 2.0  # with ties, and in another order than the ranks
        data = replace(data, rankings=replace(r, entry_score=score))
    scores = BradleyTerry(counts="difference", prior=PRIOR, missing=missing).fit_predict(data).scores
    for q in range(len(data)):
        won = dense_differences(data, q, last=missing == "last")

        def negative(s, won=won):
            return -(won * -np.logaddexp(0, s[None, :] - s[:, None])).sum() + PRIOR / 2 * (s**2).sum()

        lo, hi = data.rankings.slot_ptr[q : q + 2]
        assert_allclose(scores[lo:hi], best(negative, hi - lo), atol=2e-5)


def test_ties_count_nothing_by_difference():
    scored = {"u": {"q": {"a": 5, "b": 5, "c": 1}}, "v": {"q": {"d": 2, "e": 2}}}
    scores = BradleyTerry(counts="difference", prior=1e-9).fit_predict(from_dicts(scored)).scores
    without = BradleyTerry(counts="difference", prior=1e-9).fit_predict(
        from_dicts({"u": {"q": {"a": 5, "c": 1}}, "v": {"q": {"b": 5, "c": 1}}})
    )
    assert_allclose(scores[:3], without.scores, atol=1e-6)
    assert scores[3:].tolist() == [0, 0]


def test_what_counts_by_difference_cannot_have_is_refused():
    scored = from_dicts({"u": {"q": {"a": 5, "b": 4}}, "v": {"q": {"a": 2, "c": 3}}})
    with pytest.raises(ParameterError, match="missing of BradleyTerry must be ignore if counts is difference"):
        BradleyTerry(counts="difference", missing="last").fit_predict(scored)
    with pytest.raises(ParameterError, match="ties of BradleyTerry must be half if counts is difference"):
        BradleyTerry(counts="difference", ties="davidson").fit(scored)
    with pytest.raises(DataError, match="counts='difference' uses differences of scores without scaling"):
        BradleyTerry(counts="difference").fit_predict(from_dicts({"u": {"q": {"a": 1e300, "b": -1e300}}}))
    with pytest.raises(ParameterError, match="counts of bradley-terry must be once for a leaderboard"):
        juryrank.leaderboard(scored, method=BradleyTerry(counts="difference"))


def test_at_the_maximum_wins_equal_expected_wins():
    data = random_battles(0, n=400)
    s = BradleyTerry(prior=1e-6).fit_predict(data).scores
    won, tied = dense_counts(data)
    won = won + tied / 2
    expected = ((won + won.T) * expit(s[:, None] - s[None, :])).sum(1)
    assert_allclose(won.sum(1), expected, rtol=1e-6)


def davidson(d, t):
    total = np.logaddexp(np.logaddexp(d / 2, -d / 2), t)
    return d / 2 - total, t - total


def rao_kupper(d, t):
    tie = np.log1p(-np.exp(-2 * t)) - np.logaddexp(0, d - t) - np.logaddexp(0, -d - t)
    return -np.logaddexp(0, t - d), tie


@pytest.mark.parametrize(("ties", "model", "start"), [("davidson", davidson, 0.1), ("rao-kupper", rao_kupper, 0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_models_of_ties_maximise_the_dense_objective(ties, model, start, seed):
    data = random_battles(seed, n=150, ties=0.3)
    won, tied = dense_counts(data)

    def negative(x):
        win, tie = model(x[:-1, None] - x[None, :-1], abs(x[-1]) if ties == "rao-kupper" else x[-1])
        even = model(0.0, abs(x[-1]) if ties == "rao-kupper" else x[-1])
        imaginary = PRIOR * (2 * even[0] + even[1]) / 3
        return -(won * win + np.triu(tied) * tie).sum() - imaginary + PRIOR / 2 * (x[:-1] ** 2).sum()

    first = np.append(np.zeros(len(won)), start)
    found = minimize(negative, first, method="BFGS", options={"gtol": 1e-9}).x
    consensus = BradleyTerry(ties=ties, prior=PRIOR).fit_predict(data)
    assert_allclose(consensus.scores, found[:-1], atol=2e-5)
    assert_allclose(
        consensus.details["tie"], [np.exp(abs(found[-1]) if ties == "rao-kupper" else found[-1])], rtol=1e-4
    )


@pytest.mark.parametrize(("ties", "never"), [("davidson", 0.0), ("rao-kupper", 1.0)])
def test_without_ties_the_models_of_ties_are_bradley_terry(ties, never):
    data = random_battles(3, ties=0.0)
    consensus = BradleyTerry(ties=ties).fit_predict(data)
    assert_allclose(consensus.scores, BradleyTerry().fit_predict(data).scores, atol=1e-9)
    assert consensus.details["tie"].tolist() == [never]


def test_bradley_terry_agrees_with_choix_and_evalica():
    choix, evalica = pytest.importorskip("choix"), pytest.importorskip("evalica")
    data = random_battles(5, n=500, ties=0.0)
    r = data.rankings
    pairs = r.entry_slot.reshape(-1, 2)
    ours = BradleyTerry(prior=1e-9).fit_predict(data)
    copies = np.repeat(pairs, (2 * r.list_weight).astype(int), axis=0)
    assert_allclose(ours.scores, choix.opt_pairwise(r.n_slots, copies.tolist()), atol=1e-5)
    names = [[str(r.items[i]) for i in side] for side in pairs.T]
    wins = [evalica.Winner.X] * len(pairs)
    theirs = evalica.bradley_terry(*names, wins, weights=r.list_weight.tolist(), tolerance=1e-12, limit=10_000)
    log = np.log(theirs.scores[[str(i) for i in r.items]].to_numpy())
    assert_allclose(ours.scores, log - log.mean(), atol=1e-4)


def plackett_luce_slope(data, q, s, *, last):
    """Slope of the log likelihood of a query, list by list and group by group as the docstring says."""
    r = data.rankings
    lo, n = r.slot_ptr[q], int(r.query_size[q])
    slope = np.zeros(n)
    for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
        entries = range(r.entry_ptr[m], r.entry_ptr[m + 1])
        rank = {r.entry_slot[e] - lo: r.entry_rank[e] for e in entries}
        absent = [i for i in range(n) if i not in rank] if last else []
        for place in sorted(set(rank.values())):
            group = [i for i in rank if rank[i] == place]
            left = [i for i in rank if rank[i] >= place] + absent
            choices = len(group) - (len(group) == len(left))
            slope[group] += r.list_weight[m] * choices / len(group)
            slope[left] -= r.list_weight[m] * choices * np.exp(s[left] - logsumexp(s[left]))
    return slope


@pytest.mark.parametrize("missing", ["ignore", "last"])
@pytest.mark.parametrize("method", [PlackettLuce(prior=PRIOR), PlackettLuceGamma(shape=1.5)])
def test_the_slope_of_plackett_luce_is_zero(method, missing):
    data = random_dataset(2)
    method = type(method)(**{**method.params(), "missing": missing})
    scores = method.fit_predict(data).scores
    for q in range(len(data)):
        lo, hi = data.rankings.slot_ptr[q : q + 2]
        s = scores[lo:hi]
        slope = plackett_luce_slope(data, q, s, last=missing == "last")
        # Scores of the Gamma model are centred; the scale that its prior wants makes worths sum to shape × items.
        gamma = 1.5 - len(s) * 1.5 * np.exp(s - logsumexp(s))
        assert_allclose(slope + (-PRIOR * s if isinstance(method, PlackettLuce) else gamma), 0, atol=1e-6)


def test_plackett_luce_on_comparisons_is_bradley_terry():
    data = random_battles(6)
    assert_allclose(
        PlackettLuce(prior=0.1).fit_predict(data).scores, BradleyTerry(prior=0.1).fit_predict(data).scores, atol=1e-8
    )


def test_plackett_luce_agrees_with_choix_on_partial_rankings():
    choix = pytest.importorskip("choix")
    rng = np.random.default_rng(0)
    orders = [rng.permutation(6)[: rng.integers(2, 7)].tolist() for _ in range(200)]
    data = from_orders([[str(i) for i in order] for order in orders])
    ours = PlackettLuce(prior=1e-9).fit_predict(data).scores
    assert_allclose(ours, choix.opt_rankings(6, orders), atol=1e-5)


def test_the_gamma_posterior_is_that_of_gibbs_sampling():
    """Caron and Doucet's sampler: an arrival time for every choice, a Gamma worth for every item."""
    rng = np.random.default_rng(1)
    orders = [rng.permutation(4)[:3].tolist() for _ in range(30)] + [[0, 1], [0, 2], [0, 1, 2, 3]]
    shape = 3.0
    worth, draws = np.ones(4), []
    for step in range(6000):
        rate, count = np.ones(4), np.full(4, shape)
        for order in orders:
            for at in range(len(order) - 1):
                left = order[at:]
                rate[left] += rng.exponential(1 / worth[left].sum())
                count[order[at]] += 1
        worth = rng.gamma(count, 1 / rate)
        if step >= 500:
            draws.append(worth / worth.sum())
    data = from_orders([[str(i) for i in order] for order in orders])
    mean, spread = PlackettLuceGamma(shape=shape).posterior(data)
    assert_allclose(mean, np.mean(draws, axis=0), atol=0.01)
    assert_allclose(spread, np.std(draws, axis=0), rtol=0.1)


def test_the_gamma_prior_alone_gives_the_shares_of_a_dirichlet_law():
    data = from_orders([["a"], ["b"], ["c"]])
    mean, spread = PlackettLuceGamma(shape=20.0).posterior(data)
    assert_allclose(mean, 1 / 3)
    assert_allclose(spread, np.sqrt((1 / 3) * (2 / 3) / 61), rtol=0.01)


def test_the_crowd_model_has_zero_slope_in_strengths_and_reliabilities():
    data = random_dataset(11, n_queries=3)
    model = CrowdBT(prior=PRIOR, tol=1e-12, max_iter=5000).fit(data)
    s = model.predict(data).scores
    r = data.rankings
    reliable = np.array([model.reliability_[name] for name in r.experts])
    slope, in_reliability = -PRIOR * s, 4 / reliable - 1 / (1 - reliable)
    for m in range(r.n_lists):
        eta = reliable[r.list_expert[m]]
        for a in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            for b in range(a + 1, r.entry_ptr[m + 1]):
                one, two = r.entry_slot[a], r.entry_slot[b]
                half = r.entry_rank[a] == r.entry_rank[b]
                for i, j, weight in ((one, two, 0.5 if half else 1.0), (two, one, 0.5 if half else 0.0)):
                    p = expit(s[i] - s[j])
                    said = eta * p + (1 - eta) * (1 - p)
                    slope[i] += weight * (2 * eta - 1) * p * (1 - p) / said
                    slope[j] -= weight * (2 * eta - 1) * p * (1 - p) / said
                    in_reliability[r.list_expert[m]] += weight * (2 * p - 1) / said
    assert_allclose(slope, 0, atol=1e-5)
    assert_allclose(in_reliability, 0, atol=1e-4)


def test_the_crowd_model_finds_the_experts_who_guess_and_who_turn_the_order_round():
    rng = np.random.default_rng(3)
    orders = {"good": 0.95, "guess": 0.5, "mirror": 0.1}
    rows = []
    for n in range(900):
        expert = list(orders)[n % 3]
        i, j = sorted(rng.choice(8, 2, replace=False))
        best_first = (i, j) if rng.random() < orders[expert] else (j, i)
        rows += [("all", f"i{item}", expert, f"{n:04d}", rank) for rank, item in enumerate(best_first, 1)]
    columns = ["query", "item", "expert", "list", "rank"]
    data = from_long(pl.DataFrame(rows, schema=columns, orient="row"))
    model = CrowdBT().fit(data)
    found = [model.reliability_[name] for name in orders]
    assert_allclose(found, list(orders.values()), atol=0.1)
    assert model.predict(data).top(8)["all"] == [f"i{n}" for n in range(8)]


@pytest.mark.parametrize("method", [BradleyTerry, PlackettLuce, Thurstone, PlackettLuceGamma])
def test_too_few_steps_warn_and_keep_the_estimate(method):
    data = random_battles(2)
    with pytest.warns(ConvergenceWarning, match="1 of 1 queries did not converge after 1 steps"):
        early = method(max_iter=1).fit_predict(data).scores
    assert np.isfinite(early).all()
    assert np.corrcoef(early, method().fit_predict(data).scores)[0, 1] > 0.9


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans(), st.integers(0, 3)), min_size=1))
def test_any_comparisons_give_finite_strengths_with_mean_zero(rows):
    rows = [(f"i{a}", f"i{b}", tie, w) for a, b, tie, w in rows if a != b] or [("x", "y", False, 1)]
    data = battles(rows)
    for ties in ("half", "davidson", "rao-kupper"):
        consensus = BradleyTerry(ties=ties).fit_predict(data)
        assert np.isfinite(consensus.scores).all()
        assert consensus.scores.sum() == pytest.approx(0, abs=1e-6)
        assert np.isfinite(consensus.details.get("tie", 0.0)).all()


def test_weights_count_lists():
    rows = [("a", "b", False, 3), ("b", "c", False, 1), ("c", "a", True, 2)]
    copies = [(w, l, t, 1) for w, l, t, n in rows for _ in range(n)]
    for method in (BradleyTerry(ties="davidson"), Thurstone(), PlackettLuce()):
        assert_allclose(method.fit_predict(battles(rows)).scores, method.fit_predict(battles(copies)).scores, atol=1e-8)
