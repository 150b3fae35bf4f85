"""Reading takes time in proportion to the text, whatever the names and the ties."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from juryrank.data import Dataset
from juryrank.io import fast_trec
from juryrank.io.source import Source
from juryrank.io.sources import read_rows
from juryrank.kernels.words import PRIME, hash_word

from .test_fast_trec import assert_identical

N, N_COLLIDING = 10_000, 2_500
SHARED_BITS = 18  # of the hash; more than the table of 4 N_COLLIDING names looks at


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


def colliding(n: int) -> list[str]:
    """Names of items that have the last bits of their hash in common, so that all want one place in the table."""
    return [f"q Q0 {name} 1 {n - i} x" for i, name in enumerate(collisions(n))]


def one_long(n: int) -> list[str]:
    """One name is as long as all others together."""
    return [f"q Q0 {'d' * (8 * n) if i == 0 else i} 1 {n - i} x" for i in range(n)]


def collisions(n: int) -> list[str]:
    """n names of eight visible bytes whose hashes agree in their last bits: ``hash_word`` the other way round."""
    inverse = np.uint64(pow(int(PRIME), -1, 2**64))
    found: list[str] = []
    for block in blocks():
        mixed = block << np.uint64(SHARED_BITS + 1)
        for _ in range(3):
            mixed = (mixed ^ (mixed >> np.uint64(32))) * inverse
        mixed ^= np.uint64(1)
        text = mixed.view(np.uint8).reshape(-1, 8)
        text = text[((text > 32) & (text < 127)).all(axis=1)]
        found += [row.tobytes().decode() for row in text]
        if len(found) >= n:
            return found[:n]
    raise AssertionError("there are more such names")


def blocks(size: int = 1 << 22) -> Iterator[np.ndarray]:
    for first in range(0, 1 << (63 - SHARED_BITS), size):
        yield np.arange(first, first + size, dtype=np.uint64)


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
    """As ``juryrank.read`` does with a large file."""
    fast = fast_trec.read([source])
    return read_rows([source], "trec-run", {}).build() if fast is None else fast


def test_the_names_that_are_made_to_collide_do() -> None:
    with np.errstate(over="ignore"):
        words = [np.frombuffer(bytearray(name.encode() + bytes(16)), np.uint8) for name in collisions(50)]
        hashes = {int(hash_word(word, 0)[1]) for word in words}
    assert len(hashes) == 50
    assert len({hashed % 2**SHARED_BITS for hashed in hashes}) == 1


@pytest.mark.parametrize("make", [tied, scattered, colliding, one_long])
def test_four_times_the_lines_take_about_four_times_as_long(make: Callable[[int], list[str]]) -> None:
    """Ten times at most, where what grows with the square takes sixteen times as long."""
    n = N_COLLIDING if make is colliding else N
    small, large = source_of(make(n)), source_of(make(4 * n))
    assert_identical(read(small), read_rows([small], "trec-run", {}).build())
    assert seconds(partial(read, large)) < 10 * seconds(partial(read, small)) + 0.02


@pytest.mark.parametrize(
    "name",
    ["{:010}", "{}", "doc{}", "{:016x}", "{0}000", "clueweb09-en0001-{:06}", "msmarco_{}_{}", "{:05}-{:05}", "{:0>40}"],
)
def test_common_names_do_not_crowd(name: str) -> None:
    lines = [f"q Q0 {name.format(i, 7 * i % 1000)} 1 {-i} x" for i in range(200_000)]
    assert fast_trec.read([source_of(lines)]) is not None


@pytest.mark.parametrize("make", [tied, scattered, one_long])
def test_ties_and_long_names_are_read_the_short_way(make: Callable[[int], list[str]]) -> None:
    source = source_of(make(1000))
    fast = fast_trec.read([source])
    assert fast is not None
    assert_identical(fast, read_rows([source], "trec-run", {}).build())


def test_names_that_crowd_are_left_to_the_careful_way_in_one_file_and_in_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = collisions(600)
    lines = [[f"q Q0 {name} 1 {600 - i} {tag}" for i, name in enumerate(names)] for tag in "xyz"]
    assert fast_trec.read([source_of(lines[0])]) is None
    monkeypatch.setenv("JURYRANK_THREADS", "3")
    padding = "".join(f"p{i} Q0 d 1 1 {'x' * 40}\n" for i in range(10_000))
    parts = [
        source_of([*lines[n][200 * n : 200 * (n + 1)], *padding.replace("p", f"p{n}-").split("\n")[:-1]])
        for n in range(3)
    ]
    assert fast_trec.read(parts[:1]) is not None
    assert fast_trec.read(parts) is None
