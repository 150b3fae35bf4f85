"""Options that several commands share, and the values that their text means."""

from __future__ import annotations

import io
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TextIO

import typer

from juryrank.cli import completion
from juryrank.cli.terminal import hush
from juryrank.params import value_of

if TYPE_CHECKING:
    from juryrank.data import Dataset
    from juryrank.data import Labels as JudgedLabels
    from juryrank.methods import Aggregator


def a_file(path: Path | None) -> Path | None:
    """A path that a rename may replace: what a link leads to, and never a device or a pipe."""
    if path is not None and path.exists() and not (path.is_file() or path.is_dir()):
        raise typer.BadParameter(f"{path} is a device or a pipe; only files and folders are written")
    return path.resolve() if path is not None and path.is_symlink() else path


def a_file_or_stdout(path: Path | None) -> Path | None:
    """As ``a_file``; ``-`` is stdout, as no path is."""
    return None if path == Path("-") else a_file(path)


def one_word(text: str | None) -> str | None:
    """A text without blanks, which a TREC run can carry."""
    if text is not None and len(text.split()) != 1:
        raise typer.BadParameter(f"a tag is one word, got {text!r}")
    return text


def known_metrics(texts: list[str] | None) -> list[str] | None:
    """Names of metrics, checked before any data is read."""
    if texts:
        from juryrank.metrics import parse_metric

        for text in texts:
            parse_metric(text)
    return texts


def stdin_once(context: typer.Context, given: Any) -> Any:
    """Paths to read; ``-`` is stdin, for one of them."""
    paths = given if isinstance(given, list) else [given]
    context.meta["stdin"] = context.meta.get("stdin", 0) + paths.count(STDIN)
    if context.meta["stdin"] > 1:
        raise typer.BadParameter("- is stdin and can be read once only")
    return given


STDIN = Path("-")
Sources = Annotated[
    list[Path],
    typer.Argument(metavar="DATA", callback=stdin_once, help="Files or folders, - for stdin; several are read as one."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", callback=a_file_or_stdout, help="Write here; the ending names the format; - is stdout."
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", "--qrels", callback=stdin_once, help="Labels of the items: TREC qrels or a table."),
]
Features = Annotated[
    list[Path] | None,
    typer.Option("--features", callback=stdin_once, help="Item features: LETOR feature files or tables; repeatable."),
]
Method = Annotated[
    str, typer.Option("--method", help="A name from `juryrank methods`.", autocompletion=completion.methods)
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `juryrank fit`.")]
Fitted = Annotated[Path | None, typer.Option("--model", help="A model of `juryrank fit`, in place of --method.")]
# ``--data runs/*`` is one path for the option and the others for the argument; together they are the data.
Data = Annotated[
    list[Path] | None,
    typer.Option("--data", callback=stdin_once, help="The same as DATA; repeatable."),
]
MoreData = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DATA",
        callback=stdin_once,
        help="Files or folders, - for stdin, with lists; several are read as one.",
    ),
]
Params = Annotated[
    list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the method; repeatable.")
]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="EXPERT=W,…", help="Weights of experts; others get 1.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        callback=known_metrics,
        help="A metric such as nDCG@10 (or ndcg_cut_10); repeatable.",
        autocompletion=completion.metrics,
    ),
]
Convention = Annotated[
    str,
    typer.Option("--convention", help="How metrics are defined: trec or letor.", autocompletion=completion.conventions),
]
Format = Annotated[str | None, typer.Option("--from", help="Format of the data, when it cannot be recognised.")]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="OURS=THEIRS,…", help="Columns of a table: query, item, expert, …")
]
LabelColumns = Annotated[
    str | None,
    typer.Option(
        "--label-columns", metavar="OURS=THEIRS,…", help="Columns of a table of --labels: query, item, label."
    ),
]
Values = Annotated[str | None, typer.Option("--values", help="What the values are: rank (small is best) or score.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse data that would be skipped or repaired with a warning.")]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="SIZE", help="Go query by query in about this much memory (500MB, 2GB): runs and Parquet."
    ),
]
Top = Annotated[int | None, typer.Option("--top", min=1, help="Items of each query that are written; default: all.")]
Tag = Annotated[
    str | None, typer.Option("--tag", callback=one_word, help="Name of the result in a TREC run; default: juryrank.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=hush, help="No progress bars and no notes; warnings stay.")
]

DEFAULT_METRICS = ("nDCG@10", "AP")


def named_values(texts: list[str] | None, flag: str) -> dict[str, Any]:
    """``["k=10", "missing=last"]`` as ``{"k": 10, "missing": "last"}``: JSON where it is JSON, else text."""
    out: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = text.rpartition("=") if flag == "--weights" else text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{flag} takes NAME=VALUE, got {text!r}")
        out[name.strip()] = value_of(value)
    return out


def size(text: str) -> int:
    """``"500MB"`` as bytes."""
    from juryrank.io.limits import size_of

    try:
        return size_of(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--memory") from None


def table_options(columns: str | None, values: str | None) -> dict[str, Any]:
    """What ``--columns`` and ``--values`` say, where they say something."""
    given = {"columns": column_names(columns), "values": values}
    return {name: value for name, value in given.items() if value is not None}


def names(text: str) -> list[str]:
    """``"borda, rrf"`` as ``["borda", "rrf"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def column_names(text: str | None, flag: str = "--columns") -> dict[str, str | list[str] | None] | None:
    """``"item=docno"`` as ``{"item": "docno"}``; a word that stands there twice has a list, nothing is None."""
    if text is None:
        return None
    out: dict[str, list[str]] = {}
    for pair in names(text):
        word, equals, header = (part.strip() for part in pair.partition("="))
        if not (word and equals):
            raise typer.BadParameter(f"{flag} takes OURS=THEIRS, got {pair!r}", param_hint=flag)
        out.setdefault(word, []).append(header)
    return {word: headers if len(headers) > 1 else headers[0] or None for word, headers in out.items()}


def chosen_method(name: str, params: list[str] | None, weights: str | None) -> Aggregator:
    """The method that ``--method``, ``-p`` and ``--weights`` mean."""
    from juryrank.methods import method

    values = named_values(params, "--param")
    if weights is not None:
        values["weights"] = named_values(names(weights), "--weights")
    return method(name, **values)


def read_data(
    sources: list[Path],
    *,
    labels: Path | JudgedLabels | None = None,
    features: list[Path] | None = None,
    source_format: str | None = None,
    columns: str | None = None,
    label_columns: str | None = None,
    values: str | None = None,
    strict: bool = False,
    lists: bool = True,
) -> Dataset:
    """The data set that paths and reading options mean; it must have lists, or else features (``lists``)."""
    from juryrank.errors import DataError
    from juryrank.io import read
    from juryrank.io.sources import no_lists

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
        raise DataError(no_lists(", ".join(map(str, sources)), labels=data.labels is not None))
    return data


def read_labels(path: Path, columns: str | None) -> JudgedLabels:
    """The labels that ``--labels`` and ``--label-columns`` mean."""
    from juryrank.data import Dataset
    from juryrank.errors import DataError
    from juryrank.io import read_labels

    found = read_labels(or_stdin(path), column_names(columns, "--label-columns"))
    labels = found.labels if isinstance(found, Dataset) else found
    if labels is None:
        raise DataError(f"{path}: no labels in it; expected qrels, or a table with a column of labels")
    return labels


def or_stdin(path: Path) -> Path | BinaryIO:
    """The path, or what stdin holds where it is ``-``."""
    if path != STDIN:
        return path
    content = io.BytesIO(_content(sys.stdin))
    content.name = "stdin"
    return content


@lru_cache(maxsize=1)
def _content(stream: TextIO) -> bytes:
    """What is in a stream, which can be read once only."""
    from juryrank.io.files import content_of

    return content_of(Path("stdin"), stream.buffer)


def use_tags(method: Aggregator, data: Dataset) -> None:
    """Let weights that are given by the names of files count for the experts inside."""
    from juryrank.io.experts import by_expert

    if weights := getattr(method, "weights", None):
        method.set_params(weights=by_expert(weights, data.aliases))


def optional_data(sources: list[Path] | None, **reading: Any) -> Dataset | None:
    """The data set that paths mean, where there are any."""
    if sources:
        return read_data(sources, **reading)
    if reading.get("labels") is not None:
        raise typer.BadParameter("labels need the lists that they are of: give DATA, too", param_hint="--labels")
    return None
