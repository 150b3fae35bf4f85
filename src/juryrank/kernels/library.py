"""Kernels from the shared library that is built with the package: no compilation, and no Numba, at run time.

``native/build.py`` compiles the kernels and types of arguments in ``native/exports.txt`` from the same Python files
into ``kernels.so``; ``kernels.json`` beside it says what the library has, and from which sources. A kernel is called
from the library if its sources are unchanged, its types of arguments are listed and this CPU has the instructions;
otherwise Numba compiles it. JURYRANK_KERNELS=numba uses Numba for all kernels.

A call passes one array of 64-bit numbers: for each argument its value, or the address of an array as CPython knows it,
then room for the result. The library finds data, shape and strides where extension modules find them; ``open_library``
checks that it does.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import struct
import warnings
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from juryrank.errors import CacheWarning, ParameterError
from juryrank.kernels.cache import source_digest

FOLDER = Path(__file__).parent / "binary"
NAME, INDEX = "kernels.so", "kernels.json"
FORMAT = 2  # of the index and of the calls
# The instructions of the CPU for which the library is built, as Linux names them: x86-64-v3.
NEEDED = {"x86_64": ("avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"), "aarch64": ()}
SCALARS = {bool: "b", np.bool_: "b", int: "i", np.int64: "i", float: "f", np.float64: "f", type(None): "n"}
C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED = 0x1, 0x2, 0x100  # as NumPy's C interface defines them
NEXT_NUMBERS = ("next_uint64", "next_uint32", "next_double")  # functions of a generator of random numbers


class UnknownTypeError(TypeError):
    """An argument of a type that calls of the library do not support."""


def represent(args: tuple[Any, ...]) -> tuple[str, list[int]]:
    """The types of arguments, each followed by a comma, and the numbers that represent them; none if one is unknown.

    Types: ``i`` whole number, ``f`` float, ``b`` bool, ``n`` None, ``g`` generator of random numbers, ``f8.2C`` array
    with its type of elements, dimensions and layout, ``(i,f,)`` tuple, preceded by its name if its fields have names.
    """
    types: list[str] = []
    numbers: list[int] = []
    try:
        _flatten(args, types, numbers)
    except UnknownTypeError:
        return "", []
    return "".join(types), numbers


def _flatten(values: tuple[Any, ...], types: list[str], numbers: list[int]) -> None:
    """Append the types of values and the numbers that represent them."""
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            types.append(_type_of_array(value.dtype, value.ndim, value.flags.num))
            numbers.append(id(value))
        elif kind in SCALARS:
            code = SCALARS[kind]
            types.append(code)
            if code == "f":
                numbers += struct.unpack("q", struct.pack("d", value))
            elif code != "n":
                numbers.append(int(value))
        elif isinstance(value, tuple):
            types.append("(" if kind is tuple else f"{kind.__name__}(")
            _flatten(value, types, numbers)
            types.append(")")
        elif kind is np.random.Generator:
            types.append("g")
            numbers += _generator_addresses(value)
        else:
            raise UnknownTypeError(kind.__name__)
        types.append(",")


@functools.cache
def _type_of_array(dtype: Any, dimensions: int, flags: int) -> str:
    """The type of an array; its elements are of a type of this machine, or begin with >."""
    if not flags & ALIGNED:
        raise UnknownTypeError("array that is not aligned")
    layout = "C" if flags & C_CONTIGUOUS else "F" if flags & F_CONTIGUOUS else "A"
    return f"{dtype.str.lstrip('<|')}.{dimensions}{layout}"


def _generator_addresses(rng: np.random.Generator) -> Iterator[int]:
    """The address of the state of a generator of random numbers, and those of its functions."""
    import ctypes

    interface = rng.bit_generator.ctypes
    yield interface.state_address
    for name in NEXT_NUMBERS:
        yield ctypes.cast(getattr(interface, name), ctypes.c_void_p).value or 0


class Entry:
    """A kernel of the library for one combination of types of arguments."""

    def __init__(self, library: Any, symbol: str, result: str) -> None:
        import ctypes

        self.symbol, self.function = symbol, library[symbol]
        self.function.argtypes = [ctypes.c_int64]
        self.take = library.take_array
        self.result = result
        self.room = [0] * _room(result)

    def __call__(self, numbers: list[int]) -> Any:
        """The result; ``KernelError`` if the kernel raised an exception."""
        call = array("q", numbers + self.room)
        if self.function(call.buffer_info()[0]):
            raise KernelError(f"the kernel {self.symbol} stopped, perhaps for lack of memory")
        return self._value(self.result, iter(call[len(numbers) :])) if self.room else None

    def prepare(self, numbers: list[int], args: tuple[Any, ...]) -> Callable[[], Any]:
        """A call that can be made again and again."""
        call, room = array("q", numbers + self.room), len(numbers)
        function, address, plain = self.function, call.buffer_info()[0], self.result == "i"

        def run(_: tuple[Any, ...] = args) -> Any:  # which must live as long as the call
            if function(address):
                raise KernelError(f"the kernel {self.symbol} stopped, perhaps for lack of memory")
            return call[room] if plain else self._value(self.result, iter(call[room:])) if self.room else None

        return run

    def _value(self, kind: str, numbers: Iterator[int]) -> Any:
        match kind[0]:
            case "(":
                return tuple(self._value(part, numbers) for part in kind[1:-1].split(","))
            case "n":
                return None
            case _ if "." in kind:
                return self._array(kind, numbers)
        number = next(numbers)
        return (
            number if kind == "i" else bool(number) if kind == "b" else struct.unpack("d", struct.pack("q", number))[0]
        )

    def _array(self, kind: str, numbers: Iterator[int]) -> Any:
        dtype, layout = kind.split(".")
        owner, address = next(numbers), next(numbers)
        values = np.empty([next(numbers) for _ in range(int(layout[:-1]))], dtype)
        self.take(owner, address, values.ctypes.data, values.nbytes)
        return values


class KernelError(Exception):
    """A kernel of the library stopped with an exception, for example for lack of memory."""


def _room(result: str) -> int:
    """How many numbers represent a result."""
    parts = result.strip("()").split(",")
    return sum(2 + int(part.split(".")[1][:-1]) if "." in part else part != "n" for part in parts)


@functools.cache
def open_library(folder: Path = FOLDER) -> tuple[Any, dict[str, Any]] | None:
    """The library and what it has, by the name of the kernel; None if there is none for this machine."""
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return _report(f"the list {folder / INDEX} of compiled kernels cannot be read: {error}")
    if index["format"] != FORMAT or index["machine"] != platform.machine() or not _has_instructions(index["machine"]):
        return None
    if platform.python_implementation() != "CPython" or object.__basicsize__ != 16:  # the head of every object
        return None
    import ctypes

    try:
        library = ctypes.CDLL(str(folder / NAME))
    except OSError as error:
        return _report(f"the library of compiled kernels cannot be loaded: {error}")
    library.take_array.argtypes = [ctypes.c_int64] * 4
    library.take_array.restype = None
    library.describe_array.argtypes = [ctypes.c_int64] * 2
    return (library, index["kernels"]) if _reads_arrays(library) else None


def _report(problem: str) -> None:
    warnings.warn(f"{problem}; Numba compiles them, until juryrank is installed again", CacheWarning, stacklevel=3)


def _reads_arrays(library: Any) -> bool:
    """Whether the library finds data, shape and strides of an array; it may not in another kind of Python or NumPy."""
    probe, found = np.arange(12.0)[1:10:3], array("q", [0, 0, 0])
    library.describe_array(id(probe), found.buffer_info()[0])
    return found.tolist() == [probe.ctypes.data, 3, 24]


def _has_instructions(machine: str) -> bool:
    """Whether this CPU has the instructions that the library uses."""
    if not (needed := NEEDED.get(machine, ())):
        return True
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        flags = next((line for line in file if line.startswith("flags")), "")
    return set(needed) <= set(flags.split())


def _wanted() -> bool:
    """Whether the library is to be used at all."""
    choice = os.environ.get("JURYRANK_KERNELS", "library")
    if choice not in ("library", "numba"):
        raise ParameterError(f"JURYRANK_KERNELS must be 'library' or 'numba', got {choice!r}")
    return choice == "library" and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


@functools.cache
def _keep_freed_memory() -> None:
    """Free an array of 16 MB: from now on the C library of Linux keeps memory for arrays of up to this size.

    Otherwise every large array gets new pages from the system, and filling them takes longer than many kernels.
    """
    np.empty(2_000_000)


def entries(function: Callable[..., Any], *, keeps_lock: bool = False) -> dict[str, Entry]:
    """What the library has of a kernel, by the types of its arguments; a call releases Python's lock or keeps it."""
    _keep_freed_memory()
    if not _wanted() or (opened := open_library()) is None:
        return {}
    library, kernels = opened
    if keeps_lock:
        import ctypes

        library = ctypes.PyDLL(library._name)
    file = Path(function.__code__.co_filename)
    found = kernels.get(f"{file.stem}.{function.__name__}")
    if found is None or found["source"] != source_digest(file):
        return {}
    return {types: Entry(library, symbol, result) for types, (symbol, result) in found["versions"].items()}
