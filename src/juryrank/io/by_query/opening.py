"""Paths and folders as files that are read query by query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from juryrank.errors import DataError
from juryrank.io.by_query.parquet import TableFile
from juryrank.io.by_query.query_file import CHUNK, QueryFile
from juryrank.io.by_query.trec_run import RunFile
from juryrank.io.files import files_in
from juryrank.io.formats import named, of_data, recognised, table, trec_qrels, trec_run
from juryrank.io.inputs import warn_of_strange
from juryrank.io.source import GZIP, HEAD_BYTES, PARQUET, ZSTD, Source, normalise_text
from juryrank.io.sources import Options, demand_options, no_lists

ONLY = "only TREC runs and Parquet tables are read query by query; convert the file first"


def opened(paths: Sequence[Path], format_name: str | None, options: Options, chunk: int = CHUNK) -> list[QueryFile]:
    """The files, and those of folders without what is no data."""
    out = []
    for path in paths:
        if not path.is_dir():
            out.append(_opened(path, format_name, options, chunk))
            continue
        strange = [file for file in files_in(path) if not of_data(file) and _is_strange(file)]
        inside = [file for file in files_in(path) if file not in strange]
        out += [_opened(file, format_name, options, chunk) for file in inside or strange]
        if inside:
            warn_of_strange(path, strange)
    return out


def _is_strange(path: Path) -> bool:
    try:
        return recognised(_beginning(path)) is None
    except DataError:
        return True


def _opened(path: Path, format_name: str | None, options: Options, chunk: int) -> QueryFile:
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: only a file can be read query by query, no pipe and no device; save it to a file")
    source = _beginning(path)
    if source.parquet:
        if format_name is not None and named(format_name) is not table:
            raise DataError(f"{path}: {ONLY}; a Parquet file is no {format_name}")
        return TableFile(path, options, chunk)
    if source.data.startswith((GZIP, ZSTD)):
        raise DataError(f"{path}: a compressed file cannot be read query by query; unpack it, or use Parquet")
    found = named(format_name) if format_name else recognised(source)
    if found is trec_qrels:
        raise DataError(no_lists(str(path)))
    if found is not trec_run:
        raise DataError(f"{path}: {ONLY}")
    demand_options(trec_run, options, str(path))
    return RunFile(path, options, chunk, names=trec_run.names_of(source))


def _beginning(path: Path) -> Source:
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
