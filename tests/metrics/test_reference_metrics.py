"""Agreement with a reference ranking, against scipy and versions that follow the definitions."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_array, from_dicts
from juryrank.errors import DataError
from juryrank.evaluation.evaluate import evaluate

SMALL = st.integers(1, 4).map(float)


def against(scores, reference, metric):
    """The value of one query with these scores and this reference ranking (ranks; NaN: not in it)."""
    data = from_array(np.arange(1.0, len(scores) + 1)[None])
    truth = Dataset(rankings=data.rankings, reference=np.array(reference, float))
    return evaluate(Consensus(data.rankings, np.array(scores, float)), truth, metric)[metric]


pairs = st.lists(st.tuples(SMALL, SMALL), min_size=2, max_size=12).filter(lambda both: len({r for _, r in both}) > 1)


@settings(deadline=None)
@given(pairs)
def test_tau_b_is_that_of_scipy(both):
    scores, ranks = zip(*both, strict=True)
    assume(len(set(scores)) > 1)
    wanted = scipy.stats.kendalltau(scores, [-r for r in ranks]).statistic
    assert against(scores, ranks, "KendallTau") == pytest.approx(wanted, abs=1e-12)


@settings(deadline=None)
@given(pairs)
def test_tau_a_counts_pairs(both):
    concordance = [np.sign(s - t) * np.sign(q - r) for (s, r), (t, q) in itertools.combinations(both, 2)]
    scores, ranks = zip(*both, strict=True)
    assert against(scores, ranks, "KendallTau(variant='a')") == pytest.approx(np.mean(concordance), abs=1e-12)


@settings(deadline=None)
@given(pairs)
def test_rho_is_that_of_scipy(both):
    scores, ranks = zip(*both, strict=True)
    assume(len(set(scores)) > 1)
    wanted = scipy.stats.spearmanr(scores, [-r for r in ranks]).statistic
    assert against(scores, ranks, "SpearmanRho") == pytest.approx(wanted, abs=1e-12)


@settings(deadline=None)
@given(pairs)
def test_footrule_is_the_sum_of_differences_in_place(both):
    scores, ranks = map(np.array, zip(*both, strict=True))
    places = scipy.stats.rankdata(-scores), scipy.stats.rankdata(ranks)
    wanted = 1 - np.abs(places[0] - places[1]).sum() / (len(both) ** 2 // 2)
    assert against(scores, ranks, "Footrule") == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("order", "value"), [([1, 2, 3, 4, 5], 1.0), ([5, 4, 3, 2, 1], 0.0)])
def test_footrule_goes_from_the_reverse_order_to_the_same_order(order, value):
    assert against([5, 4, 3, 2, 1], order, "Footrule") == value


def test_tau_of_many_items_is_that_of_scipy():
    rng = np.random.default_rng(0)
    scores, ranks = rng.integers(0, 900, 3000), rng.integers(1, 50, 3000)
    wanted = scipy.stats.kendalltau(scores, -ranks).statistic
    assert against(scores, ranks, "KendallTau") == pytest.approx(wanted, abs=1e-12)


def slow_rbo(ours, theirs, p):
    """Equation 32 of Webber et al. for two lists without ties."""
    short, long = sorted([len(ours), len(theirs)])
    x = [len(set(ours[:d]) & set(theirs[:d])) for d in range(long + 1)]
    first = sum(x[d] / d * p**d for d in range(1, long + 1))
    second = sum(x[short] * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1))
    return (1 - p) / p * (first + second) + ((x[long] - x[short]) / long + x[short] / short) * p**long


def orders(groups):
    """Every order of the items in which groups of ties stand one after another."""
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield list(itertools.chain(*parts))


@pytest.mark.filterwarnings("ignore:no ranked item is judged")
@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 6),
    ranks=st.lists(st.sampled_from([1.0, 2.0, 3.0, np.nan]), min_size=6, max_size=6),
    p=st.sampled_from([0.5, 0.9]),
)
def test_rbo_is_the_mean_over_the_orders_of_ties(n, ranks, p):
    known = {item: rank for item, rank in enumerate(ranks) if rank == rank}
    assume(known)
    run = {"q": {str(item): float(-item) for item in range(n)}}
    data = from_array(np.ones((1, 6)), items=[str(item) for item in range(6)])
    truth = Dataset(rankings=data.rankings, reference=np.array(ranks))
    groups = [[i for i in known if known[i] == rank] for rank in sorted(set(known.values()))]
    wanted = np.mean([slow_rbo(list(range(n)), order, p) for order in orders(groups)])
    metric = f"RBO(p={p})"
    found = evaluate({"all": run["q"]}, truth, metric)
    assert next(iter(found.per_query.values()))[0] == pytest.approx(wanted, abs=1e-12)


def test_rbo_of_the_same_order_is_one():
    assert against([4, 3, 2, 1], [1, 2, 3, 4], "RBO") == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("metric", ["KendallTau", "KendallTau(variant='a')", "SpearmanRho"])
def test_a_consensus_that_is_one_tie_agrees_with_nothing(metric):
    assert against([1, 1, 1], [1, 2, 3], metric) == 0.0


@pytest.mark.parametrize("metric", ["KendallTau", "KendallTau(variant='a')", "SpearmanRho", "Footrule", "RBO"])
@pytest.mark.filterwarnings("ignore:e ranks nothing")
def test_a_query_that_is_not_ranked_agrees_with_nothing(metric):
    data = from_dicts({"e": {"a": ["x", "y"]}}, labels={"a": {"x": 1, "y": 0}, "b": {"x": 1, "y": 0}})
    assert evaluate(data, data, metric).per_query["e"][metric].tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("metric", ["KendallTau", "KendallTau(variant='a')", "SpearmanRho", "Footrule"])
def test_a_reference_that_tells_nothing_apart_is_left_out_with_a_warning(metric):
    labels = {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 0}}
    run = {"a": {"x": 2.0, "y": 1.0}, "b": {"x": 2.0, "y": 1.0}}
    with pytest.warns(match="is not defined for 1 of 2 queries; left out of the mean"):
        found = evaluate(run, labels, metric)
    assert np.isnan(found.per_query[metric]).tolist() == [True, False]
    assert found[metric] == 1.0


def test_labels_are_a_ranking_with_ties_where_there_is_no_reference():
    scores, labels = [3.0, 1.0, 2.0, 0.0], [2, 0, 1, 1]
    items = ["a", "b", "c", "d"]
    found = evaluate({"q": dict(zip(items, scores, strict=True))}, {"q": dict(zip(items, labels, strict=True))}, "tau")
    assert found["tau"] == pytest.approx(scipy.stats.kendalltau(scores, labels).statistic)


def test_items_that_the_reference_does_not_rank_do_not_count():
    assert against([3, 9, 2, 1], [1, np.nan, 2, 3], "KendallTau") == 1.0


def test_a_metric_of_labels_says_that_it_needs_labels():
    with pytest.raises(DataError, match="nDCG@10 needs labels"):
        against([2, 1], [1, 2], "nDCG@10")
