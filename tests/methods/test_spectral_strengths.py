"""HodgeRank, SVP and Rank Centrality against dense linear algebra and what their definitions imply."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from test_strengths import battles, dense_counts

from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import ConvergenceWarning
from juryrank.methods import SVP, BradleyTerry, HodgeRank, RankCentrality

FLOWS = ["order", "difference", "rank", "log-rank", "score"]


def stated(data, q, flow, *, last=False):
    """Every (weight, i, j, what the list says of i over j) of one query."""
    r = data.rankings
    lo, n = r.slot_ptr[q], int(r.query_size[q])
    for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
        entries = range(r.entry_ptr[m], r.entry_ptr[m + 1])
        rank = {r.entry_slot[e] - lo: r.entry_rank[e] for e in entries}
        listed = list(rank)
        absent = [i for i in range(n) if i not in rank] if last else []
        worst = max(rank.values()) + bool(absent)
        rank.update(dict.fromkeys(absent, worst))
        for i in listed:
            for j in [*listed, *absent]:
                if j == i or (j in listed and j < i):
                    continue
                lead = rank[j] - rank[i]
                if flow == "order":
                    lead = 1.0 if j in absent else np.sign(lead)
                elif flow == "rank":
                    lead /= worst
                elif flow == "log-rank":
                    lead = (np.log(rank[j]) - np.log(rank[i])) / np.log(worst) if worst > 1 else 0.0
                yield r.list_weight[m], i, j, lead


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("last", [False, True])
def test_hodge_rank_solves_the_dense_least_squares(flow, last):
    data = random_dataset(3)
    out = HodgeRank(flow=flow, prior=0.2, missing="last" if last else "ignore").fit_predict(data).scores
    for q in range(len(data)):
        lo, hi = data.rankings.slot_ptr[q : q + 2]
        rows, right = [], []
        for weight, i, j, lead in stated(data, q, flow, last=last):
            row = np.zeros(hi - lo)
            row[i], row[j] = 1, -1
            rows.append(np.sqrt(weight) * row)
            right.append(np.sqrt(weight) * lead)
        ridge = np.sqrt(0.2) * np.eye(hi - lo)
        matrix = np.vstack([*rows, ridge])
        assert_allclose(out[lo:hi], np.linalg.lstsq(matrix, np.append(right, np.zeros(hi - lo)))[0], atol=1e-8)


def test_hodge_rank_by_score_recovers_the_scores():
    score = {"a": 2.0, "b": -1.0, "c": 0.5}
    data = from_dicts({"x": {"q": score}, "y": {"q": {"a": 3.0, "c": 1.5}}})
    out = HodgeRank(flow="score", prior=1e-9).fit_predict(data).to_dict()["q"]
    mean = sum(score.values()) / 3
    assert out == pytest.approx({item: value - mean for item, value in score.items()}, abs=1e-6)


def preferences(data, q, flow):
    n = int(data.rankings.query_size[q])
    total, count = np.zeros((n, n)), np.zeros((n, n))
    for weight, i, j, lead in stated(data, q, flow):
        total[i, j] += weight * lead
        total[j, i] -= weight * lead
        count[i, j] += weight
        count[j, i] += weight
    return total / np.maximum(count, 1e-300), count > 0


@pytest.mark.parametrize("flow", ["order", "difference"])
def test_svp_is_the_rank_two_part_of_the_dense_matrix(flow):
    data = random_dataset(5, n_items=7)
    out = SVP(flow=flow, tol=1e-10).fit_predict(data).scores
    for q in range(len(data)):
        lo, hi = data.rankings.slot_ptr[q : q + 2]
        matrix, _ = preferences(data, q, flow)
        u, s, v = np.linalg.svd(matrix)
        assert s[1] - s[2] > 1e-3, "a test of a unique answer"
        assert_allclose(out[lo:hi], ((u[:, :2] * s[:2]) @ v[:2]).mean(1), atol=1e-6)


def test_svp_completes_a_matrix_of_rank_two():
    """Differences of strengths, known for some pairs only: the completed matrix has them all."""
    strength = {"a": 3.0, "b": 1.0, "c": 0.0, "d": -1.5, "e": -2.5}
    lists = [("a", "b", "c"), ("c", "d", "e"), ("a", "d"), ("b", "e")]
    data = from_dicts({str(n): {"q": {i: strength[i] for i in items}} for n, items in enumerate(lists)})
    out = SVP(flow="score", unknown=0.0, tol=1e-12, max_iter=100_000).fit_predict(data).to_dict()["q"]
    assert out == pytest.approx(strength, abs=1e-5)


@pytest.mark.parametrize("unknown", [1.0, 0.5])
def test_no_small_change_of_the_factors_of_svp_comes_nearer(unknown):
    data = random_dataset(6, n_queries=1, n_items=8)
    matrix, known = preferences(data, 0, "order")
    out = SVP(flow="order", unknown=unknown, tol=1e-10, max_iter=100_000).fit_predict(data).scores
    weight = np.where(known, 1.0, unknown) * (1 - np.eye(len(matrix)))
    x = np.zeros_like(matrix)
    for _ in range(20_000):
        u, s, v = np.linalg.svd(x + weight * (matrix - x))
        x = (u[:, :2] * s[:2]) @ v[:2]
        x = (x - x.T) / 2
    assert_allclose(out, x.mean(1), atol=1e-6)


def test_rank_centrality_balances_the_flow_of_every_item():
    data = random_dataset(7)
    out = RankCentrality(games=0.3).fit_predict(data).scores
    for q in range(len(data)):
        lo, hi = data.rankings.slot_ptr[q : q + 2]
        won, tied = dense_counts(data, q)
        won = won + tied / 2
        met = won + won.T
        rate = np.where(met > 0, (won.T + 0.3) / (met + 0.6), 0.0)  # from i to j: what j won
        mass = np.exp(out[lo:hi])
        assert_allclose(mass @ rate, mass * rate.sum(1), atol=1e-8)
        assert mass.mean() == pytest.approx(1)


def test_rank_centrality_is_in_detailed_balance_where_bradley_terry_holds():
    strength = np.array([1.0, 0.3, 0.0, -0.4, -0.9])
    rows = [
        (f"i{i}", f"i{j}", False, 1e6 * expit(strength[i] - strength[j])) for i in range(5) for j in range(5) if i != j
    ]
    for out in (RankCentrality().fit_predict(battles(rows)).scores, BradleyTerry().fit_predict(battles(rows)).scores):
        assert_allclose(out - out.mean(), strength - strength.mean(), atol=1e-5)


@pytest.mark.parametrize("method", [HodgeRank, SVP, RankCentrality])
def test_too_few_steps_warn_and_keep_the_estimate(method):
    data = from_orders([["a", "b", "c", "d"], ["b", "a", "e"], ["e", "c"], ["d", "e", "a"]])
    with pytest.warns(ConvergenceWarning, match="1 of 1 queries did not converge after 1 steps"):
        early = method(max_iter=1, tol=1e-12).fit_predict(data).scores
    assert np.isfinite(early).all()
    assert np.ptp(early) > 0


def test_hodge_rank_without_disagreement_keeps_the_order_over_many_lists():
    data = from_orders([["a", "b"], ["b", "c"], ["c", "d"], ["a", "d"]])
    assert HodgeRank().fit_predict(data).top()["all"] == list("abcd")
