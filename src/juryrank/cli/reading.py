"""Reading data as the options of a command say."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TextIO

import typer

from juryrank.cli import options

if TYPE_CHECKING:
    from juryrank.data import Dataset, Labels
    from juryrank.methods import Aggregator


@dataclass(frozen=True)
class ReadOptions:
    """How the files with lists are read."""

    source_format: options.Format = None
    columns: options.Columns = None
    values: options.Values = None

    @property
    def only_lists(self) -> bool:
        """Whether nothing but lists is read."""
        return True

    def read(self, sources: list[Path], **more: Any) -> Dataset:
        """The dataset in the sources."""
        return read_data(sources, **{**vars(self), **more})

    def table_options(self) -> dict[str, Any]:
        """The values of ``--columns`` and ``--values``, if given."""
        given = {"columns": column_names(self.columns), "values": self.values}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class LabelledReadOptions(ReadOptions):
    """How lists and labels are read."""

    labels: options.Labels = None
    label_columns: options.LabelColumns = None

    def by_query(self, sources: list[Path], memory: str) -> dict[str, Any]:
        """The arguments of functions that read files query by query, such as ``fit_files``."""
        if options.STDIN in (*sources, self.labels):
            raise typer.BadParameter("stdin cannot be read query by query; save it to a file", param_hint="--memory")
        if getattr(self, "features", None):
            raise typer.BadParameter("--features cannot be used with --memory")
        if self.labels is None and self.label_columns is not None:
            raise typer.BadParameter("--label-columns requires --labels")
        return {
            "memory": options.size(memory),
            "labels": self.labels,
            "label_columns": column_names(self.label_columns, "--label-columns"),
            "format": self.source_format,
            "options": self.table_options(),
        }

    def read_optional(self, sources: list[Path]) -> Dataset | None:
        """The dataset in the sources, or None without sources."""
        if sources:
            return self.read(sources)
        if self.labels is not None:
            raise typer.BadParameter("--labels requires DATA")
        return None


@dataclass(frozen=True)
class OptionalData:
    """Data after a model, or with ``--data``: ``--data runs/*`` gives one path to the option, the others to DATA."""

    more: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DATA",
            callback=options.stdin_once,
            help="Files or folders with lists, - for stdin; several are read as one.",
        ),
    ] = None
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", callback=options.stdin_once, help="The same as DATA; repeatable."),
    ] = None

    @property
    def sources(self) -> list[Path]:
        """All paths."""
        return [*(self.data or []), *(self.more or [])]


@dataclass(frozen=True)
class FullReadOptions(LabelledReadOptions):
    """How lists, labels and item features are read."""

    features: options.Features = None

    @property
    def only_lists(self) -> bool:
        return self.labels is None and self.features is None


def read_data(
    sources: list[Path],
    *,
    labels: Path | Labels | None = None,
    features: list[Path] | None = None,
    source_format: str | None = None,
    columns: str | None = None,
    label_columns: str | None = None,
    values: str | None = None,
    strict: bool = False,
    lists: bool = True,
) -> Dataset:
    """The dataset in the sources; with ``lists``, it must have lists or features."""
    from juryrank.errors import DataError
    from juryrank.io import read
    from juryrank.io.sources import no_lists_message

    data = read(
        [or_stdin(path) for path in sources] if len(sources) > 1 else or_stdin(sources[0]),
        labels=or_stdin(labels) if isinstance(labels, Path) else labels,
        features=[or_stdin(path) for path in features] if features else None,
        format=source_format,
        columns=column_names(columns),
        label_columns=column_names(label_columns, "--label-columns"),
        values=values,
        strict=strict,
    )
    if lists and not data.rankings.n_lists and data.features is None:
        raise DataError(no_lists_message(", ".join(map(str, sources)), labels=data.labels is not None))
    return data


def read_labels(path: Path, columns: str | None) -> Labels:
    """The labels that ``--labels`` and ``--label-columns`` name."""
    from juryrank.data import Dataset
    from juryrank.errors import DataError
    from juryrank.io import read_labels

    found = read_labels(or_stdin(path), column_names(columns, "--label-columns"))
    labels = found.labels if isinstance(found, Dataset) else found
    if labels is None:
        raise DataError(f"{path}: it has no labels; expected TREC qrels, or a table with a column of labels")
    return labels


def column_names(text: str | None, flag: str = "--columns") -> dict[str, str | list[str] | None] | None:
    """``"item=docno"`` as ``{"item": "docno"}``; a repeated word gets a list, an empty header is None."""
    if text is None:
        return None
    out: dict[str, list[str]] = {}
    for pair in options.names(text):
        word, equals, header = (part.strip() for part in pair.partition("="))
        if not (word and equals):
            raise typer.BadParameter(f"{flag} takes NAME=HEADER, got {pair!r}", param_hint=flag)
        out.setdefault(word, []).append(header)
    return {word: headers if len(headers) > 1 else headers[0] or None for word, headers in out.items()}


def or_stdin(path: Path) -> Path | BinaryIO:
    """The path, or the content of stdin if it is ``-``."""
    if path != options.STDIN:
        return path
    content = io.BytesIO(_content(sys.stdin))
    content.name = "stdin"
    return content


@lru_cache(maxsize=1)
def _content(stream: TextIO) -> bytes:
    """The content of a stream, which can be read only once."""
    from juryrank.io.files import content_of

    return content_of(Path("stdin"), stream.buffer)


def use_tags(method: Aggregator, data: Dataset) -> None:
    """Apply weights that are given by file names to the experts in these files."""
    from juryrank.io.experts import resolve_aliases

    if weights := getattr(method, "weights", None):
        method.set_params(weights=resolve_aliases(weights, data.aliases))
