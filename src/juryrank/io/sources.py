"""Loading and reading of the inputs of ``read``: paths, folders and open files as sources, sources as rows."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from juryrank.errors import DataError, warn_about_data
from juryrank.io.experts import aliases, experts_in, rename_shared_experts
from juryrank.io.files import content_of, load, unpack
from juryrank.io.folders import files_in
from juryrank.io.formats import format_of, get_format, has_known_ending, sniff
from juryrank.io.formats.ratings import Ratings, warn_of_likely_labels
from juryrank.io.formats.trec_run import TrecRun, run_columns
from juryrank.io.rows import Rows, concat
from juryrank.io.runs import Runs
from juryrank.io.source import PACKED, Source
from juryrank.io.tables.layout import NoItemColumnError
from juryrank.kernels.threads import threads

Input = Path | BinaryIO
Options = Mapping[str, Any]  # columns and values, where they are given

SHOWN = 5  # names of files in a warning
LARGE = 1_000_000  # bytes of a file; smaller ones are read faster without threads


def inputs_of(source: Any) -> list[Input]:
    """The paths and open files that a path, an open file or a list of them means."""
    several = source if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    if several and all(isinstance(each, str | os.PathLike) or hasattr(each, "read") for each in several):
        return [each if hasattr(each, "read") else Path(each) for each in several]
    raise DataError(
        "read takes a path, an open file, a list of them, a dataframe, a dict, a ranx Run or Qrels, tuples (query, "
        f"item, number), or records with query_id, doc_id and score or relevance, got {type(source).__name__}; "
        "for orders and arrays there are from_orders and from_array"
    )


def load_sources(inputs: Sequence[Input], *, whole_folders: bool = False) -> list[Source]:
    """The content of files, and of the files in folders: those that are data, or all of them (``whole_folders``)."""
    folders = [each if isinstance(each, Path) and os.path.isdir(each) else None for each in inputs]
    files = [
        (folder, file)
        for folder, each in zip(folders, inputs, strict=True)
        for file in (files_in(folder) if folder is not None else [each])
    ]
    if len(files) == 1:
        return [_load(files[0][1])]
    loads = [partial(_try_load, file, strict=folder is None or whole_folders) for folder, file in files]
    if any(_takes_long(file) for _, file in files):
        with ThreadPoolExecutor(threads()) as pool:  # neither reading nor unpacking holds the interpreter's lock
            found = list(pool.map(lambda load: load(), loads))
    else:
        found = [load() for load in loads]
    data = [source for source in found if isinstance(source, Source)]
    if whole_folders:
        return data
    for folder in {folder: None for folder in folders if folder is not None}:
        inside = [(file, source) for (where, file), source in zip(files, found, strict=True) if where == folder]
        others = [(file, source) for file, source in inside if isinstance(file, Path) and not _is_data(file, source)]
        if len(others) == len(inside):
            if errors := [source for _, source in others if isinstance(source, DataError)]:
                raise errors[0]
            continue
        data = [source for source in data if not any(source is other for _, other in others)]
        warn_of_skipped_files(folder, [file for file, _ in others if isinstance(file, Path)])
    return data


def _takes_long(file: Input) -> bool:
    """Whether reading a file may take longer than the checks of its content, which hold the interpreter's lock."""
    if not isinstance(file, Path) or file.name.lower().endswith(PACKED):
        return True
    with suppress(OSError):
        found = file.stat()
        return not stat.S_ISREG(found.st_mode) or found.st_size > LARGE  # pipes wait for what writes to them
    return False


def _is_data(file: Path, source: Source | DataError) -> bool:
    """Whether the ending or the content of a file is that of a format."""
    return has_known_ending(file) or (isinstance(source, Source) and sniff(source) is not None)


def warn_of_skipped_files(folder: Path, files: Sequence[Path]) -> None:
    """A DataWarning that names the files of a folder that are not data."""
    if files:
        names = ", ".join(file.name for file in files[:SHOWN]) + (" …" if len(files) > SHOWN else "")
        many = f"{len(files)} files are" if len(files) > 1 else "1 file is"
        warn_about_data(f"{folder}: {many} not data, skipped: {names}")


def _try_load(file: Input, *, strict: bool) -> Source | DataError:
    """A file, or the error about a file of a folder that may not be data."""
    try:
        return _load(file)
    except DataError as error:
        if strict or (isinstance(file, Path) and has_known_ending(file)):
            raise
        return error


def _load(file: Input) -> Source:
    if isinstance(file, Path):
        return load(file)
    path = Path(str(getattr(file, "name", "the open file")))
    return unpack(path, content_of(path, file))


def read_runs(sources: Sequence[Source], format_name: str | None, options: Options) -> Runs | None:
    """The lines of the sources, if all are TREC runs."""
    if options or not sources:
        return None
    found = (get_format(format_name) if format_name else sniff(source) for source in sources)
    return Runs(sources, list(map(run_columns, sources))) if all(isinstance(each, TrecRun) for each in found) else None


def read_rows(sources: Sequence[Source], format_name: str | None, options: Options) -> Rows:
    """The rows of all sources."""
    formats = [format_of(source, format_name, options.get("columns")) for source in sources]
    try:
        parts = [each.read(source, **options) for each, source in zip(formats, sources, strict=True)]
    except NoItemColumnError as error:
        if len(sources) == 1:
            raise
        raise DataError(
            f"{error}; each of the {len(sources)} files is read as an expert: if each is an item instead, such as a "
            "model with its scores, join them to one table with the columns item (the model), expert (the task) and "
            "score"
        ) from None
    if format_name is None and not options:
        for part in (part for each, part in zip(formats, parts, strict=True) if isinstance(each, Ratings)):
            warn_of_likely_labels(part)
    return join_rows(parts, sources)


def join_rows(parts: Sequence[Rows], sources: Sequence[Source]) -> Rows:
    """The rows of several sources as one, with names for experts and elections that tell them apart."""
    name = str(sources[0].path) if len(sources) == 1 else f"{len(sources)} files"
    parts = rename_shared_experts(rename_shared_titles(parts, sources), sources)
    found = aliases([source.stem for source in sources], [experts_in(part) for part in parts])
    return replace(concat(parts, name), aliases=found)


def rename_shared_titles(parts: Sequence[Rows], sources: Sequence[Source]) -> list[Rows]:
    """The parts, where elections in several files with the same title are named after the files, too."""
    titles = [next(iter(part.seats), "") for part in parts]
    often = {title for title, n in Counter(titles).items() if title and n > 1}
    names = [f"{title} ({source.stem})" for title, source in zip(titles, sources, strict=True)]
    again = {name for name, n in Counter(names).items() if n > 1}
    names = [
        f"{title} ({source.path})" if name in again else name
        for title, name, source in zip(titles, names, sources, strict=True)
    ]
    return [
        part.with_query(name) if title in often else part
        for part, title, name in zip(parts, titles, names, strict=True)
    ]


def no_lists_message(source: str, *, labels: bool = True) -> str:
    """The error message for data that has no lists, but perhaps labels."""
    if not labels:
        return f"{source}: there are items but no lists, so there is nothing to rank by; no row has a rank or a score"
    return (
        f"{source}: there are labels but no lists, so there is nothing to rank by; it looks like qrels: "
        "give the runs as the data and this file with labels="
    )
