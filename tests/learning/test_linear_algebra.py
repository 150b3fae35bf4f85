"""Dense products and equations: numpy's values, in one order of sums whatever the number of threads."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from juryrank.learning.linear_algebra import cross_product, gram_matrix, independent_points, product, solve
from juryrank.methods import METHODS
from juryrank.methods.learned_fields import learned_kinds

SHAPES = [(0, 3, 2), (1, 1, 1), (7, 5, 3), (33, 64, 65), (67, 37, 130), (600, 300, 1), (100, 4, 9), (3, 0, 2)]


@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
def test_products_are_those_of_numpy(n, m, k):
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(n, m)), rng.normal(size=(m, k)), rng.normal(size=(n, k))
    assert_allclose(product(a, b), a @ b, atol=1e-12)
    assert_allclose(product(a, b[:, 0]), a @ b[:, 0], atol=1e-12)
    assert_allclose(product(a, np.asfortranarray(b)), a @ b, atol=1e-12)
    assert_allclose(cross_product(a, c), a.T @ c, atol=1e-12)
    assert_allclose(cross_product(a, c[:, 0]), a.T @ c[:, 0], atol=1e-12)


def test_solutions_are_those_of_numpy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(5, 40, 40)), rng.normal(size=(5, 40))
    a[0, 0, 0] = 0.0  # needs a pivot
    before = a.copy(), b.copy()
    assert_allclose(solve(a, b), np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-9)
    assert_allclose(solve(a[1], b[1]), np.linalg.solve(a[1], b[1]), rtol=1e-9)
    assert (a == before[0]).all()
    assert (b == before[1]).all()


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.ones((3, 3)), np.full((3, 3), np.nan)])
def test_equations_without_a_solution_are_an_error(matrix):
    with pytest.raises(np.linalg.LinAlgError):
        solve(matrix, np.ones(3))


def test_independent_points_span_all_points():
    x = np.random.default_rng(2).normal(size=(60, 3))
    x[40:] = x[:20]  # these add nothing
    kernel = np.exp(-((x[:, None] - x) ** 2).sum(2))
    chosen = independent_points(kernel, 1e-8)
    assert len(chosen) <= 40
    assert len(set(chosen)) == len(chosen)
    assert np.linalg.eigvalsh(kernel[np.ix_(chosen, chosen)]).min() > 0
    weights = np.linalg.solve(kernel[np.ix_(chosen, chosen)], kernel[chosen])
    assert_allclose(kernel[:, chosen] @ weights, kernel, atol=1e-7)


@pytest.mark.parametrize(("n", "width"), [(0, 3), (1, 1), (7, 5), (33, 65), (130, 300)])
def test_a_gram_matrix_has_the_digits_of_the_product_and_is_symmetric(n, width):
    a = np.random.default_rng(3).normal(size=(n, width))
    assert_array_equal(gram_matrix(a), cross_product(a, a))
    assert_array_equal(gram_matrix(np.asfortranarray(a)), gram_matrix(a).T)
    assert_allclose(gram_matrix(a), a.T @ a, atol=1e-12)


SCRIPT = """
import hashlib, sys, warnings
import juryrank
from conftest import random_dataset
from juryrank.methods import method
from juryrank.models import to_json
warnings.simplefilter("ignore")
data = random_dataset(0, n_queries=25, n_items=60, n_experts=30)
wide = random_dataset(1, n_queries=20, n_items=20, n_experts=90)
narrow = [random_dataset(seed, n_queries=5, n_items=60) for seed in (2, 3)]  # for those that take seconds
for name in sys.argv[1:]:
    short = {"epochs": 2} if "epochs" in method(name).params() else {}
    for given in narrow if name in ("convex", "crowd-bt", "tuned-rrf") else (data, wide):
        model = method(name, **short).fit(given)
        print(name, hashlib.sha256(to_json(model).encode() + model.predict(given).scores.tobytes()).hexdigest())
"""
# What auto chooses from is here itself; boosted trees are grown in one thread.
LEARNING = [name for name, cls in METHODS.items() if learned_kinds(cls) and name not in ("auto", "boosted")]


def test_learned_methods_do_not_depend_on_the_threads_of_blas():
    found = []
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
        path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        environment = {**os.environ, **dict.fromkeys(names, threads), "PYTHONPATH": path}
        command = [sys.executable, "-c", SCRIPT, *LEARNING]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines())
    assert len(found[0]) == 2 * len(LEARNING)
    assert found[0] == found[1]
