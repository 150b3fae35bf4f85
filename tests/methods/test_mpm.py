"""The multinomial preference models against their likelihood written out over all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, logsumexp
from scipy.stats import kendalltau, spearmanr

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_array, from_dicts, from_orders
from juryrank.data.dataset import Pairs
from juryrank.data.long_table import from_long
from juryrank.errors import ConvergenceWarning, DataError, DataWarning, ParameterError
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import MPM, ThetaMPM
from juryrank.methods.learned.theta_mpm import Objective
from juryrank.methods.strengths.mpm import Profile
from methods.slow import dense

LOG_HALF = np.log(0.5)


def count_matrices(data, q, counts="rank", missing="ignore"):
    """C[k, i, j]: how often list k puts i above j."""
    ranks, weights = dense(data, q)
    n = ranks.shape[1]
    if missing == "last":
        for row in ranks:
            worst = max(np.nanmax(row), np.sum(~np.isnan(row)))
            row[np.isnan(row)] = max(worst + 1, n)
    gap = np.nan_to_num(ranks[:, None, :] - ranks[:, :, None])
    c = np.maximum(np.sign(gap) if counts == "once" else gap, 0.0)
    return c * weights[:, None, None]


def log_likelihood(c, theta, s, gamma, prior=0.0, hold=0.0):
    """The penalised log-likelihood, one pair at a time."""
    n = len(s)
    x = (s[:, None] - s[None, :]) / (gamma[:, None] + gamma[None, :])
    off = ~np.eye(n, dtype=bool)
    value = sum(t * (ck * x).sum() - ck.sum() * logsumexp(t * x[off]) for ck, t in zip(c, theta, strict=True))
    away = np.log(gamma) - LOG_HALF
    return value - c.sum() / n / 2 * (prior * s @ s + hold * away @ away)


def best(c, theta, prior, hold=None):
    """Scores and variances that maximise the dense objective, by scipy."""
    n = c.shape[1]

    def loss(x):
        gamma = np.full(n, 0.5) if hold is None else np.exp(x[n:])
        return -log_likelihood(c, theta, x[:n], gamma, prior, hold or 0.0) / c.sum()

    start = np.zeros(n) if hold is None else np.append(np.zeros(n), np.full(n, LOG_HALF))
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    return found.x[:n], None if hold is None else np.exp(found.x[n:])


@pytest.mark.parametrize("counts", ["rank", "once"])
@pytest.mark.parametrize("missing", ["ignore", "last"])
def test_scores_maximise_the_likelihood_over_all_pairs(counts, missing):
    data = random_dataset(1, n_queries=3, n_items=6, n_experts=4)
    consensus = MPM(counts=counts, missing=missing, prior=0.01).fit_predict(data)
    for q in range(len(data)):
        c = count_matrices(data, q, counts, missing)
        expected, _ = best(c, np.ones(len(c)), 0.01)
        assert_allclose(consensus[q].scores, expected, atol=2e-5)


@pytest.mark.parametrize("missing", ["ignore", "last"])
@pytest.mark.parametrize("counts", ["rank", "once"])
def test_scores_and_variances_maximise_the_likelihood_over_all_pairs(counts, missing):
    data = random_dataset(2, n_queries=3, n_items=5, n_experts=4)
    model = MPM(counts=counts, missing=missing, prior=0.1, hold=1.0, variances=True, tol=1e-14).fit(data)
    consensus, gamma = model.predict_with_variances(data)
    for q in range(len(data)):
        c = count_matrices(data, q, counts, missing)
        s, g = best(c, np.ones(len(c)), 0.1, 1.0)
        lo, hi = data.rankings.slot_ptr[q : q + 2]
        assert_allclose(consensus.scores[lo:hi], s, atol=1e-4)
        assert_allclose(gamma[lo:hi], g, atol=1e-4)
        assert consensus.details["variance"][q] == pytest.approx(g.mean(), abs=1e-4)


def test_the_gradient_is_zero_at_the_answer_also_with_adherences():
    data = random_dataset(3, n_queries=4)
    model = ThetaMPM(variances=True, missing="ignore", tol=1e-15).fit(data)
    consensus, gamma = model.predict_with_variances(data)
    r = data.rankings
    for q in range(len(data)):
        c = count_matrices(data, q)
        theta = model.theta_[r.positions_in(model.experts_)][r.list_expert[r.list_ptr[q] : r.list_ptr[q + 1]]]
        lo, hi = r.slot_ptr[q : q + 2]
        n = hi - lo
        x = np.append(consensus.scores[lo:hi], np.log(gamma[lo:hi]))
        slope = approx_fprime(x, lambda x: log_likelihood(c, theta, x[:n], np.exp(x[n:]), 1e-3, 1.0) / c.sum(), 1e-6)  # noqa: B023
        assert_allclose(slope, 0, atol=2e-6)


def test_with_equal_variances_the_order_is_that_of_the_net_counts():
    data = random_dataset(4, n_queries=20)
    consensus = MPM().fit_predict(data)
    for q in range(len(data)):
        c = count_matrices(data, q).sum(0)
        net = c.sum(1) - c.sum(0)
        assert_array_equal(np.argsort(consensus[q].scores.round(9), kind="stable"), np.argsort(net, kind="stable"))


def test_weights_count_lists_and_their_unit_does_not_matter():
    orders = [["a", "b", "c", "d"], ["b", "a", "d", "c"], ["d", "c", "b", "a"]]
    one = MPM(variances=True).fit_predict(from_orders(orders + orders[:1])).scores
    two = MPM(variances=True).fit_predict(from_orders(orders, weights=[2, 1, 1])).scores
    many = MPM(variances=True).fit_predict(from_orders(orders, weights=[2000, 1000, 1000])).scores
    assert_allclose(two, one, atol=1e-6)
    assert_allclose(many, two, atol=1e-6)


def test_differences_of_score_are_counts_and_ranks_stand_in_for_missing_scores():
    scored = from_dicts({"u": {"q": {"a": 5, "b": 4, "c": 1}}, "v": {"q": {"a": 2, "c": 3}}})
    ranked = from_array(np.array([[1, 2, 5], [2, np.nan, 1]]), items=["a", "b", "c"])
    assert_allclose(MPM(counts="score").fit_predict(scored).scores, MPM().fit_predict(ranked).scores)
    assert_allclose(MPM(counts="score").fit_predict(ranked).scores, MPM().fit_predict(ranked).scores)
    with pytest.raises(ParameterError, match="missing of MPM must be ignore"):
        MPM(counts="score", missing="last").fit(scored)


def test_scores_count_though_ranks_beside_them_say_otherwise():
    import polars as pl

    entries = pl.DataFrame(
        {"query": "q", "expert": "e", "item": list("abc"), "rank": [1.0, 2, 3], "score": [2.0, 7, 3]}
    )
    scored = from_dicts({"e": {"q": {"a": 2, "b": 7, "c": 3}}})
    for variances in (False, True):
        model = MPM(counts="score", variances=variances)
        assert_allclose(model.fit_predict(from_long(entries)).scores, model.fit_predict(scored).scores, atol=1e-9)


def test_the_gradient_by_adherences_agrees_with_differences():
    data = random_dataset(5)
    profile = Profile(MPM(theta="learned", missing="last", tol=1e-15), data.rankings)
    at = np.array([0.3, -0.5, 1.0, 0.0, 2.0])
    assert_allclose(profile(at)[1], approx_fprime(at, lambda x: profile(x)[0], 1e-6), atol=1e-7)


def crowd(seed, n_items=8, n_queries=6):
    """Four experts near the truth and one that ranks at random, and one that turns the truth round."""
    rng = np.random.default_rng(seed)
    runs = {f"e{k}": {} for k in range(6)}
    for q in range(n_queries):
        truth = rng.normal(size=n_items)
        for k in range(6):
            seen = (
                rng.normal(size=n_items) if k == 4 else (-1 if k == 5 else 1) * truth + 0.3 * rng.normal(size=n_items)
            )
            runs[f"e{k}"][f"q{q}"] = [f"i{i}" for i in np.argsort(-seen)]
    return from_dicts(runs)


def test_learned_adherences_find_the_outliers_and_are_a_maximum():
    data = crowd(0)
    model = MPM(theta="learned").fit(data)
    theta = dict(zip(model.experts_, model.theta_, strict=True))
    assert max(theta["e4"], theta["e5"]) < 0.7 * min(theta[f"e{k}"] for k in range(4))
    profile = Profile(model, data.rankings)
    logit = np.log(model.theta_ / (1 - model.theta_))
    value, slope = profile(logit)
    assert np.abs(slope).max() < 1e-6
    for k in range(6):
        for step in (-0.3, 0.3):
            assert profile(logit + step * np.eye(6)[k])[0] > value
    assert_allclose(model.theta_, expit(logit))


def test_an_expert_that_was_not_there_gets_the_mean_adherence():
    model = MPM(theta="learned").fit(crowd(1))
    stranger = from_dicts({"new": {"q": ["a", "b"]}}).rankings
    assert model._theta_of(stranger)[0] == pytest.approx(model.theta_.mean())
    assert MPM().fit(crowd(1))._theta_of(stranger)[0] == 1.0


def test_adherences_from_labels_are_kendalls_tau_in_the_mean_over_queries():
    rng = np.random.default_rng(6)
    labels, runs, told = {}, {"x": {}, "y": {}}, {"x": [], "y": []}
    for q in range(5):
        truth = rng.permutation(7)
        labels[f"q{q}"] = {f"i{i}": int(truth[i]) for i in range(7)}
        for name in runs:
            listed = rng.permutation(7)[: rng.integers(3, 8)]
            runs[name][f"q{q}"] = [f"i{i}" for i in listed]
            told[name].append((1 + kendalltau(-np.arange(len(listed)), truth[listed]).statistic) / 2)
    runs["silent"] = {"q0": ["i0"]}
    model = ThetaMPM(theta="agreement").fit(from_dicts(runs, labels=labels))
    theta = dict(zip(model.experts_, model.theta_, strict=True))
    for name, values in told.items():
        assert theta[name] == pytest.approx(np.mean(values))
    assert theta["silent"] == pytest.approx(np.mean([theta["x"], theta["y"]]))


@pytest.mark.parametrize("theta", ["fitted", "agreement"])
def test_labels_that_order_nothing_are_an_error(theta):
    data = from_dicts({"x": {"q": ["a", "b"]}}, labels={"q": {"a": 1, "b": 1}})
    with pytest.raises(DataError, match="theta-mpm: no query has lists and labels that differ"):
        ThetaMPM(theta=theta).fit(data)


@pytest.mark.parametrize("theta", ["fitted", "agreement"])
def test_experts_that_all_say_the_opposite_of_the_labels_are_warned_of(theta):
    data = from_dicts({"x": {"q": ["a", "b"]}}, labels={"q": {"a": 0, "b": 1}})
    text = {"fitted": "agrees with the labels more than it contradicts", "agreement": "orders a pair of items as"}
    with pytest.warns(DataWarning, match=f"theta-mpm: no expert {text[theta]}.*all adherences are 1") as said:
        model = ThetaMPM(theta=theta).fit(data)
    assert len(said) == 1
    assert model.theta_.tolist() == [1.0]


def test_a_pair_that_agrees_among_more_that_do_not_is_not_denied():
    # The list agrees on a before b, one place apart, and contradicts the labels on all other pairs.
    data = from_dicts({"x": {"q": ["a", "b", "c", "d"]}}, labels={"q": {"d": 3, "c": 2, "a": 1, "b": 0}})
    with pytest.warns(DataWarning, match="no expert agrees with the labels more than it contradicts them") as said:
        model = ThetaMPM().fit(data)
    assert "no pair" not in str(said[0].message)
    assert model.theta_.tolist() == [1.0]
    assert ThetaMPM(theta="agreement").fit(data).theta_.tolist() == [pytest.approx(1 / 6)]  # and no warning


def leads(data, expert):
    """The places between the items of each pair with different labels: above 0 where the expert agrees."""
    total = 0.0
    for q in range(len(data)):
        r, labels = data[q].rankings, data[q].slot_labels
        for m in np.flatnonzero(r.list_expert == r.experts.index(expert)):
            entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
            said = dict(zip(r.entry_slot[entries].tolist(), r.entry_rank[entries].tolist(), strict=True))
            total += sum(said[j] - said[i] for i in said for j in said if labels[i] > labels[j])
    return total


def test_experts_are_said_to_contradict_the_labels_only_where_they_do():
    n_warned = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        runs = {name: {"q": [f"i{i}" for i in rng.permutation(5)]} for name in "xy"}
        data = from_dicts(runs, labels={"q": {f"i{i}": int(label) for i, label in enumerate(rng.permutation(5) // 2)}})
        agrees = max(leads(data, name) for name in "xy") > 0
        if agrees:
            ThetaMPM().fit(data)  # a warning would be an error
        else:
            n_warned += 1
            with pytest.warns(DataWarning, match="more than it contradicts"):
                ThetaMPM().fit(data)
    assert 5 < n_warned < 55


def objective(data, missing, penalty=0.1):
    model = ThetaMPM(missing=missing, penalty=penalty).fit(data)
    queries = LabelledQueries.of(data, "irrelevant").drop_zero_weight_lists()
    r = queries.rankings
    return model, Objective(queries, model.experts_, model._counts(r), model.list_weights(r), penalty)


@pytest.mark.parametrize("missing", ["ignore", "last"])
def test_the_gradient_by_fitted_adherences_agrees_with_differences(missing):
    value = objective(random_dataset(7), missing)[1]
    at = np.array([0.3, 0.5, 1.0, 0.1, 0.7])
    assert_allclose(value(at)[1], approx_fprime(at, lambda x: value(x)[0], 1e-7), atol=1e-5)


@pytest.mark.parametrize("missing", ["ignore", "last"])
def test_fitted_adherences_are_the_minimum_but_for_their_unit(missing):
    model, value = objective(random_dataset(8, n_queries=12), missing)
    unit = minimize(lambda c: value(c[0] * model.theta_)[0], [0.5], method="Nelder-Mead", options={"xatol": 1e-9}).x[0]
    slope = value(unit * model.theta_)[1]
    assert_allclose(slope[model.theta_ > 0], 0, atol=1e-4)
    assert (slope[model.theta_ == 0] > -1e-4).all()
    assert model.theta_.max() == 1.0


def test_with_equal_variances_the_order_is_that_of_the_net_counts_times_adherences():
    data = random_dataset(9, n_queries=20)
    model = ThetaMPM(missing="ignore").fit(data)
    consensus, r = model.predict(data), data.rankings
    for q in range(len(data)):
        theta = model._theta_of(r)[r.list_expert[r.list_ptr[q] : r.list_ptr[q + 1]]]
        c = (count_matrices(data, q) * theta[:, None, None]).sum(0)
        net = (c.sum(1) - c.sum(0)).round(9)
        assert_array_equal(np.argsort(consensus[q].scores.round(8), kind="stable"), np.argsort(net, kind="stable"))


def test_an_expert_that_turns_the_labels_round_is_not_heard_and_one_that_repeats_another_counts_less():
    rng = np.random.default_rng(10)
    labels, runs = {}, {name: {} for name in ("a", "copy", "b", "turned")}
    for q in range(30):
        truth = rng.normal(size=8)
        labels[f"q{q}"] = {f"i{i}": int(truth[i] > 0.5) for i in range(8)}
        seen = {"a": truth + rng.normal(size=8), "b": truth + rng.normal(size=8), "turned": -truth}
        seen["copy"] = seen["a"]
        for name in runs:
            runs[name][f"q{q}"] = [f"i{i}" for i in np.argsort(-seen[name])]
    model = ThetaMPM().fit(from_dicts(runs, labels=labels))
    theta = dict(zip(model.experts_, model.theta_, strict=True))
    assert theta["turned"] == 0.0
    assert theta["copy"] == pytest.approx(theta["a"], rel=1e-3)
    assert theta["a"] < 0.8 * theta["b"]


@pytest.mark.parametrize(("relevant", "policy"), [("abc", "last"), ("abz", "ignore")])
def test_what_is_left_out_is_last_where_labelled_queries_prefer_it(relevant, policy):
    runs = {"x": {"q": ["a", "b", "c", "d"]}, "y": {"q": ["z"]}}
    data = from_dicts(runs, labels={"q": {i: int(i in relevant) for i in "abcdz"}})
    assert ThetaMPM().fit(data).missing_ == policy
    assert ThetaMPM(missing="last").fit(data).missing_ == "last"
    assert ThetaMPM(counts="score").fit(data).missing_ == "ignore"


def test_validation_queries_say_what_is_left_out():
    runs = {"x": {"q": ["a", "b", "c", "d"]}, "y": {"q": ["z"]}}
    prefers_last, prefers_ignore = (
        from_dicts(runs, labels={"q": {i: int(i in relevant) for i in "abcdz"}}) for relevant in ("abc", "abz")
    )
    assert ThetaMPM().fit(prefers_last, valid=prefers_last).missing_ == "last"
    assert ThetaMPM().fit(prefers_last, valid=prefers_ignore).missing_ == "ignore"


@pytest.mark.parametrize("variances", [False, True])
@pytest.mark.parametrize(
    ("orders", "best_first"),
    [
        ([["a", "b"]], "ab"),  # one comparison, undefeated
        ([["a"]], "a"),  # a single item
        ([[("a", "b", "c")]], None),  # all ties
        ([["a", "b"], ["b", "c"], ["c", "a"]], None),  # a cycle
        ([["a", "b"], ["b", "a"]], None),
        ([["a", "b"]] * 50, "ab"),
    ],
)
def test_degenerate_data_gives_finite_scores(orders, best_first, variances):
    consensus = MPM(variances=variances).fit_predict(from_orders(orders))
    assert np.isfinite(consensus.scores).all()
    assert np.abs(consensus.scores).max() < 30
    if best_first is None:
        assert_allclose(consensus.scores, 0, atol=1e-9)
    else:
        assert "".join(consensus.top()["all"]) == best_first


def test_parts_that_nobody_compares_are_each_around_the_middle():
    consensus = MPM().fit_predict(from_orders([["a", "b"], ["c", "d"]])).to_dict()["all"]
    assert consensus["a"] == pytest.approx(consensus["c"])
    assert consensus["b"] == pytest.approx(-consensus["a"])


def test_lists_of_weight_zero_say_nothing():
    data = from_orders([["a", "b", "c"], ["c", "b", "a"]], weights=[1, 0])
    assert_array_equal(MPM().fit_predict(data).scores, MPM().fit_predict(from_orders([["a", "b", "c"]])).scores)
    assert_array_equal(MPM(weights={"1": 0.0}).fit_predict(data).scores, 0)


def test_an_item_with_little_evidence_has_a_larger_variance():
    orders = [["a", "b", "c", "d"], ["b", "a", "d", "c"]] * 10 + [["a", "x", "d"]]
    model = MPM(variances=True).fit(from_orders(orders))
    gamma = dict(zip("abcdx", model.predict_with_variances(from_orders(orders))[1], strict=True))
    assert gamma["x"] == max(gamma.values())


def test_iterations_that_run_out_are_warned_of_and_keep_the_estimate():
    with pytest.warns(ConvergenceWarning, match="queries did not converge after 1 steps"):
        consensus = MPM(max_iter=1).fit_predict(from_orders([["a", "b", "c"], ["b", "c"]]))
    assert consensus.top() == {"all": ["a", "b", "c"]}


def test_candidates_that_nobody_ranks_stand_in_the_middle():
    import polars as pl

    entries = pl.DataFrame({"query": "q", "expert": "e", "item": ["a", "b"], "rank": [1.0, 2.0]})
    data = from_long(entries, candidates=pl.DataFrame({"query": "q", "item": ["a", "b", "z"]}))
    scores = MPM().fit_predict(data).to_dict()["q"]
    assert scores["a"] > scores["z"] == pytest.approx(0, abs=1e-9)


def test_mq2008_gives_the_row_measured_beforehand(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    published = ThetaMPM(theta="agreement", missing="ignore")
    found = juryrank.compare([published], data, ["nDCG@1", "nDCG@5", "AP"], convention="letor")
    assert_allclose(100 * found.means[0], [38.18, 43.54, 44.75], atol=0.01)


def test_on_mq2008_fitted_adherences_are_above_equal_ones_whatever_is_left_out(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    models = {"fitted": ThetaMPM(), "one": MPM(), "last": MPM(missing="last")}
    for baseline in ("one", "last"):
        found = juryrank.compare(models, data, ["AP"], convention="letor", baseline=baseline)
        assert found.mean("fitted", "AP") >= 0.447
        assert found.versus["fitted", "AP"].difference > 0
        assert found.versus["fitted", "AP"].p_random < 0.05


def test_movielens_has_the_published_first_five(shared_data):
    data = juryrank.read(shared_data / "ml-100k" / "u.data")
    assert MPM(counts="score").fit_predict(data).top(5)["all"] == ["50", "174", "127", "98", "64"]


def test_variance_falls_with_the_number_of_ratings():
    n_items = 30
    rng = np.random.default_rng(0)
    worth, seen = rng.normal(size=n_items), np.linspace(0.1, 1, n_items)
    ranks = np.full((200, n_items), np.nan)
    for row in ranks:
        listed = np.flatnonzero(rng.random(n_items) < seen)
        row[listed] = np.argsort(np.argsort(-(worth + rng.normal(size=n_items))[listed])) + 1.0
    data = from_array(ranks)
    gamma = MPM(variances=True).fit(data).predict_with_variances(data)[1]
    assert spearmanr(gamma, data.rankings.slot_lists).statistic < -0.5


def test_adherences_are_learned_from_preference_pairs_too():
    data = from_dicts({"good": {"q": ["a", "b", "c"]}, "poor": {"q": ["c", "b", "a"]}})
    slot = {item: n for n, item in enumerate(data.rankings.items[data.rankings.slot_item].tolist())}
    better, worse = np.array([slot["a"], slot["a"]], np.int32), np.array([slot["b"], slot["c"]], np.int32)
    data = replace(data, pairs=Pairs(pair_ptr=np.array([0, 2]), better=better, worse=worse, weight=np.ones(2)))
    model = ThetaMPM().fit(data)
    assert dict(zip(model.experts_, model.theta_.tolist(), strict=True)) == {"good": 1.0, "poor": 0.0}
