"""The printed algorithm of rank aggregation with item features, and the lists and features that its study takes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.errors import JuryrankWarning
from studies.papers.experiment import Context
from studies.papers.item_features import draw, from_matrix, letor, letor_of_paper, ohsumed, synthetic
from studies.papers.retargeting_as_printed import Printed, aggregate
from studies.papers.retargeting_recovery import MODELS, poor_lists


def borda(drawn):
    return jr.method("borda").fit_predict(from_matrix(drawn.lists, drawn.truth)).scores


@pytest.mark.parametrize("seed", range(3))
def test_the_algorithm_as_printed_takes_the_same_steps_as_the_library(seed):
    drawn = draw(seed)
    path, _, _ = aggregate(drawn.lists, drawn.features, borda(drawn), Printed(sub_steps=1, steps=10))
    params = {**MODELS["gaussian"], "moves": "ties", "max_iter": 10}
    with pytest.warns(JuryrankWarning):
        history = jr.method("monotone-retargeting", **params).fit(synthetic(seed)).learned()["history_"]
    for place, side in enumerate(("lists", "features")):
        tau = [kendalltau(both[place], drawn.truth).statistic for both in path.predictors]
        assert_allclose(tau, history[f"tau of {side}"], atol=1e-3)


@pytest.mark.parametrize("scale", ["variance", "margin", "none"])
@pytest.mark.parametrize("poisson", [False, True])
def test_both_sides_end_in_one_order(scale, poisson):
    drawn = draw(0, "poisson" if poisson else "gaussian", n_items=30, n_features=3)
    how = Printed(poisson=poisson, scale=scale, steps=3, sub_steps=5)
    _, lists, features = aggregate(drawn.lists, drawn.features, borda(drawn), how)
    r, z = lists.scores, features.scores
    above = r[:, None] > r[None, :] + 1e-7
    assert (z[:, None] - z[None, :])[above].min(initial=0) >= -1e-7
    if scale == "margin":
        for scores in (r, z):
            assert np.ptp(np.exp(scores) if poisson else scores) >= 1 - 1e-9


def test_the_true_order_is_a_point_that_no_printed_step_leaves():
    drawn = draw(1)
    path, _, _ = aggregate(drawn.lists, drawn.features, drawn.truth, Printed())
    for order in (*sum(path.retargeted, ()), *path.predictors[-1]):
        assert kendalltau(order, drawn.truth).statistic == pytest.approx(1.0)


def test_draws_differ_only_in_what_is_varied():
    usual, quiet = draw(3), draw(3, noise=0.1, poor=0, times=2)
    assert_array_equal(usual.features, quiet.features)
    assert_array_equal(usual.truth, quiet.truth)
    assert [usual.lists.shape, quiet.lists.shape] == [(200, 10), (200, 14)]
    for one, other in zip(usual.lists[:, 2:7].T, quiet.lists[:, 2:7].T, strict=True):
        assert_allclose(other - usual.truth, 0.1 * (one - usual.truth), atol=1e-9)


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")  # the study stops after 25 steps
def test_poor_lists_lose_their_weight_with_a_penalty(tmp_path):
    findings = poor_lists(Context(tmp_path, tmp_path, quick=True))
    rows = {(row[0], row[1]): row for row in findings.tables[0].rows}
    assert rows["ours", "0.01"][5] == "0.0"
    assert float(rows["ours", "0.01"][2]) > 0


def test_the_retrieval_scores_of_ohsumed_are_lists_and_no_features(shared_data):
    data = ohsumed(shared_data)
    assert (len(data.rankings.experts), data.features.shape[1]) == (15, 30)
    assert not set(data.rankings.experts) & set(data.feature_names)


def test_retrieval_scores_and_pagerank_move_from_the_features_to_the_lists(shared_data):
    data, whole = letor_of_paper(shared_data, "MQ2008"), letor(shared_data, "MQ2008")
    assert (len(data.rankings.experts), data.features.shape[1]) == (25 + 21, 46 - 21)
    column = whole.feature_names.index("41")
    r, expert = data.rankings, data.rankings.experts.index("feature 41")
    (m,) = np.flatnonzero((r.list_query == 5) & (r.list_expert == expert))
    entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
    score = whole.features[r.entry_slot[entries], column]
    assert len(score) == r.query_size[5]
    assert (np.diff(score[np.argsort(r.entry_rank[entries], kind="stable")]) <= 0).all()
