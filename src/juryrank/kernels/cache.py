"""Where compiled kernels are kept, one file for each kernel and type of arguments.

The digest of a file's content stands at its beginning: a file that was cut short or overwritten is never handed to
LLVM, which would abort the process; the kernel is compiled again. What is read here is run, so a folder that somebody
else may write to is not used. Where the user's own folder cannot be used, one below the folder for temporary files
takes its place.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from juryrank.errors import CacheWarning

ADVICE = "set XDG_CACHE_HOME to a folder of your own that can be written"
DIGEST = hashlib.sha256
ROOT = 0  # the user who may change any file

_warned: set[str] = set()


class Folder(NamedTuple):
    """A folder for compiled code, and why it cannot be used, where that is so."""

    path: str
    trouble: str | None


def _places() -> tuple[Folder, Folder]:
    """The folder of the user and the one for temporary files: looked in, and written to, in this order."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        own = Folder(str((Path(base) if base else Path.home() / ".cache") / "juryrank"), None)
    except RuntimeError:
        own = Folder("~/.cache/juryrank", "has no place, because this user has no home")
    try:
        spare = Folder(str(Path(tempfile.gettempdir()) / f"juryrank-{_user()}"), None)
    except OSError:
        spare = Folder("a folder for temporary files", "does not exist")
    return own, spare


def _user() -> int | str:
    return os.geteuid() if hasattr(os, "geteuid") else os.environ.get("USERNAME", "user")


def _checked(place: Folder, make: bool) -> Folder:
    """The folder, made where it does not exist and ``make``; its trouble where it is not to be trusted."""
    if place.trouble is not None:
        return place
    path = Path(place.path)
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
        found = path.lstat() if path.name.startswith("juryrank-") else path.stat()  # anybody may plant links in /tmp
    except OSError as error:
        return Folder(place.path, f"cannot be made: {error.strerror}" if make else "does not exist")
    if not stat.S_ISDIR(found.st_mode):
        return Folder(place.path, "is no folder")
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


def _folders_to_read() -> tuple[Folder, ...]:
    return _existing(_user(), os.environ.get("XDG_CACHE_HOME"))  # a server may change its user after a while


@functools.cache
def _existing(user: int | str, base: str | None) -> tuple[Folder, ...]:
    checked = (_checked(place, make=False) for place in _places())
    return tuple(folder for folder in checked if folder.trouble is None)


def outlook() -> str:
    """What is to be said when compilation begins."""
    places = _places()
    own = _checked(places[0], make=True)
    if own.trouble is None:
        return "compiling, first run only"
    spare = _checked(places[1], make=True)
    if spare.trouble is None:
        return f"compiling, first run only; kept in {spare.path}, because {own.path} {own.trouble}; {ADVICE}"
    return f"compiling, on every run: {own.path} {own.trouble}, {spare.path} {spare.trouble}; {ADVICE}"


@functools.cache
def source_digest(source: Path) -> str:
    """The name for all kernels of a file: changes with its text and with that of the kernels it imports."""
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
    """The compiled forms of one kernel, as Numba's dispatcher asks for them."""

    def __init__(self, function: Any) -> None:
        source = source_digest(Path(function.__code__.co_filename))
        self.name = f"{source}/{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.bytecode = function.__code__.co_code

    def load_overload(self, types: Any, target: Any) -> Any:
        """What was compiled for these types of arguments, or None."""
        from numba.core.compiler import CompileResult

        target.refresh()
        name = self._file_name(types, target.codegen())
        for folder in _folders_to_read():
            path = os.path.join(folder.path, name)
            if (data := _content(path)) is None:
                continue
            try:
                return CompileResult._rebuild(target, *pickle.loads(data))
            except Exception as error:
                _report_damage(path, f"{type(error).__name__}: {error}")
        return None

    def save_overload(self, types: Any, compiled: Any) -> None:
        """Keep what was compiled in the first folder that can be written."""
        from numba.core.serialize import dumps

        if compiled.lifted or compiled.library.has_dynamic_globals:
            return
        name, data = self._file_name(types, compiled.codegen), dumps(compiled._reduce())
        failed = []
        for folder in (_checked(place, make=True) for place in _places()):
            if folder.trouble is not None:
                failed.append(f"{folder.path} {folder.trouble}")
                continue
            try:
                _write(os.path.join(folder.path, name), DIGEST(data).digest() + data)
                return
            except OSError as error:
                failed.append(f"{folder.path}: {error.strerror}")
        _report_loss("; ".join(failed))

    def _file_name(self, types: Any, codegen: Any) -> str:
        import llvmlite
        import numba

        made_by = sys.version, numba.__version__, llvmlite.__version__, codegen.magic_tuple()
        key = repr((types, made_by, self.bytecode))
        return f"{self.name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}"


def _content(path: str) -> bytes | None:
    """What was kept in a file, or None where there is none or it is not what was written."""
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
    """Write a file whole or not at all."""
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


def _report_loss(reasons: str) -> None:
    _warn_once("loss", f"compiled code cannot be kept, and is compiled on every run: {reasons}; {ADVICE}")


def _warn_once(kind: str, text: str) -> None:
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(text, CacheWarning, stacklevel=3)
