"""The cache of compiled kernels, one file for each kernel and type of arguments.

Each file begins with a digest of its content: a truncated or overwritten file is never passed to LLVM, which would
abort the process; the kernel is compiled again. The content is executed, so a folder that other users may write to is
not used. If the user's own folder cannot be used, a folder below that for temporary files replaces it.

Code is compiled for the CPU it runs on, and loaded on CPUs of the same name and features. Code compiled for the generic
CPU (``compile_for_any_cpu``) is loaded on any CPU of the architecture, if there is none for this one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import stat
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from juryrank.errors import CacheWarning, ParameterError

ADVICE = "set XDG_CACHE_HOME to a folder of your own that can be written"
DIGEST = hashlib.sha256
ROOT = 0  # the user who may change any file
GENERIC = "generic"  # LLVM's name for the CPU that every CPU of an architecture can stand for

_warned: set[str] = set()


class CacheUse:
    """How this process uses the cache, and what it did with it."""

    def __init__(self) -> None:
        self.accepts_portable = True  # whether code for any CPU is loaded if there is none for this one
        self.misses = 0  # kernels that are compiled because no file was found
        self.stored: list[str] = []  # files


USE = CacheUse()


class Folder(NamedTuple):
    """A folder for compiled code, and the reason why it cannot be used, or None."""

    path: str
    problem: str | None


def _places() -> tuple[Folder, Folder]:
    """The folder of the user and that for temporary files: read and written in this order."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        own = Folder(str((Path(base) if base else Path.home() / ".cache") / "juryrank"), None)
    except RuntimeError:
        own = Folder("~/.cache/juryrank", "is not available: this user has no home folder")
    import tempfile  # few runs need it, and every command imports this module

    try:
        spare = Folder(str(Path(tempfile.gettempdir()) / f"juryrank-{_user()}"), None)
    except OSError:
        spare = Folder("a folder for temporary files", "does not exist")
    return own, spare


def _user() -> int | str:
    return os.geteuid() if hasattr(os, "geteuid") else os.environ.get("USERNAME", "user")


def _check(place: Folder, make: bool) -> Folder:
    """The folder with its problem, if it has one; created if ``make`` and it does not exist."""
    if place.problem is not None:
        return place
    path = Path(place.path)
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
        found = path.lstat() if path.name.startswith("juryrank-") else path.stat()  # any user may create links in /tmp
    except OSError as error:
        return Folder(place.path, f"cannot be created: {error.strerror}" if make else "does not exist")
    if not stat.S_ISDIR(found.st_mode):
        return Folder(place.path, "is not a folder")
    if hasattr(os, "geteuid"):
        if found.st_uid not in (ROOT, os.geteuid()):
            return Folder(place.path, "belongs to another user, whose code would be run")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return Folder(
                place.path, "may be written by other users, whose code would be run (chmod go-w makes it safe)"
            )
    if make and not os.access(path, os.W_OK):
        return Folder(place.path, "is not writable")
    return place


def prepare_own_folder() -> Folder:
    """The folder of the user, created if it does not exist, with its problem, if it has one."""
    return _check(_places()[0], make=True)


def compile_for_any_cpu() -> None:
    """Let Numba compile for any CPU of this architecture; it reads this setting once, when it is imported."""
    if "numba" in sys.modules:
        raise ParameterError("portable code needs a process that has not imported Numba yet")
    os.environ.update(NUMBA_CPU_NAME=GENERIC, NUMBA_CPU_FEATURES="")


def _folders_to_read() -> tuple[Folder, ...]:
    return _existing(_user(), os.environ.get("XDG_CACHE_HOME"))  # a server may change its user while it runs


@functools.cache
def _existing(user: int | str, base: str | None) -> tuple[Folder, ...]:
    checked = (_check(place, make=False) for place in _places())
    return tuple(folder for folder in checked if folder.problem is None)


def compilation_message() -> str:
    """The message to show when compilation begins."""
    own = prepare_own_folder()
    if own.problem is None:
        return "compiling, first run only"
    spare = _check(_places()[1], make=True)
    if spare.problem is None:
        return f"compiling, first run only; stored in {spare.path}, because {own.path} {own.problem}; {ADVICE}"
    return f"compiling, on every run: {own.path} {own.problem}, {spare.path} {spare.problem}; {ADVICE}"


@functools.cache
def source_digest(source: Path) -> str:
    """A digest for all kernels of a file: changes with its text and with that of the kernels it imports."""
    text = b"".join(file.read_bytes() for file in sorted(_with_imports(source)))
    return hashlib.sha256(text).hexdigest()[:16]


def _with_imports(source: Path) -> set[Path]:
    """A file of kernels, the files of kernels that it imports, directly or not, and the file that compiles them."""
    found, ahead = {Path(__file__).with_name("jit.py")}, [source]
    while ahead:
        file = ahead.pop()
        if file not in found and file.is_file():
            found.add(file)
            text = file.read_text(encoding="utf-8")
            names = re.findall(r"^from juryrank\.kernels\.(\w+) import", text, re.MULTILINE)
            ahead += [file.with_name(f"{name}.py") for name in names]
    return found


class KernelCache:
    """The compiled versions of one kernel; the interface that Numba's dispatcher expects."""

    def __init__(self, function: Any) -> None:
        source = source_digest(Path(function.__code__.co_filename))
        self.name = f"{source}/{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.bytecode = function.__code__.co_code

    def load_overload(self, types: Any, target: Any) -> Any:
        """The version compiled for these types of arguments, or None."""
        import pickle

        from numba.core.compiler import CompileResult

        target.refresh()
        for path in self._paths_to_read(types, target.codegen().magic_tuple()):
            if (data := _read(path)) is None:
                continue
            try:
                return CompileResult._rebuild(target, *pickle.loads(data))
            except Exception as error:
                _report_damage(path, f"{type(error).__name__}: {error}")
        USE.misses += 1
        return None

    def save_overload(self, types: Any, compiled: Any) -> None:
        """Store a compiled version in the first folder that can be written."""
        from numba.core.serialize import dumps

        if compiled.lifted or compiled.library.has_dynamic_globals:
            return
        name, data = self._file_name(types, compiled.codegen.magic_tuple()), dumps(compiled._reduce())
        failed = []
        for folder in (_check(place, make=True) for place in _places()):
            if folder.problem is not None:
                failed.append(f"{folder.path} {folder.problem}")
                continue
            path = os.path.join(folder.path, name)
            try:
                _write(path, DIGEST(data).digest() + data)
            except OSError as error:
                failed.append(f"{folder.path}: {error.strerror}")
            else:
                USE.stored.append(path)
                return
        _report_failed_write("; ".join(failed))

    def _paths_to_read(self, types: Any, machine: tuple[str, str, str]) -> Iterator[str]:
        """The files that may have the compiled version: those for this CPU, then those for any CPU."""
        portable = [(machine[0], GENERIC, "")] if USE.accepts_portable else []
        for each in dict.fromkeys([machine, *portable]):
            name = self._file_name(types, each)
            for folder in _folders_to_read():
                yield os.path.join(folder.path, name)

    def _file_name(self, types: Any, machine: tuple[str, str, str]) -> str:
        """The name of the file; ``machine`` is the architecture and system, the CPU and its features."""
        import llvmlite
        import numba

        versions = sys.version, numba.__version__, llvmlite.__version__, machine
        key = repr((types, versions, self.bytecode))
        return f"{self.name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}"


def _read(path: str) -> bytes | None:
    """The content of a file, or None if it does not exist or was damaged."""
    try:
        data = Path(path).read_bytes()
    except (FileNotFoundError, PermissionError):  # root may have filled a folder that is also ours
        return None
    except OSError as error:
        _report_damage(path, f"it cannot be read: {error.strerror}")
        return None
    size = DIGEST().digest_size
    if DIGEST(data[size:]).digest() != data[:size]:
        _report_damage(path, "its content is not what was written")
        return None
    return data[size:]


def _write(path: str, data: bytes) -> None:
    """Write a file atomically."""
    import tempfile

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def _report_damage(path: str, reason: str) -> None:
    _warn_once("damage", f"damaged compiled code is compiled again: {path}: {reason}")


def _report_failed_write(reasons: str) -> None:
    _warn_once("loss", f"compiled code cannot be stored, and is compiled on every run: {reasons}; {ADVICE}")


def _warn_once(kind: str, text: str) -> None:
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(text, CacheWarning, stacklevel=3)
