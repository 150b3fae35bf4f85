"""Options that several commands share, and the values that their text means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import completion
from juryrank.cli.screen import hush

if TYPE_CHECKING:
    from juryrank.data import Dataset
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


Sources = Annotated[list[Path], typer.Argument(metavar="DATA", help="Files or folders; several are read as one.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", callback=a_file_or_stdout, help="Write here; the ending names the format; - is stdout."
    ),
]
Labels = Annotated[Path | None, typer.Option("--labels", "--qrels", help="Labels of the items: TREC qrels or a table.")]
Features = Annotated[
    list[Path] | None, typer.Option("--features", help="Item features: LETOR feature files or tables; repeatable.")
]
Method = Annotated[
    str, typer.Option("--method", help="A name from `juryrank methods`.", autocompletion=completion.methods)
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `juryrank fit`.")]
Fitted = Annotated[Path | None, typer.Option("--model", help="A model of `juryrank fit`, in place of --method.")]
# ``--data runs/*`` is one path for the option and the others for the argument; together they are the data.
Data = Annotated[
    list[Path] | None,
    typer.Option("--data", help="The same as DATA; repeatable."),
]
MoreData = Annotated[
    list[Path] | None, typer.Argument(metavar="[DATA…]", help="Files or folders with lists; several are read as one.")
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
Values = Annotated[str | None, typer.Option("--values", help="What the values are: rank (small is best) or score.")]
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
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def named_values(texts: list[str] | None, flag: str) -> dict[str, Any]:
    """``["k=10", "missing=last"]`` as ``{"k": 10, "missing": "last"}``: JSON where it is JSON, else text."""
    out: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = text.rpartition("=") if flag == "--weights" else text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{flag} takes NAME=VALUE, got {text!r}")
        try:
            out[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            out[name.strip()] = value
    return out


def size(text: str) -> int:
    """``"500MB"`` as bytes."""
    number = text.rstrip("BKMGIbkmgi ")
    unit = text[len(number) :].strip().upper()
    try:
        return int(float(number) * UNITS[unit])
    except (KeyError, ValueError):
        raise typer.BadParameter(f"a size is a number with KB, MB or GB, got {text!r}", param_hint="--memory") from None


def table_options(columns: str | None, values: str | None) -> dict[str, Any]:
    """What ``--columns`` and ``--values`` say, where they say something."""
    given = {"columns": column_names(columns), "values": values}
    return {name: value for name, value in given.items() if value is not None}


def names(text: str) -> list[str]:
    """``"borda, rrf"`` as ``["borda", "rrf"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def column_names(text: str | None) -> dict[str, str] | None:
    """``"item=docno"`` as ``{"item": "docno"}``."""
    return (
        None if text is None else {ours: str(theirs) for ours, theirs in named_values(names(text), "--columns").items()}
    )


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
    labels: Path | None = None,
    features: list[Path] | None = None,
    source_format: str | None = None,
    columns: str | None = None,
    values: str | None = None,
) -> Dataset:
    """The data set that paths and reading options mean."""
    from juryrank.readers import read

    source = sources[0] if len(sources) == 1 else sources
    return read(
        source,
        labels=labels,
        features=features or None,
        format=source_format,
        columns=column_names(columns),
        values=values,
    )


def optional_data(sources: list[Path] | None, **reading: Any) -> Dataset | None:
    """The data set that paths mean, where there are any."""
    if sources:
        return read_data(sources, **reading)
    if reading.get("labels") is not None:
        raise typer.BadParameter("labels need the lists that they are of: give DATA, too", param_hint="--labels")
    return None
