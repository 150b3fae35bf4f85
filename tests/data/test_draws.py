"""Random numbers that follow from a seed and names."""

import hashlib

import numpy as np
import pytest
from scipy import stats

from juryrank.data.draws import demand_request, demand_seed, uniform
from juryrank.errors import ParameterError


def test_numbers_are_uniform_and_those_of_other_names_or_seeds_independent():
    x = np.array([[uniform(seed, "a", n) for n in range(3000)] for seed in (0, 1)])
    y = np.array([uniform(0, "b", n) for n in range(3000)])
    assert x.min() > 0
    assert x.max() < 1
    for numbers in (*x, y):
        assert stats.kstest(numbers, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef([*x, y])[np.triu_indices(3, 1)]).max() < 5 / np.sqrt(3000)


def test_numbers_never_change_between_versions():
    whole = b"1:0" + b"4:name" + b"1:7"
    first = int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest(), "big") >> 11
    assert uniform(0, "name", 7) == (first + 0.5) / 2**53


def test_names_do_not_run_into_each_other():
    numbers = {uniform(0, *names) for names in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"])}
    assert len(numbers) == 5
    assert 0 < uniform(0, "\udcff", "日本") < 1  # any text has a number


def test_ids_and_seeds_are_checked():
    assert demand_request(7, "x") == "7"
    assert demand_seed(np.int64(3)) == 3
    for wrong in (None, "", 0.5):
        with pytest.raises(ParameterError, match="x needs request="):
            demand_request(wrong, "x")
    with pytest.raises(ParameterError, match="seed must be"):
        demand_seed(True)
