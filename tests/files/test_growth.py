"""Reading takes time in proportion to the text, whatever the names and the ties."""

import functools
import itertools
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from juryrank.data import Dataset
from juryrank.io.source import Source
from juryrank.kernels.trec import Names, name_hash

from .test_runs import assert_identical, built, dataset

N = 10_000
N_COLLIDING, SHARED_BITS = 700, 12  # names that share as many bits of the hash as a table of them looks at


def tied(n: int) -> list[str]:
    """All scores are equal, and names fall: sorting by insertion moves each past all others."""
    return [f"q Q0 d{n - i:07} 1 1.5 x" for i in range(n)]


def scattered(n: int) -> list[str]:
    """Names rise and fall in turns, in an order that is hard for a quicksort by the median of three."""
    half = n // 2
    order = [0] * n
    for i in range(1, half + 1):
        if i % 2:
            order[i - 1], order[i] = i, half + i
        order[half + i - 1] = 2 * i
    return [f"q Q0 d{name:07} 1 {n - i} x" for i, name in enumerate(order)]


def one_long(n: int) -> list[str]:
    """One name is as long as all others together."""
    return [f"q Q0 {'d' * (8 * n) if i == 0 else i} 1 {n - i} x" for i in range(n)]


@functools.cache
def collisions() -> list[str]:
    """Names of items that have the last bits of their hash in common, so that all want one place in the table."""
    names = (f"d{n:07}" for n in itertools.count())
    return list(itertools.islice((n for n in names if name_hash(n.encode()) % 2**SHARED_BITS == 0), N_COLLIDING))


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, the best of three: others may be at work, too."""
    took = []
    for _ in range(3):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return min(took)


def source_of(lines: list[str]) -> Source:
    return Source(Path("x.run"), ("\n".join(lines) + "\n").encode())


def read(source: Source) -> Dataset:
    """As ``juryrank.read`` does."""
    data = dataset([source])
    assert data is not None
    return data


@pytest.mark.parametrize("make", [tied, scattered, one_long])
def test_four_times_the_lines_take_about_four_times_as_long(make: Callable[[int], list[str]]) -> None:
    """Ten times at most, where what grows with the square takes sixteen times as long."""
    small, large = source_of(make(N)), source_of(make(4 * N))
    assert_identical(read(small), built([small]))
    assert seconds(partial(read, large)) < 10 * seconds(partial(read, small)) + 0.02


@pytest.mark.parametrize(
    "name",
    ["{:010}", "{}", "doc{}", "{:016x}", "{0}000", "clueweb09-en0001-{:06}", "msmarco_{}_{}", "{:05}-{:05}", "{:0>40}"],
)
def test_common_names_are_numbered(name: str) -> None:
    text = "".join(name.format(i, 7 * i % 1000) + "\n" for i in range(200_000)).encode()
    took = seconds(lambda: Names().number_all(text))
    assert took < 1


def test_names_that_crowd_are_numbered_as_others_are() -> None:
    listed = collisions() + [f"x{n}" for n in range(5000)] + collisions()
    names = Names()
    number = names.number_all("".join(f"{name}\n" for name in listed).encode())
    known = list(dict.fromkeys(listed))
    assert bytes(names).decode().split("\n")[:-1] == known
    assert [known[n] for n in number] == listed


def test_runs_with_names_that_crowd_are_read_as_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [[f"q Q0 {name} 1 {N_COLLIDING - i} {tag}" for i, name in enumerate(collisions())] for tag in "xyz"]
    monkeypatch.setenv("JURYRANK_THREADS", "3")
    parts = [source_of(lines[n][200 * n : 200 * (n + 1)]) for n in range(3)]
    for given in (parts, [source_of(lines[0])]):
        data = dataset(given)
        assert data is not None
        assert_identical(data, built(given))
