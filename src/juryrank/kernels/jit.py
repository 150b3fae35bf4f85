"""How kernels are called, compiled and run in threads.

* From the library that is built with the package (``library``), if it has the kernel for the types of the arguments.
* Otherwise by Numba, lazily: importing a kernel does not import Numba (half a second), the first such call does.
* ``nogil`` and serial: threads come from a pool over blocks of queries, because kernels with ``parallel=True``
  abort the process if two Python threads call them under Numba's default threading layer.
* Cached by ``cache`` under the text of the kernel's file and of the files it imports, because Numba does not notice an
  edit in a kernel that is called from another file, and does not verify the files of its own cache.
"""

import functools
import os
import threading
import types
from collections.abc import Callable
from itertools import chain
from typing import Any

from juryrank.errors import ParameterError
from juryrank.kernels import library
from juryrank.kernels.cache import KernelCache, compilation_message
from juryrank.progress import remark

KERNELS: list["CompiledFunction"] = []
NAMES: dict[str, dict[str, Any]] = {}  # of the modules of kernels, for Numba
COMPILING = threading.RLock()
THREADS_FROM = 200_000  # elements; with fewer, starting threads costs more than it saves (about 0.1 ms)
BLOCKS_PER_THREAD = 4


class CompiledFunction:
    """A kernel: a function of the library, or one that Numba compiles when it first compiles any."""

    keeps_lock = False  # of Python, while it runs

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.entries: dict[str, library.Entry] | None = None  # of the library, when they have been looked up
        self.compiled: Callable[..., Any] | None = None
        KERNELS.append(self)

    def __call__(self, *args: Any) -> Any:
        if self.entries is None:
            self.entries = library.entries(self.function, keeps_lock=self.keeps_lock)
        if self.entries:
            kinds, numbers = library.represent(args)
            if entry := self.entries.get(kinds):
                try:
                    return entry(numbers)
                except library.KernelError:
                    dispatcher(self)(*args)  # raises the exception with its type and message
                    raise
        return dispatcher(self)(*args)

    def prepare(self, *args: Any) -> Callable[[], Any] | None:
        """A call with these arguments that can be made again and again in a tenth of the time; None for Numba.

        Arrays are the same in each call, and their contents may change.
        """
        if self.entries is None:
            self.entries = library.entries(self.function, keeps_lock=self.keeps_lock)
        kinds, numbers = library.represent(args) if self.entries else ("", [])
        entry = self.entries.get(kinds)
        return None if entry is None else entry.prepare(numbers, args)


class ObjectKernel(CompiledFunction):
    """A kernel that reads and writes objects of Python: it keeps Python's lock, and only the library has it.

    An exception of Python that it leaves behind is raised by its call.
    """

    keeps_lock = True

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.function.__name__} is only called as the library has it: prepare it")


class PythonFunction:
    """A function of Python's C interface, for kernels: ``i`` whole number or address, ``f`` float, ``c`` C's int."""

    def __init__(self, symbol: str, arguments: str, result: str) -> None:
        self.symbol, self.arguments, self.result = symbol, arguments, result

    def declaration(self) -> Any:
        """What Numba compiles a call of it from."""
        from numba import types

        kinds = {"i": types.int64, "f": types.float64, "c": types.int32, "": types.void}
        return types.ExternalFunction(self.symbol, kinds[self.result](*[kinds[kind] for kind in self.arguments]))


class Driver(CompiledFunction):
    """A kernel ``f(first, last, ptr, …, out)`` that handles the queries first:last; called as ``f(ptr, …, out)``.

    The first argument may be a tuple of arrays that begins with ``ptr``. Each query writes its own part of ``out``, so
    the result does not depend on the number of threads.
    """

    def __call__(self, *args: Any) -> None:
        ptr = args[0][0] if isinstance(args[0], tuple) else args[0]
        n_queries = len(ptr) - 1
        n_threads = min(threads(), n_queries)
        if n_threads <= 1 or _largest_array(args) < threads_from():
            super().__call__(0, n_queries, *args)
            return
        from concurrent.futures import ThreadPoolExecutor

        step = -(-n_queries // (n_threads * BLOCKS_PER_THREAD))
        run = super().__call__
        with ThreadPoolExecutor(n_threads) as pool:
            blocks = [pool.submit(run, q, min(q + step, n_queries), *args) for q in range(0, n_queries, step)]
            for block in blocks:
                block.result()


def _largest_array(args: tuple[Any, ...]) -> int:
    """The number of elements of the largest array among the arguments and their tuples."""
    arrays = chain.from_iterable(a if isinstance(a, tuple) else (a,) for a in args)
    return max(a.size for a in arrays if hasattr(a, "size"))


def kernel(function: Callable[..., Any]) -> CompiledFunction:
    """A step: one query, one list or one iteration."""
    return CompiledFunction(function)


def object_kernel(function: Callable[..., Any]) -> ObjectKernel:
    """A kernel that reads and writes objects of Python."""
    return ObjectKernel(function)


def over_queries(function: Callable[..., Any]) -> Driver:
    """A driver: loops over queries and writes its own slice of ``out``."""
    return Driver(function)


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


def dispatcher(kernel: CompiledFunction) -> Any:
    """The function that Numba compiles for the types of its arguments when it is called."""
    if kernel.compiled is None:
        with COMPILING:
            _compile_all()
    return kernel.compiled


def _with_own_names(function: Callable[..., Any]) -> Any:
    """A copy of a kernel that finds other kernels in a copy of its module; Python keeps calling the originals."""
    module = function.__globals__
    names = NAMES.setdefault(module["__name__"], dict(module))
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    copy.__doc__ = function.__doc__
    return copy


def _compile_all() -> None:
    import numba

    _report_compilation()
    _protect_forks()
    compiled: dict[CompiledFunction, Any] = {}
    for k in KERNELS:
        if k.compiled is None:
            compiled[k] = numba.njit(_with_own_names(k.function), nogil=True)
            if hasattr(compiled[k], "enable_caching"):  # with NUMBA_DISABLE_JIT it is the plain function
                compiled[k]._cache = KernelCache(k.function)
    # Kernels call each other by name, where Numba must find what it compiles.
    for names in NAMES.values():
        for name, value in names.items():
            if isinstance(value, CompiledFunction) and not isinstance(value, Driver):
                names[name] = compiled.get(value, value.compiled)
            elif isinstance(value, PythonFunction):
                names[name] = value.declaration()
    # Last, because another thread calls a kernel as soon as it sees it compiled.
    for k, function in compiled.items():
        k.compiled = function


@functools.cache
def _protect_forks() -> None:
    """From now on a fork waits for the end of compilation: in the new process no thread would release the locks."""
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
def _report_compilation() -> None:
    """Report once, when Numba begins to compile, that this takes a while; loading from the cache is not reported."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        reported = False

        def on_start(self, _: Any) -> None:
            if not self.reported:
                self.reported = True
                remark(compilation_message())

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Listener())
