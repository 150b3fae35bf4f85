"""Folders: the files of a folder to read, and files that are written together."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from juryrank.errors import DataError
from juryrank.io.files import save_all, save_interleaved

SHOWN = 3  # names of files in a message


def files_in(folder: Path) -> list[Path]:
    """The files of a folder sorted by name, without hidden ones."""
    try:
        found = sorted(Path(e.path) for e in os.scandir(folder) if e.is_file() and not e.name.startswith("."))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror or error}") from None
    if not found:
        raise DataError(f"{folder}: the folder has no files to read")
    return found


def save_folder(folder: Path, contents: Mapping[str, Iterable[bytes]]) -> None:
    """Write files, by name, to a folder: all are complete before the first is replaced; no other file may be there."""
    with _prepared(folder, contents):
        save_all({folder / name: chunks for name, chunks in contents.items()})


def save_folder_interleaved(folder: Path, names: Collection[str], chunks: Iterable[tuple[str, bytes]]) -> None:
    """As ``save_folder``, from chunks of the files in any order."""
    with _prepared(folder, names):
        save_interleaved([folder / name for name in names], ((folder / name, chunk) for name, chunk in chunks))


@contextmanager
def _prepared(folder: Path, names: Collection[str]) -> Iterator[None]:
    """The folder exists, without other files; after an error, a new folder is removed."""
    _check_other_files(folder, names)
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be created: {error.strerror or error}") from None
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _check_other_files(folder: Path, contents: Collection[str]) -> None:
    try:
        others = sorted(e.name for e in os.scandir(folder) if e.name not in contents and not e.name.startswith("."))
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror or error}") from None
    if others:
        shown = ", ".join(map(repr, others[:SHOWN])) + (" …" if len(others) > SHOWN else "")
        raise DataError(
            f"{folder}: the folder already has {shown}, which would be read together with these runs; "
            "move it away, or give another folder"
        )
