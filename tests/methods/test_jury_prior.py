"""The priors of jury: the shares of experts, lists with gaps, and sums over queries that stay exact."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from plain_jury import gram, queries_of

from conftest import held_out_unjudged, random_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import ParameterError
from juryrank.evaluation.evaluate import evaluate
from juryrank.learning.curves import filled_ranks, mean_fill
from juryrank.learning.normal_equations import NormalEquations
from juryrank.methods import method
from juryrank.methods.learned.jury_prior import RRFPriorSolver, expert_shares
from juryrank.models import from_json, to_json

priors = pytest.mark.parametrize("prior", ["correlation", "auto"])


def test_shares_follow_the_correlation_of_each_expert_with_the_labels():
    data = random_dataset(1, n_queries=7)
    n = len(data)
    total = sum(gram(*query) for query in queries_of(data))
    K = len(data.experts)
    columns = np.append(np.arange(5 * K).reshape(5, K).T.ravel(), 5 * K)  # expert by expert, as the kernel has them
    equations = NormalEquations(total[np.ix_(columns, columns)][None], np.array([float(n)]), np.ones((1, K)))
    curve, labels, weight = [], [], []
    for features, gain, omega in queries_of(data):
        if gain.max() == gain.min():
            continue
        w = omega / np.sqrt((omega * (gain - np.average(gain, weights=omega)) ** 2).sum())
        curve.append(features[:, 0] - np.average(features[:, 0], weights=omega, axis=0))
        labels.append(gain - np.average(gain, weights=omega))
        weight.append(w)
    curve, labels, weight = (np.concatenate(x) for x in (curve, labels, weight))
    c = [(weight * curve[:, k] * labels).sum() for k in range(K)]
    c /= np.sqrt((weight[:, None] * curve**2).sum(axis=0) * (weight * labels**2).sum())
    expected = np.exp(8 * n / (n + 10) * (c - np.mean(c)))
    assert_allclose(expert_shares(equations, np.array([float(n)]), 8.0)[0], expected / expected.sum())
    assert_allclose(expert_shares(equations, np.array([float(n)]), 0.0)[0], 1 / K)
    assert_allclose(expert_shares(equations, np.array([1e-9]), 8.0)[0], 1 / K)  # equal as n goes to 0


def test_endless_penalties_give_the_prior_alone():
    data = random_dataset(2, n_queries=8)
    model = method("jury", prior="correlation", shrink=1e9, anchor=1e9, unjudged="irrelevant").fit(data)
    total = sum(gram(*query) for query in queries_of(data))
    K, n = len(data.experts), len(data)
    A, b, yy = total[:-1, :-1].diagonal()[:K], total[:K, -1], total[-1, -1]
    c = b / np.sqrt(A * yy)
    shares = np.exp(8 * n / (n + 10) * (c - c.mean()))
    here = [model.own_.index(name) for name in data.experts]
    for curve in (0, 3):
        assert_allclose(model.curves_[here, curve] / model.curves_[:, curve].sum(), shares / shares.sum(), rtol=1e-6)
        block = slice(curve * K, (curve + 1) * K)
        spread = total[block, block].sum() / K**2 / n
        assert model.curves_[:, curve].sum() == pytest.approx(0.5 * 0.3 * np.sqrt(yy / n / spread), rel=1e-6)
    assert_allclose(model.curves_[:, 1:3], 0.0, atol=1e-5)


def test_an_expert_that_agrees_with_one_labelled_query_leads_only_with_the_leaning_prior():
    lists = {"good": {"q": list("abcdef")}, "other": {"q": list("fdbeca")}, "third": {"q": list("cfeabd")}}
    data = from_dicts(lists, labels={"q": {"a": 2, "b": 2, "c": 1, "d": 0, "e": 0, "f": 0}})
    lead = {}
    for prior in ("equal", "correlation"):
        curves = method("jury", prior=prior).fit(data).formula()
        at_top = [curves.of(name, np.array([1.0]))[0] for name in ("good", "other", "third")]
        lead[prior] = at_top[0] / np.mean(at_top)
    assert lead["correlation"] > lead["equal"] > 1.0


@priors
@pytest.mark.parametrize("n_queries", [2, 5, 6, 9])
@pytest.mark.parametrize("experts", ["individual", "shared", "hybrid"])
def test_leaving_a_query_out_is_fitting_without_it(prior, n_queries, experts):
    data = random_dataset(3, n_queries=n_queries, ties=False)
    options = {"prior": prior, "experts": experts, "threshold": 1}
    model = method("jury", **options).fit(data)
    assert model.curves_[:, 3].any() or not len(model.own_)
    gains = []
    for q in range(n_queries):
        refitted = method("jury", **options).fit(data[np.array([p for p in range(n_queries) if p != q])])
        pair = (refitted, method("rrf").fit(data))
        fused = [m.predict(data[q], warn_unknown=False) for m in pair]
        own, rrf = (evaluate(f, data[q], "nDCG@10", unjudged=held_out_unjudged(model))["nDCG@10"] for f in fused)
        gains.append(own - rrf)
    count, mean, _ = model.gain_over_rrf()
    assert count == n_queries
    assert mean == pytest.approx(np.mean(gains), abs=1e-12)


@priors
@pytest.mark.parametrize("experts", ["individual", "shared", "hybrid"])
def test_parts_merge_and_add_up_exactly(prior, experts):
    data = random_dataset(4, n_queries=12, ties=False)
    options = {"prior": prior, "experts": experts, "threshold": 1}
    fitted = method("jury", **options).fit(data)
    one, two = (method("jury", **options).fit(data[some]) for some in (slice(0, 5), slice(5, 12)))
    stepped = method("jury", **options)
    for first in (0, 4, 8):
        stepped.partial_fit(data[slice(first, first + 4)])
    for model in (one.merge(two), two.merge(one), stepped):
        assert_allclose(model.predict(data).scores, fitted.predict(data).scores, rtol=1e-7, atol=1e-10)
        assert_allclose(model.stranger_, fitted.stranger_, rtol=1e-7, atol=1e-10)


def test_the_share_of_filled_ranks_is_that_of_each_list():
    data = from_dicts({"a": {"q": ["x", "y"], "p": ["x"]}, "b": {"q": ["z"]}})
    assert_array_equal(filled_ranks(data.rankings), np.ones((3, 2)))
    rankings = random_dataset(5).rankings
    found = filled_ranks(rankings)
    for m in range(rankings.n_lists):
        ranks = rankings.entry_rank[rankings.entry_ptr[m] : rankings.entry_ptr[m + 1]]
        assert found[m, 0] == min(1.0, len(ranks) / max(ranks))
    assert mean_fill(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [0.75, 1.0]


@pytest.mark.parametrize(("ties", "chosen"), [(True, "equal"), (False, "correlation")])
def test_auto_leans_unless_the_lists_have_gaps(ties, chosen):
    data = random_dataset(6, ties=ties)
    filled = filled_ranks(data.rankings)
    assert (mean_fill(filled.sum(axis=0)[None])[0] < 0.5) == ties
    found, expected = (method("jury", prior=prior).fit(data) for prior in ("auto", chosen))
    assert_allclose(found.predict(data).scores, expected.predict(data).scores, rtol=1e-12)
    n = expected.curves_.shape[1]
    assert_allclose(found.curves_[:, :n], expected.curves_, rtol=1e-9, atol=1e-12)
    assert not found.curves_[:, n:].any()


def gappy(data, queries):
    """The data, with every rank of these queries ten times as large."""
    from dataclasses import replace

    r = data.rankings
    far = np.isin(np.repeat(r.list_query, r.list_size), queries)
    return replace(data, rankings=replace(r, entry_rank=np.where(far, 10 * r.entry_rank, r.entry_rank)))


def test_auto_decides_from_the_queries_that_it_learns_from_also_when_one_is_held_out():
    data = gappy(random_dataset(7, n_queries=6, ties=False), [0, 1, 2])
    filled = filled_ranks(data.rankings)
    share = [mean_fill(filled[data.rankings.list_query != q].sum(axis=0)[None])[0] for q in range(6)]
    assert min(share) < 0.5 < max(share)  # leaving out a query changes the choice
    model = method("jury").fit(data)
    gains = []
    for q in range(6):
        pair = (method("jury").fit(data[np.array([p for p in range(6) if p != q])]), method("rrf").fit(data))
        unjudged = held_out_unjudged(model)
        own, rrf = (evaluate(m.predict(data[q]), data[q], "nDCG@10", unjudged=unjudged)["nDCG@10"] for m in pair)
        gains.append(own - rrf)
    assert model.gain_over_rrf()[1] == pytest.approx(np.mean(gains), abs=1e-12)


def test_auto_decides_anew_when_models_are_merged():
    data = gappy(random_dataset(8, n_queries=8, ties=False), [0, 1, 2])
    gaps, whole = (method("jury").fit(data[part]) for part in (slice(0, 3), slice(3, 8)))
    assert not gaps.curves_[:, 3].any()
    assert whole.curves_[:, 3].any()
    fitted = method("jury").fit(data)
    for merged in (gaps.merge(whole), whole.merge(gaps), method("jury").fit(data[:3]).partial_fit(data[3:])):
        assert_allclose(merged.curves_, fitted.curves_, rtol=1e-7, atol=1e-12)


@priors
def test_the_order_of_experts_does_not_matter(prior):
    rng = np.random.default_rng(9)
    runs = {f"e{k}": {f"q{q}": [f"i{i}" for i in rng.permutation(8)[:6]] for q in range(5)} for k in range(4)}
    labels = {f"q{q}": {f"i{i}": int(rng.integers(0, 3)) for i in range(8)} for q in range(5)}
    one = method("jury", prior=prior).fit(from_dicts(runs, labels=labels))
    other = method("jury", prior=prior).fit(from_dicts(dict(reversed(runs.items())), labels=labels))
    weights = other.expert_weights()
    for name, row in one.expert_weights().items():
        assert_allclose(list(row.values()), list(weights[name].values()), rtol=1e-7, atol=1e-12)


@priors
@pytest.mark.parametrize("n_queries", [1, 6])
def test_one_expert_keeps_its_order(prior, n_queries):
    queries = [f"q{n}" for n in range(n_queries)]
    data = from_dicts({"only": {q: list("abcde") for q in queries}}, labels={q: {"a": 2, "c": 1} for q in queries})
    model = method("jury", prior=prior).fit(data)
    points = model.formula().of("only", np.arange(1.0, 200.0))
    assert (np.diff(points) < 0).all()


@priors
def test_an_expert_whose_curve_is_constant_is_no_better_than_one_that_agrees_with_the_labels(prior):
    queries = [f"q{n}" for n in range(3)]
    runs = {"good": {q: list("abc") for q in queries}, "flat": {q: {"a": 1.0, "b": 1.0, "c": 1.0} for q in queries}}
    data = from_dicts(runs, labels={q: {"a": 2, "b": 1, "c": 0} for q in queries})
    model = method("jury", prior=prior).fit(data)
    assert np.isfinite(model.curves_).all()
    good, flat = (model.formula().of(name, np.array([1.0, 3.0])) for name in ("good", "flat"))
    assert good[0] - good[1] > flat[0] - flat[1] > 0


def test_experts_that_share_a_column_have_equal_shares():
    copies = np.array([[1.0, 1.0, 3.0]])
    rng = np.random.default_rng(10)
    rows = rng.normal(size=(40, 13))
    equations = NormalEquations((rows.T @ rows)[None], np.array([5.0]), copies)
    shares = expert_shares(equations, np.array([5.0]), 8.0)
    assert (copies * shares).sum() == pytest.approx(1.0)
    assert shares[0, 2] == pytest.approx(np.sqrt(shares[0, 0] * shares[0, 1]))  # the mean correlation


def test_a_model_of_an_earlier_version_has_the_equal_prior():
    data = random_dataset(11, n_queries=8, ties=False)
    content = json.loads(to_json(method("jury", prior="equal").fit(data[:4])))
    del content["params"]["prior"], content["learned"]["dict"]["fill_"]
    old = from_json(json.dumps(content))
    assert old.prior == "equal"
    assert_array_equal(old.predict(data).scores, method("jury", prior="equal").fit(data[:4]).predict(data).scores)
    whole = method("jury", prior="equal").fit(data)
    assert_allclose(old.partial_fit(data[4:]).curves_, whole.curves_, rtol=1e-7, atol=1e-12)


def test_parameters_that_change_after_the_fit_do_not_change_predictions_and_are_refused_for_more_queries():
    data = random_dataset(12, ties=False)
    model = method("jury").fit(data)
    before = model.predict(data).scores
    model.set_params(prior="equal")
    assert_array_equal(model.predict(data).scores, before)
    with pytest.raises(ParameterError, match="have changed"):
        model.partial_fit(data)


def test_lists_that_fill_half_of_their_ranks_count_as_whole_lists():
    solver = RRFPriorSolver(shrink=20.0, anchor=5.0, prior="auto")
    assert solver.leans(np.array([0.49, 0.5, 1.0])).tolist() == [False, True, True]
