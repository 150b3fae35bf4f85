"""How kernels run over the queries of a dataset: in threads, where there is enough to do.

A kernel gives up Python's lock, so a pool of ordinary threads runs several blocks of queries at once.
"""

import functools
import os
from collections.abc import Callable
from typing import Any

from juryrank.errors import ParameterError

THREADS_FROM = 200_000  # elements; with fewer, starting threads costs more than it saves (about 0.1 ms)
BLOCKS_PER_THREAD = 4


def over_queries(kernel: Callable[..., None]) -> Callable[..., None]:
    """A kernel ``f(first, last, ptr, …, out)`` of the queries first:last, called as ``f(ptr, …, out)`` for all queries.

    The first argument may also be an object with ``slot_ptr``. Each query writes its own part of ``out``, so the result
    does not depend on the number of threads.
    """

    @functools.wraps(kernel)
    def run(*args: Any) -> None:
        n_queries = len(getattr(args[0], "slot_ptr", args[0])) - 1
        n_threads = min(threads(), n_queries)
        if n_threads <= 1 or _largest_array(args) < threads_from():
            kernel(0, n_queries, *args)
            return
        from concurrent.futures import ThreadPoolExecutor

        step = -(-n_queries // (n_threads * BLOCKS_PER_THREAD))
        with ThreadPoolExecutor(n_threads) as pool:
            blocks = [pool.submit(kernel, q, min(q + step, n_queries), *args) for q in range(0, n_queries, step)]
            for block in blocks:
                block.result()

    return run


def _largest_array(args: tuple[Any, ...]) -> int:
    """The number of elements of the largest array among the arguments, or of the entries of lists."""
    return max(getattr(a, "entry_slot", a).size for a in args if hasattr(a, "size") or hasattr(a, "entry_slot"))


def threads() -> int:
    """The maximum number of threads: JURYRANK_THREADS, or the number of cores this process may run on."""
    if value := os.environ.get("JURYRANK_THREADS"):
        return _whole_number("JURYRANK_THREADS", value, at_least=1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_from() -> int:
    """The size of the largest array from which several threads are used: JURYRANK_THREADS_FROM, or 200,000."""
    if value := os.environ.get("JURYRANK_THREADS_FROM"):
        return _whole_number("JURYRANK_THREADS_FROM", value, at_least=0)
    return THREADS_FROM


def _whole_number(name: str, value: str, at_least: int) -> int:
    if not value.isdecimal() or int(value) < at_least:
        raise ParameterError(f"{name} must be a whole number of {at_least} or more, got {value!r}")
    return int(value)
