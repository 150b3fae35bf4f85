"""Build the shared library of compiled kernels: ``python native/build.py``.

Numba translates each kernel of ``exports.txt`` to LLVM's language. Nothing is optimised at that point: functions that
call each other would be optimised again for each caller. All are linked into one module, which is optimised once,
written as an object file and linked by the linker of the system, or by that of the package ziglang.

The library is tied to no version of Python or Numba: it calls functions of Python's stable interface alone, and runs on
any CPU that has the instructions of ``TARGETS``. A kernel that calls something else outside the library, such as BLAS,
is left out; Numba compiles it at run time.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
MACHINE = platform.machine()
PLATFORM = f"linux_{MACHINE}"
TARGETS = {"x86_64": "x86-64-v3", "aarch64": "generic"}  # LLVM's name of the oldest CPU; library.NEEDED goes with it
OUTSIDE = {  # functions that kernels may call: of the C library
    "acos", "atan2", "calloc", "ceil", "cos", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "free",
    "frexp", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "malloc", "memcpy", "memmove", "memset", "pow",
    "realloc", "sin", "sqrt", "tan", "tanh",
    # And of Python, all of its stable interface.
    "PyDict_Next", "PyDict_SetItem", "PyErr_Occurred", "PyFloat_AsDouble", "PyFloat_FromDouble", "PyList_GetItem",
    "PyList_Size", "PyLong_AsDouble", "PyLong_AsLongLong", "PyTuple_GetItem", "PyTuple_Size",
    "PyUnicode_AsUTF8AndSize", "Py_DecRef",
}  # fmt: skip


def main() -> None:
    """Build the library into the source tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", nargs=3, metavar=("I", "N", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        number, parts, path = options.part
        compile_part(int(number), int(parts), Path(path))
    elif reason := unsupported_machine() or no_linker():
        sys.exit(f"no library of kernels is built: {reason}; Numba compiles them when they are first used")
    else:
        update()


def unsupported_machine() -> str | None:
    """Why no library is built for this machine, or None."""
    if sys.platform == "linux" and MACHINE in TARGETS:
        return None
    return f"it is made for Linux on {' and '.join(TARGETS)}, this is {sys.platform} on {MACHINE}"


def no_linker() -> str | None:
    """Why object files cannot be linked, or None."""
    return None if linker() else "there is no linker; install ld, ld.lld or the Python package ziglang"


def linker() -> list[str] | None:
    """The command of a linker, or None."""
    for name in ("ld", "ld.lld"):
        if path := shutil.which(name):
            return [path]
    return [sys.executable, "-m", "ziglang", "ld.lld"] if importlib.util.find_spec("ziglang") else None


def update() -> None:
    """Build the library, unless the one in the source tree is up to date."""
    sys.path.insert(0, str(SOURCE))
    library = importlib.import_module("juryrank.kernels.library")
    index_file = library.FOLDER / library.INDEX
    index = {"format": library.FORMAT, "machine": MACHINE, "built from": digest_of_sources()}
    if index.items() <= read_index(index_file).items():
        print("the library of kernels is up to date")
        return
    print("compiling the kernels …", flush=True)
    begin = time.perf_counter()
    library.FOLDER.mkdir(exist_ok=True)
    new = library.FOLDER / f"{library.NAME}.new"
    kernels = build(new)
    index_file.unlink(missing_ok=True)  # an index is only ever beside its own library
    new.replace(library.FOLDER / library.NAME)
    new_index = index_file.with_suffix(".new")
    new_index.write_text(json.dumps({**index, "kernels": kernels}, indent=0) + "\n")
    new_index.replace(index_file)
    size = (library.FOLDER / library.NAME).stat().st_size
    print(f"{len(kernels)} kernels compiled in {time.perf_counter() - begin:.0f} s: {size / 1e3:.0f} KB")


def read_index(path: Path) -> dict[str, Any]:
    """The index of an earlier build; empty if there is none, or if it is damaged."""
    try:
        index: dict[str, Any] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return index


def digest_of_sources() -> str:
    """A digest of all that the library is built from."""
    cache = importlib.import_module("juryrank.kernels.cache")
    modules = sorted({SOURCE / f"juryrank/kernels/{module}.py" for module, _, _ in exports()})
    parts = [cache.source_digest(path).encode() for path in modules]
    parts += [(HERE / name).read_bytes() for name in ("build.py", "exports.txt", "memory.ll", "translate.py")]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def build(target: Path) -> dict[str, Any]:
    """Compile the kernels in one process for each core, and link them; returns what the library has."""
    processes = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        parts = [Path(name) / str(i) for i in range(processes)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), *filter(None, sys.path)])}
        environment.update(NUMBA_CPU_NAME=TARGETS[MACHINE], NUMBA_CPU_FEATURES="", JURYRANK_KERNELS="numba")
        commands = [
            [sys.executable, __file__, "--part", str(i), str(processes), str(path)] for i, path in enumerate(parts)
        ]
        running = [subprocess.Popen(command, env=environment) for command in commands]
        if sum(process.wait() for process in running):
            raise RuntimeError("the kernels could not be compiled; see above")
        objects = [str(path.with_suffix(".o")) for path in parts]
        subprocess.run([*(linker() or []), "-shared", "-s", "-o", str(target), *objects], check=True)
        kernels: dict[str, Any] = {}
        for path in parts:
            for kernel, entry in json.loads(path.with_suffix(".json").read_text()).items():
                kernels.setdefault(kernel, entry)["versions"].update(entry["versions"])
    return dict(sorted(kernels.items()))


def exports() -> list[tuple[str, str, str]]:
    """Module, function and types of arguments of each line of the list."""
    lines = [line.split() for line in (HERE / "exports.txt").read_text().splitlines() if not line.startswith("#")]
    return [(*name.split("."), types) for name, types in lines]  # type: ignore[misc]


def compile_part(number: int, parts: int, path: Path) -> None:
    """Compile every kernel whose turn it is into an object file, with an index beside it."""
    sys.path.insert(0, str(HERE))
    from translate import Translation

    from juryrank.kernels.cache import source_digest

    translation = Translation()
    added = {}
    for i, (module, function, types) in enumerate(exports()):
        if i % parts == number:
            symbol = f"{module}__{function}__{i}"
            try:
                added[symbol] = module, function, types, translation.add(module, function, types, symbol)
            except Exception as error:
                print(f"{module}.{function}({types}) is left to Numba: {type(error).__name__}: {error}")
    also = {"take_array", "describe_array"} if number == 0 else set()
    translation.optimise((HERE / "memory.ll").read_text(), also)
    dropped = translation.drop(OUTSIDE, also)
    index: dict[str, Any] = {}
    for symbol, (module, function, types, result) in added.items():
        if symbol in dropped:
            print(f"{module}.{function} is left to Numba, because it calls {', '.join(dropped[symbol])}")
            continue
        source = source_digest(SOURCE / f"juryrank/kernels/{module}.py")
        entry = index.setdefault(f"{module}.{function}", {"source": source, "versions": {}})
        entry["versions"][types] = [symbol, result]
    path.with_suffix(".o").write_bytes(translation.object_file())
    path.with_suffix(".json").write_text(json.dumps(index))


if __name__ == "__main__":
    main()
