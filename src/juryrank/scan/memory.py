"""Batches of queries within a memory limit: their size, and work on several at the same time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from juryrank.errors import DataError
from juryrank.io.limits import size_text
from juryrank.kernels.threads import threads
from juryrank.scan.index import QueryFiles

INDEX = 2  # times its size: the memory of an index and of its construction, as measured
LEAST = 1 << 22  # bytes of a batch, below which overhead dominates
R = TypeVar("R")


def batch_size(files: QueryFiles, memory: int, *, labels: int | None = None, share: float = 1.0) -> int:
    """The bytes of a batch: ``share`` of what the index and ``labels`` bytes of labels leave of the memory limit."""
    fixed = INDEX * files.nbytes + (labels or 0)
    if memory <= fixed:
        what = "queries takes" if labels is None else "queries and the labels take"
        raise DataError(
            f"the index of {len(files.queries)} {what} {size_text(fixed)}, more than "
            f"the memory limit of {size_text(memory)}; give at least {size_text(2 * fixed)}"
        )
    size = max(int((memory - fixed) * share) // (concurrent_batches() + 1), LEAST)
    return min(size, files.most)


def concurrent_batches() -> int:
    """The number of batches at a time: while some wait for the interpreter, others compute."""
    return 1 if threads() == 1 else threads() + 1


def in_order(work: Callable[[range], R], batches: Iterable[range]) -> Iterator[R]:
    """Results in the order of the batches, several of which are worked on at a time."""
    if (at_once := concurrent_batches()) == 1:
        yield from map(work, batches)
        return
    with ThreadPoolExecutor(at_once) as pool:
        under_way: deque[Future[R]] = deque()
        for batch in batches:
            under_way.append(pool.submit(work, batch))
            if len(under_way) > at_once:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
