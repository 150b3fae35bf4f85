"""Files: open, decompress, write atomically, write to standard output.

Writing is atomic. The content goes to a new file beside the target, with a name that cannot be guessed and with the
permissions of the file that it replaces; it is flushed to the disk before it is renamed. A symbolic link stays a link:
the file it points to is replaced. After a power failure or ``kill -9`` the target has its old or its new content, and a
hidden file ``.NAME.….tmp`` may be left beside it.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO, cast

from juryrank.errors import DataError
from juryrank.io.limits import check_line_lengths, join_chunks, max_size, too_large, zstd_size
from juryrank.io.source import GZIP, PARQUET, ZSTD, Source, normalise_text
from juryrank.polars import pl

CHUNK = 1 << 24  # bytes that are read at a time
TEMPORARY_NAME = 40  # characters of the target's name in the name of the temporary file
CONTROL = re.compile(
    rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]"
)  # control characters that a terminal would interpret; not tab and line feed
UNFINISHED: list[Path] = []  # temporary files that this process is writing


class Writable(Protocol):
    """An object that takes bytes: an open file, standard output."""

    def write(self, content: bytes, /) -> object: ...


def load(path: Path) -> Source:
    """The content of a file; a DataError says what is wrong when it is missing, damaged, empty or not text."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not found.st_size:  # devices, pipes, /proc: the size is unknown
                return unpack(path, content_of(path, file))
            if found.st_size > max_size():
                raise too_large(path)
            return unpack(path, file.read())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def content_of(path: Path, file: BinaryIO | TextIO) -> bytes:
    """The content of an open file, up to the limit; ``path`` is its name in errors."""

    def chunks() -> Iterator[bytes]:
        while chunk := file.read(CHUNK):
            yield chunk.encode() if isinstance(chunk, str) else chunk

    rest = chunks()
    if (first := next(rest, None)) is None:
        return b""
    return join_chunks(path, chain([first], rest), text=not first.startswith((GZIP, ZSTD, PARQUET)))


def unpack(path: Path, data: bytes) -> Source:
    """The content of the file at ``path``, decompressed and checked to be text or Parquet."""
    data = _decompress(path, data)
    if not data or data.isspace():
        raise DataError(f"{path}: the file is empty")
    if data.startswith(PARQUET):
        return Source(path, data)
    text = normalise_text(path, data)
    check_line_lengths(path, text)
    return Source(path, text)


def _decompress(path: Path, data: bytes) -> bytes:
    try:
        if data.startswith(GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                return content_of(path, cast("BinaryIO", file))
        if data.startswith(ZSTD):
            if zstd_size(data) > max_size():
                raise too_large(path)
            return "\n".join(pl.read_lines(io.BytesIO(data))["line"]).encode()
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path}: the compressed file is damaged or cut short ({error})") from None
    return data


def save(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, compressed if it ends in .gz or .zst; an error leaves the old file unchanged."""
    save_all({path: [content]})


def save_all(contents: Mapping[Path, Iterable[bytes]]) -> None:
    """Write several files from chunks: all are complete and on the disk before the first replaces its target."""
    with ExitStack() as stack:
        files = []
        for path, chunks in contents.items():
            files.append(stack.enter_context(_new_file(path)))
            for chunk in chunks:
                files[-1].write(chunk)
            files[-1].finish()
        _replace_targets(files)


def save_interleaved(paths: Sequence[Path], chunks: Iterable[tuple[Path, bytes]]) -> None:
    """As ``save_all``, from chunks of the files in any order, so that all files are open at the same time."""
    with ExitStack() as stack:
        files = {path: stack.enter_context(_new_file(path)) for path in paths}
        for path, chunk in chunks:
            files[path].write(chunk)
        for file in files.values():
            file.finish()
        _replace_targets(list(files.values()))


def _replace_targets(files: Sequence[_NewFile]) -> None:
    for file in files:
        file.replace_target()
    for folder in {file.temporary.parent for file in files}:
        sync_folder(folder)


def deliver(chunks: Iterable[bytes], out: Path | Writable) -> None:
    """Write chunks to a file (atomically) or to an open file, each as soon as it is available."""
    if isinstance(out, Path):
        save_all({out: chunks})
        return
    if isinstance(out, io.TextIOBase) or not hasattr(out, "write"):
        raise DataError(f"a path or an open binary file is needed to write to, got {type(out).__name__}")
    for chunk in chunks:
        out.write(chunk)


class _NewFile:
    """A temporary file beside its target; every failure is a DataError about the target."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.compressor = _compressor(path)
        with self._errors():
            self.target = Path(os.path.realpath(path)) if path.is_symlink() else path
            mode = self._mode()
            self.temporary = self.target.with_name(f".{self.target.name[:TEMPORARY_NAME]}.{secrets.token_hex(8)}.tmp")
            UNFINISHED.append(self.temporary)
            try:
                self.file = _create(self.temporary, mode)
            except OSError:
                UNFINISHED.remove(self.temporary)
                raise

    def _mode(self) -> int | None:
        """The permissions of the existing file; a DataError if it is not a regular file."""
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

    def write(self, content: bytes) -> None:
        packed = self.compressor.compress(content)
        with self._errors():
            self.file.write(packed)

    def finish(self) -> None:
        """Write everything to the disk and close the file."""
        rest = self.compressor.flush()
        with self._errors(), self.file:
            self.file.write(rest)
            self.file.flush()
            os.fsync(self.file.fileno())

    def replace_target(self) -> None:
        with self._errors():
            os.replace(self.temporary, self.target)

    def discard(self) -> None:
        """Remove the temporary file if it has not replaced its target."""
        with suppress(OSError):
            self.file.close()
        with suppress(OSError):
            self.temporary.unlink(missing_ok=True)
        UNFINISHED.remove(self.temporary)


@contextmanager
def _new_file(path: Path) -> Iterator[_NewFile]:
    file = _NewFile(path)
    try:
        yield file
    finally:
        file.discard()


def _create(path: Path, mode: int | None) -> BinaryIO:
    """A new file, never readable by more users than ``mode``, if given, allows."""
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


def sync_folder(folder: Path) -> None:
    """Flush the new names to the disk, too, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def discard_unfinished() -> None:
    """Remove temporary files before the process ends without cleaning up."""
    for temporary in list(UNFINISHED):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


class _Compressor(Protocol):
    def compress(self, content: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _compressor(path: Path) -> _Compressor:
    """The compressor for files with this ending."""
    match path.suffix.lower():
        case ".gz":
            return zlib.compressobj(9, wbits=31)  # its header has no time, so that equal data gives equal files
        case ".zst":
            return _Zstd(path)
        case _:
            return _Uncompressed()


class _Uncompressed:
    def compress(self, content: bytes, /) -> bytes:
        return content

    def flush(self) -> bytes:
        return b""


class _Zstd:
    """Zstandard by polars, which packs whole lines only; each chunk is a frame, and frames may follow each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.empty = True

    def compress(self, content: bytes, /) -> bytes:
        if content.startswith(PARQUET):
            raise DataError(f"{self.path}: Parquet files are compressed internally; remove .zst")
        self.empty = False
        out = io.BytesIO()
        lines = pl.DataFrame({"line": content.decode().removesuffix("\n").split("\n")})
        lines.write_csv(out, include_header=False, quote_style="never", compression="zstd")
        return out.getvalue()

    def flush(self) -> bytes:
        return self.compress(b"") if self.empty else b""


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
