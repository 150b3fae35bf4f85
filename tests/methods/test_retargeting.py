"""The ranker from labels and item features: margins, optimality, real data."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import juryrank
from conftest import random_dataset
from juryrank.errors import ConvergenceWarning, DataError
from juryrank.learning.per_query import standardise
from juryrank.methods import method
from juryrank.methods.features.monotone_targets import label_levels, pool


def test_features_are_needed(dataset):
    with pytest.raises(DataError, match="retargeting needs item features"):
        method("retargeting").fit(replace(dataset, features=None))


@pytest.mark.parametrize("loss", ["squared", "kl", "poisson"])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_the_objective_never_increases(loss, margin):
    for seed in range(3):
        history = method("retargeting", loss=loss, margin=margin).fit(random_dataset(seed)).history_["objective"]
        assert (np.diff(history) <= 1e-9).all()


def test_with_a_margin_the_coefficients_are_the_optimum_that_a_general_solver_finds():
    data = random_dataset(1, n_queries=8)
    model = method("retargeting", l2=0.05, tol=1e-12, max_iter=20_000).fit(data)
    label = data.slot_labels
    known = np.flatnonzero(~np.isnan(label))
    sizes = np.bincount(np.repeat(np.arange(len(data)), data.rankings.query_size)[known], minlength=len(data))
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    x, level = standardise(data.rankings.slot_ptr, data.features)[known], label_levels(ptr, label[known])

    def objective(w):
        f = x @ w - level
        order = np.lexsort((-(x @ w), -level, np.repeat(np.arange(len(data)), sizes)))
        apart = pool(ptr, f, order) - f
        return 0.5 * (apart**2).sum() / len(x) + 0.025 * (w**2).sum()

    best = minimize(objective, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    assert model.history_["objective"][-1] == pytest.approx(best.fun, rel=1e-6)
    assert_allclose(model.feature_weights_, best.x, atol=1e-4)


def test_labels_that_one_feature_gives_are_learned_without_mistake():
    data = random_dataset(3)
    noisy = data.features.copy()
    noisy[:, 1] = np.nan_to_num(data.slot_labels) + 0.01 * noisy[:, 1]
    model = method("retargeting").fit(replace(data, features=noisy))
    assert model.score(replace(data, features=noisy)) > 0.999
    assert np.abs(model.feature_weights_).argmax() == 1


def test_an_unsettled_fit_warns(dataset):
    with pytest.warns(ConvergenceWarning, match="did not converge after 2 steps"):
        method("retargeting", max_iter=2, tol=1e-12).fit(dataset)


def test_on_real_folds_it_ranks_better_than_every_list_does(shared_data):
    files = sorted((shared_data / "MQ2008").glob("S*.txt.gz"))
    data = juryrank.read(shared_data / "MQ2008-agg", features=files)
    found = juryrank.compare(["retargeting", "rrf"], data, ["nDCG@10"])
    assert found.mean("retargeting", "nDCG@10") > found.mean("rrf", "nDCG@10") + 0.003
