"""Paths, folders and open files, as sources; in a folder, files that are no data are left out and named."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from juryrank.errors import DataError, DataWarning
from juryrank.io.files import content_of, files_in, load, unpack
from juryrank.io.formats import of_data, recognised
from juryrank.io.source import Source
from juryrank.kernels.jit import threads

Input = Path | BinaryIO


def inputs_of(source: Any) -> list[Input]:
    """The paths and open files that a path, an open file or a list of them means."""
    several = source if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    if several and all(isinstance(each, str | os.PathLike) or hasattr(each, "read") for each in several):
        return [each if hasattr(each, "read") else Path(each) for each in several]
    raise DataError(
        f"read takes a path, an open file, a list of them or a dataframe, got {type(source).__name__}; "
        "for dicts, lists and arrays see juryrank.data.build"
    )


def sources_of(inputs: Sequence[Input], *, whole_folders: bool = False) -> list[Source]:
    """The content of files, and of the files in folders: those that are data, or all of them (``whole_folders``)."""
    folders = [each if isinstance(each, Path) and each.is_dir() else None for each in inputs]
    files = [
        (folder, file)
        for folder, each in zip(folders, inputs, strict=True)
        for file in (files_in(folder) if folder is not None else [each])
    ]
    if len(files) == 1:
        return [_loaded(files[0][1])]
    with ThreadPoolExecutor(threads()) as pool:  # neither reading nor unpacking holds the interpreter's lock
        found = list(pool.map(lambda each: _attempt(each[1], strict=each[0] is None or whole_folders), files))
    kept = [source for source in found if isinstance(source, Source)]
    if whole_folders:
        return kept
    for folder in {folder: None for folder in folders if folder is not None}:
        inside = [(file, source) for (where, file), source in zip(files, found, strict=True) if where == folder]
        strange = [(file, source) for file, source in inside if isinstance(file, Path) and is_strange(file, source)]
        if len(strange) == len(inside):
            if errors := [source for _, source in strange if isinstance(source, DataError)]:
                raise errors[0]
            continue
        left = [source for _, source in strange]
        kept = [source for source in kept if not any(source is other for other in left)]
        warn_of_strange(folder, [file for file, _ in strange if isinstance(file, Path)])
    return kept


def is_strange(file: Path, source: Source | DataError) -> bool:
    """Whether neither the ending nor the content of a file is of a format."""
    return not of_data(file) and (isinstance(source, DataError) or recognised(source) is None)


def warn_of_strange(folder: Path, files: Sequence[Path]) -> None:
    """Name the files of a folder that are left out."""
    if files:
        names = ", ".join(file.name for file in files[:5]) + (" …" if len(files) > 5 else "")
        many = f"{len(files)} files are" if len(files) > 1 else "1 file is"
        warnings.warn(f"{folder}: {many} no data and left out: {names}", DataWarning, stacklevel=3)


def _attempt(file: Input, *, strict: bool) -> Source | DataError:
    """A file, or what is wrong with it where that may be no matter."""
    try:
        return _loaded(file)
    except DataError as error:
        if strict or (isinstance(file, Path) and of_data(file)):
            raise
        return error


def _loaded(file: Input) -> Source:
    if isinstance(file, Path):
        return load(file)
    path = Path(str(getattr(file, "name", "the open file")))
    return unpack(path, content_of(path, file))
