"""Lists and features brought to agree: the objective only falls, and the truth is found where there is one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kendalltau

from conftest import random_dataset
from juryrank.learning.per_query import standardise
from juryrank.methods import method
from juryrank.methods.features.alternation import Alternation
from juryrank.methods.features.glm import LOSSES, Linear, Penalty
from juryrank.methods.features.list_columns import VALUES, list_columns
from juryrank.methods.features.margins import Pairs
from juryrank.methods.features.monotone_targets import Scale
from studies.papers.item_features import synthetic


def alternation(data, loss: str = "squared", **how) -> Alternation:
    ptr, penalty = data.rankings.slot_ptr, how.pop("penalty", Penalty(0.0, 0.01))
    return Alternation(
        lists=Linear(ptr, list_columns(data.rankings, data.experts, "share", "last"), LOSSES[loss], penalty),
        features=Linear(ptr, standardise(ptr, data.features), LOSSES[loss], penalty),
        **{"scale": Scale(), "max_iter": 20, "tol": 1e-12, **how},
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("moves", ["free", "ties"])
@pytest.mark.parametrize("margin", [None, 0.5])
@pytest.mark.parametrize("inner", [1, 3])
def test_the_objective_never_increases(loss, moves, margin, inner):
    for seed, penalty in enumerate((Penalty(0.0, 0.01), Penalty(0.02, 0.01))):
        data = random_dataset(seed, n_queries=4, n_items=8)
        start = method("borda").fit_predict(data).scores
        run = alternation(data, loss, moves=moves, scale=Scale(margin), inner=inner, penalty=penalty)
        objective = np.array(run.run(start).history["objective"])
        assert (np.diff(objective) <= 1e-9 * objective[:-1]).all()


def test_both_sides_end_in_one_order():
    data = random_dataset(1, n_queries=4, n_items=9)
    found = alternation(data).run(method("borda").fit_predict(data).scores).state
    for a, b in zip(data.rankings.slot_ptr[:-1], data.rankings.slot_ptr[1:], strict=True):
        r, z = found.r[a:b], found.z[a:b]
        above = r[:, None] > r[None, :] + 1e-9
        assert (z[:, None] - z[None, :])[above].min(initial=0) >= -1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_behind_normal_lists_is_found_exactly(seed):
    data = synthetic(seed)
    small = {"list_l2": 1e-9, "feature_l2": 1e-9, "max_iter": 25, "tol": 1e-4, "start": "borda"}
    for side in ("lists", "features"):
        scores = method("monotone-retargeting", output=side, **small).fit_predict(data).scores
        assert kendalltau(scores, data.slot_labels).statistic == pytest.approx(1.0)
    for name in ("borda", "combmnz", "mc4"):
        assert kendalltau(method(name).fit_predict(data).scores, data.slot_labels).statistic < 0.99


def test_the_truth_behind_counts_is_nearly_found_by_their_loss():
    data = synthetic(0, "poisson")
    params = {"loss": "poisson", "values": "share", "feature_l2": 1e-6, "list_l2": 1e-6, "tol": 1e-4}
    scores = method("monotone-retargeting", output="features", **params).fit_predict(data).scores
    assert kendalltau(scores, data.slot_labels).statistic > 0.99


def test_an_l1_penalty_drops_the_lists_of_noise():
    data = synthetic(1)
    model = method("monotone-retargeting", list_l1=0.1).fit(data)
    assert set(model.dropped()) >= {"8", "9", "10"}
    assert not {"1", "2"} <= set(model.dropped())


def test_a_pair_is_obeyed_though_the_start_denies_it():
    data = random_dataset(2, n_queries=1, n_items=9)
    start = method("borda").fit_predict(data).scores
    best, worst = int(start.argmax()), int(start.argmin())
    pairs = Pairs(np.array([worst]), np.array([best]))
    found = alternation(data, scale=Scale(0.5, pairs), max_iter=100).run(start).state
    for scores in (found.r, found.z):
        assert scores[worst] - scores[best] >= 0.5 - 1e-6


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("missing", ["ignore", "last", "mean"])
def test_columns_of_lists_are_those_of_a_slow_loop(values, missing):
    data = random_dataset(5)
    r = data.rankings
    ours = list_columns(r, data.experts, values, missing)
    for m in range(r.n_lists):
        q, k = r.list_query[m], r.list_expert[m]
        entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        n, size = int(r.query_size[q]), int(r.list_size[m])
        place = np.full(n, np.nan)
        place[r.entry_slot[entries] - r.slot_ptr[q]] = r.entry_place[entries]
        place_of_rest = {"last": n, "mean": (size + 1 + n) / 2, "ignore": np.nan}[missing]
        value = worth(np.where(np.isnan(place), place_of_rest, place), n, values)
        value = np.where(np.isnan(value), np.nanmean(value), value)
        spread = value.std()
        wanted = (value - value.mean()) / spread if spread > 1e-12 else np.zeros(n)
        assert_allclose(ours[r.slot_ptr[q] : r.slot_ptr[q + 1], k], wanted, atol=1e-9)


def worth(place: np.ndarray, n: int, values: str) -> np.ndarray:
    from scipy.stats import norm

    share = 1 - (place - 0.5) / n
    return {"log": -np.log(place), "normal": norm.ppf(share)}.get(values, share)
