"""How kernels are compiled, in one place, with reasons.

* Lazily: importing a kernel does not import Numba (half a second); the first call of any kernel does.
* ``nogil`` and serial: threads come from a pool over blocks of queries, because kernels with ``parallel=True``
  abort the process when two Python threads call them under Numba's default threading layer.
* Cached by ``cache`` under the text of the kernel's file and of the files it imports, because Numba does not notice an
  edit in a kernel that another file's kernel calls, and trusts whatever it finds in its own cache.
"""

import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from juryrank.errors import ParameterError
from juryrank.kernels.cache import KernelCache, outlook
from juryrank.progress import remark

KERNELS: list["Kernel"] = []
COMPILING = threading.RLock()
# Below this many elements a thread costs more than it saves (measured: about 0.1 ms to hand out blocks).
THREADED_FROM = 200_000
BLOCKS_PER_THREAD = 4


class Kernel:
    """A function that Numba compiles when any kernel is first called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.compiled: Callable[..., Any] | None = None
        KERNELS.append(self)

    def __call__(self, *args: Any) -> Any:
        if self.compiled is None:
            with COMPILING:
                _compile_all()
        assert self.compiled is not None
        return self.compiled(*args)


class Driver(Kernel):
    """A kernel ``f(first, last, ptr, …, out)`` that does the queries first:last; called as ``f(ptr, …, out)``.

    Each query writes its own part of ``out``, so the result does not depend on the number of threads.
    """

    def __call__(self, *args: Any) -> None:
        n_queries = len(args[0]) - 1
        n_threads = min(threads(), n_queries)
        if n_threads <= 1 or max(a.size for a in args if hasattr(a, "size")) < THREADED_FROM:
            super().__call__(0, n_queries, *args)
            return
        step = -(-n_queries // (n_threads * BLOCKS_PER_THREAD))
        run = super().__call__
        with ThreadPoolExecutor(n_threads) as pool:
            blocks = [pool.submit(run, q, min(q + step, n_queries), *args) for q in range(0, n_queries, step)]
            for block in blocks:
                block.result()


def kernel(function: Callable[..., Any]) -> Kernel:
    """A step: one query, one list or one iteration."""
    return Kernel(function)


def over_queries(function: Callable[..., Any]) -> Driver:
    """A driver: loops over queries and writes its own slice of ``out``."""
    return Driver(function)


def threads() -> int:
    """How many threads drivers may use: JURYRANK_THREADS, else the cores this process may run on."""
    if wanted := os.environ.get("JURYRANK_THREADS"):
        if not wanted.isdecimal() or int(wanted) < 1:
            raise ParameterError(f"JURYRANK_THREADS must be a whole number of 1 or more, got {wanted!r}")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _compile_all() -> None:
    import numba

    _remark_compilation()
    _let_forks_wait()
    made: dict[Kernel, Any] = {}
    for k in KERNELS:
        if k.compiled is None:
            made[k] = numba.njit(k.function, nogil=True)
            if hasattr(made[k], "enable_caching"):  # not where NUMBA_DISABLE_JIT leaves the function as it is
                made[k]._cache = KernelCache(k.function)
    # Kernels call each other through the names of their modules, where Numba must find what it compiled.
    for k in KERNELS:
        space = k.function.__globals__
        for name, value in list(space.items()):
            if isinstance(value, Kernel) and not isinstance(value, Driver):
                space[name] = made.get(value, value.compiled)
    # Last, because another thread calls a kernel as soon as it sees it compiled.
    for k, compiled in made.items():
        k.compiled = compiled


@functools.cache
def _let_forks_wait() -> None:
    """From now on a fork waits for the end of compilation: in the new process nobody would open the locks again."""
    from numba.core.compiler_lock import global_compiler_lock

    def hold() -> None:
        COMPILING.acquire()
        global_compiler_lock.acquire()

    def release() -> None:
        global_compiler_lock.release()
        COMPILING.release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=hold, after_in_parent=release, after_in_child=release)


@functools.cache
def _remark_compilation() -> None:
    """Once, when Numba begins to compile, remark that this takes a while; what is loaded from the cache is no event."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        remarked = False

        def on_start(self, _: Any) -> None:
            if not self.remarked:
                self.remarked = True
                remark(outlook())

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Listener())
