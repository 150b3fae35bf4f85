"""The posterior of the weights of jury, and the choice of items by it."""

import numpy as np
import pytest

from juryrank.data.build import from_dicts
from juryrank.methods.learned.jury import Jury
from juryrank.methods.learned.jury_prior import RRFPriorSolver
from juryrank.tasks.judge.plan_posterior import Posterior, most_uncertain


def test_the_choice_by_rank_one_updates_is_that_of_inverting_the_precision_anew() -> None:
    rng = np.random.default_rng(0)
    features, root = rng.normal(size=(12, 5)), rng.normal(size=(5, 5))
    precision = root @ root.T + np.eye(5)
    chosen = []
    for _ in range(12):
        variance = np.einsum("ij,jk,ik->i", features, np.linalg.inv(precision), features)
        variance[chosen] = -1.0
        chosen.append(int(np.argmax(variance)))
        precision = precision + np.outer(features[chosen[-1]], features[chosen[-1]])
    assert list(most_uncertain(features, np.linalg.inv(root @ root.T + np.eye(5)))) == chosen


def test_equal_items_are_all_proposed_and_nothing_of_nothing() -> None:
    assert list(most_uncertain(np.zeros((3, 2)), np.eye(2))) == [0, 1, 2]
    assert list(most_uncertain(np.empty((0, 2)), np.eye(2))) == []


def test_the_covariance_is_the_derivative_of_the_weights_by_the_right_side() -> None:
    """Weights are C (b + pull), so a change d of b changes them by C d, as long as the prior stays as it is."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 3 * 3 + 1))
    z[:, -1] += 3 * z[:, :9:3].sum(axis=1) + z[:, 1:9:3].sum(axis=1)
    gram, solver = (z.T @ z)[None], RRFPriorSolver(20.0, 5.0, "equal")
    state = np.array([30.0]), np.ones((1, 3)), np.ones(1)
    change = np.zeros_like(gram)
    step = rng.normal(size=9) * 1e-3
    change[0, :-1, -1] = change[0, -1, :-1] = step
    moved = solver(gram + change, *state) - solver(gram, *state)
    covariance = solver.covariance(gram, *state)[0]
    np.testing.assert_allclose(covariance @ step, moved.ravel(), rtol=1e-6, atol=1e-15)


def test_the_covariance_of_curves_that_are_not_used_is_zero() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(50, 2 * 4 + 1))
    sparse = RRFPriorSolver(20.0, 5.0, "auto").covariance(
        (z.T @ z)[None], np.array([9.0]), np.ones((1, 2)), np.zeros(1)
    )
    unused = np.array([3, 7])
    assert not sparse[0][unused].any()
    assert (np.diag(sparse[0])[[0, 1, 2, 4, 5, 6]] > 0).all()


@pytest.fixture(scope="module")
def labelled() -> Posterior:
    rng = np.random.default_rng(3)
    queries = [f"q{n}" for n in range(12)]
    runs = {f"e{k}": {q: [f"d{i}" for i in rng.permutation(15)[:10]] for q in queries} for k in range(4)}
    labels = {q: {f"d{i}": int(rng.integers(0, 2)) for i in range(6)} for q in queries}
    found = Posterior.of(from_dicts(runs, labels=labels))
    assert found is not None
    model = Jury().fit(from_dicts(runs, labels=labels))
    np.testing.assert_allclose(found.mean.reshape(4, -1), model.curves_, rtol=1e-9)
    scores = model.predict(found.rankings).scores
    np.testing.assert_allclose(found.features(np.arange(len(scores))) @ found.mean, scores, rtol=1e-9)
    return found


def test_the_mean_and_the_features_give_the_scores_of_jury(labelled: Posterior) -> None:
    scores = labelled.features(np.arange(labelled.rankings.n_slots)) @ labelled.mean
    best = {
        int(slots[np.argmax(scores[slots])])
        for slots in np.split(np.arange(len(scores)), labelled.rankings.slot_ptr[1:-1])
    }
    assert best == set(np.flatnonzero(labelled.place == 1).tolist())


def test_without_enough_labelled_queries_there_is_no_posterior() -> None:
    runs = {"a": {f"q{n}": ["x", "y"] for n in range(9)}, "b": {f"q{n}": ["y", "x"] for n in range(9)}}
    assert Posterior.of(from_dicts(runs, labels={f"q{n}": {"x": 1} for n in range(4)})) is None
    assert Posterior.of(from_dicts(runs, labels={f"q{n}": {"x": 1} for n in range(5)})) is not None
    assert Posterior.of(from_dicts(runs, labels={f"q{n}": {"x": 0} for n in range(9)})) is None
