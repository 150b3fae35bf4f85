"""How kernels run in threads."""

import numpy as np
import pytest

from juryrank.errors import ParameterError
from juryrank.kernels.threads import over_queries, threads, threads_from


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_driver_covers_every_query_once(n_threads, monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", str(n_threads))
    monkeypatch.setenv("JURYRANK_THREADS_FROM", "0")
    seen = []

    def count(first, last, ptr, out):
        seen.append((first, last))
        out[first:last] += 1

    driver = over_queries(count)
    out = np.zeros(11)
    driver(np.arange(12), out)
    assert (out == 1).all()
    assert len(seen) == (1 if n_threads == 1 else -(-11 // -(-11 // (4 * n_threads))))


def test_an_error_in_a_thread_is_not_lost(monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", "2")
    monkeypatch.setenv("JURYRANK_THREADS_FROM", "0")

    def fail(first, last, ptr):
        raise ZeroDivisionError

    driver = over_queries(fail)
    with pytest.raises(ZeroDivisionError):
        driver(np.arange(9))


def test_small_arrays_are_handled_in_one_block_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", "2")
    blocks = []

    def count(first, last, ptr, values, out):
        blocks.append((first, last))

    driver = over_queries(count)
    ptr, small, large = np.arange(9), np.zeros(9), np.zeros(200_000)
    driver(ptr, small, np.zeros(8))
    assert blocks == [(0, 8)]
    blocks.clear()
    driver(ptr, large, np.zeros(8))
    assert sorted(blocks) == [(q, q + 1) for q in range(8)]
    blocks.clear()
    monkeypatch.setenv("JURYRANK_THREADS_FROM", "9")
    driver(ptr, small, np.zeros(8))
    assert sorted(blocks) == [(q, q + 1) for q in range(8)]


@pytest.mark.parametrize("wanted", ["two", "-1", "1.5"])
def test_a_size_for_threads_that_is_no_whole_number_is_named(wanted, monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS_FROM", wanted)
    with pytest.raises(ParameterError, match=f"JURYRANK_THREADS_FROM must be .* 0 or more, got '{wanted}'"):
        threads_from()


@pytest.mark.parametrize("wanted", ["two", "0", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_named(wanted, monkeypatch):
    monkeypatch.setenv("JURYRANK_THREADS", wanted)
    with pytest.raises(ParameterError, match=f"whole number of 1 or more, got '{wanted}'"):
        threads()
