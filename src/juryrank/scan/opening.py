"""Opening paths and folders as files that are read query by query."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from juryrank.errors import DataError
from juryrank.io.folders import files_in
from juryrank.io.formats import get_format, has_known_ending, sniff
from juryrank.io.formats.table import Table
from juryrank.io.formats.trec_qrels import TrecQrels
from juryrank.io.formats.trec_run import TrecRun, run_columns
from juryrank.io.source import GZIP, HEAD_BYTES, PARQUET, ZSTD, Source, normalise_text
from juryrank.io.sources import Options, no_lists_message, warn_of_skipped_files
from juryrank.scan.parquet import TableFile
from juryrank.scan.query_file import CHUNK, QueryFile
from juryrank.scan.trec_run import RunFile

ONLY = "only TREC runs and Parquet tables are read query by query; convert the file first"


def open_files(paths: Sequence[Path], format_name: str | None, options: Options, chunk: int = CHUNK) -> list[QueryFile]:
    """The files, and those of folders that are data."""
    out = []
    for path in paths:
        if not os.path.isdir(path):
            out.append(_open(path, format_name, options, chunk))
            continue
        others = [file for file in files_in(path) if not has_known_ending(file) and not _is_recognised(file)]
        data = [file for file in files_in(path) if file not in others]
        out += [_open(file, format_name, options, chunk) for file in data or others]
        if data:
            warn_of_skipped_files(path, others)
    return out


def _is_recognised(path: Path) -> bool:
    try:
        return sniff(beginning_of(path)) is not None
    except DataError:
        return False


def _open(path: Path, format_name: str | None, options: Options, chunk: int) -> QueryFile:
    if os.path.exists(path) and not path.is_file():
        raise DataError(f"{path}: pipes and devices cannot be read query by query; save the data to a file")
    source = beginning_of(path)
    if source.parquet:
        if format_name is not None and not isinstance(get_format(format_name), Table):
            raise DataError(f"{path}: {ONLY}; the file is Parquet, not {format_name}")
        return TableFile(path, options, chunk)
    if source.data.startswith((GZIP, ZSTD)):
        raise DataError(f"{path}: a compressed file cannot be read query by query; unpack it, or use Parquet")
    found = get_format(format_name) if format_name else sniff(source)
    if isinstance(found, TrecQrels):
        raise DataError(no_lists_message(str(path)))
    if not isinstance(found, TrecRun):
        raise DataError(f"{path}: {ONLY}")
    found.check_options(options, str(path))
    return RunFile(path, options, chunk, run_columns=run_columns(source))


def beginning_of(path: Path) -> Source:
    """The first lines of a file, or its first bytes where it is compressed or Parquet."""
    try:
        with path.open("rb") as file:
            start = file.read(HEAD_BYTES)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if start.startswith((PARQUET, GZIP, ZSTD)):
        return Source(path, start)
    if not start.strip() and len(start) < HEAD_BYTES:
        raise DataError(f"{path}: the file is empty")
    if len(start) == HEAD_BYTES:
        cut = max(start.rfind(b"\n"), start.rfind(b"\r"))
        start = start[: cut + 1] if cut >= 0 else start.decode(errors="ignore").encode()
    return Source(path, normalise_text(path, start))
