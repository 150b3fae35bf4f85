"""Where bytes go: files that appear whole or not at all, and stdout.

A file is written beside its target under a name that cannot be guessed, created exclusively, with the permissions of
the file that it replaces; it is on the disk before it is renamed. A link stays a link: the file it leads to is
replaced. After a power failure or ``kill -9`` the target has its old content or the new one, and a hidden file
``.NAME.….tmp`` may be left beside it.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

import polars as pl

from juryrank.errors import DataError
from juryrank.io.source import PARQUET

UNFINISHED: list[Path] = []  # files that this process is writing
SHOWN = 40  # characters of the name of a target in the name of the file beside it
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")  # what a terminal would obey; not tab and line feed


class Writable(Protocol):
    """What takes bytes."""

    def write(self, content: bytes, /) -> object: ...


def save(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, compressed when it ends in .gz or .zst; a failure leaves what was there."""
    save_all({path: content})


def save_all(contents: Mapping[Path, bytes]) -> None:
    """Write several files: each is complete and on the disk before the first takes its place."""
    packed = {path: _packed(path, content) for path, content in contents.items()}
    with ExitStack() as stack:
        files = []
        for path, content in packed.items():
            files.append(stack.enter_context(_new_file(path)))
            files[-1].write(content)
            files[-1].finish()
        for file in files:
            file.take_place()
        for folder in {file.beside.parent for file in files}:
            _sync_folder(folder)


@contextmanager
def replacing(path: Path) -> Iterator[Writable]:
    """A new file, written piece by piece, which takes the place of ``path`` when the block ends well."""
    with _new_file(path) as file:
        yield file
        file.finish()
        file.take_place()
        _sync_folder(file.beside.parent)


class _NewFile:
    """A file beside its target; every failure is a DataError about the target."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._errors():
            self.target = Path(os.path.realpath(path)) if path.is_symlink() else path
            mode = self._mode()
            self.beside = self.target.with_name(f".{self.target.name[:SHOWN]}.{secrets.token_hex(8)}.tmp")
            UNFINISHED.append(self.beside)
            try:
                self.file = _created(self.beside, mode)
            except OSError:
                UNFINISHED.remove(self.beside)
                raise

    def _mode(self) -> int | None:
        """The permissions of the file that is there; a DataError where it is no file."""
        try:
            found = self.target.stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{self.path}: only a file can be written, and this is a folder, a device or a pipe")
        return stat.S_IMODE(found.st_mode) & 0o777

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def write(self, content: bytes, /) -> None:
        with self._errors():
            self.file.write(content)

    def finish(self) -> None:
        """Everything on the disk."""
        with self._errors(), self.file:
            self.file.flush()
            os.fsync(self.file.fileno())

    def take_place(self) -> None:
        with self._errors():
            os.replace(self.beside, self.target)

    def discard(self) -> None:
        """Remove what has not taken its place."""
        with suppress(OSError):
            self.file.close()
        with suppress(OSError):
            self.beside.unlink(missing_ok=True)
        UNFINISHED.remove(self.beside)


@contextmanager
def _new_file(path: Path) -> Iterator[_NewFile]:
    file = _NewFile(path)
    try:
        yield file
    finally:
        file.discard()


def _created(path: Path, mode: int | None) -> BinaryIO:
    """A new file; nobody reads it whom ``mode``, if given, does not allow to."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666 if mode is None else 0o600)
    file = os.fdopen(descriptor, "wb")
    if mode is not None:
        try:
            os.chmod(descriptor if os.chmod in os.supports_fd else path, mode)
        except OSError:
            file.close()
            path.unlink()
            raise
    return file


def _sync_folder(folder: Path) -> None:
    """The new names on the disk, too, where a system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def discard_unfinished() -> None:
    """Remove what is half written, before the process ends without cleaning up."""
    for beside in list(UNFINISHED):
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def stdout() -> Writable:
    """Standard output for bytes: UTF-8 and single line feeds, whatever the locale; a terminal gets no control codes."""
    sys.stdout.flush()
    return _Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer


class _Terminal:
    """Text for a terminal, on which control characters are shown as escapes."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out

    def write(self, content: bytes, /) -> None:
        self.out.write(CONTROL.sub(lambda found: b"\\x%02x" % found[0][-1], content))


def _packed(path: Path, content: bytes) -> bytes:
    if path.suffix.lower() == ".gz":
        return gzip.compress(content, mtime=0)  # without a time, equal data gives equal files
    if path.suffix.lower() == ".zst":
        if content.startswith(PARQUET):
            raise DataError(f"{path}: Parquet is compressed inside; drop the .zst")
        lines = pl.DataFrame({"line": content.decode().removesuffix("\n").split("\n")})
        out = io.BytesIO()
        lines.write_csv(out, include_header=False, quote_style="never", compression="zstd")
        return out.getvalue()
    return content
