"""Splits and tests of significance of the studies are those of the library and of scipy."""

import numpy as np
import pytest
from scipy.stats import permutation_test

import juryrank
from conftest import random_dataset
from studies.papers.folds import own_splits, part_of, randomisation_test, rotation


@pytest.mark.parametrize("n", [3, 5])
def test_a_rotation_tests_the_queries_that_compare_tests(n):
    data = random_dataset(4, n_queries=17)
    splits = rotation(data, n)
    tested = [data.queries[q] for split in splits for q in split.test]
    assert juryrank.compare(["rrf"], data, "AP", folds=n).queries == tuple(tested)
    for split, following in zip(splits, [*splits[1:], splits[0]], strict=True):
        np.testing.assert_array_equal(split.valid, following.test)
        assert sorted([*split.train, *split.valid, *split.test]) == list(range(17))


def test_a_learned_method_has_the_values_of_compare():
    data = random_dataset(5, n_queries=20)
    values = []
    for split in rotation(data, 4):
        part = part_of(data, split)
        model = juryrank.method("jury").fit(part.train, valid=part.valid)
        values.append(juryrank.evaluate(model.predict(part.test), part.test, "AP").values[0, 0])
    np.testing.assert_allclose(np.concatenate(values), juryrank.compare(["jury"], data, "AP", folds=4).values[0, 0])


def test_data_without_folds_has_no_splits():
    assert own_splits(random_dataset(6)) == []


def test_the_randomisation_test_is_that_of_scipy():
    rng = np.random.default_rng(0)
    differences = rng.normal([0.0, 0.25, 0.6], size=(40, 3))
    ours = randomisation_test(differences)
    for p, column in zip(ours, differences.T, strict=True):
        theirs = permutation_test((column,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1).pvalue
        assert p == pytest.approx(theirs, abs=0.02)
    assert ours[2] < 0.01 < ours[0]
