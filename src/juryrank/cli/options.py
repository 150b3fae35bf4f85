"""Options that several commands share: how they are written, and the values that their text stands for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import completion
from juryrank.cli.outputs import OUTPUTS
from juryrank.cli.terminal import set_quiet
from juryrank.params import value_of

if TYPE_CHECKING:
    from juryrank.data.ties import TieBreak
    from juryrank.methods import Aggregator

STDIN = Path("-")
DEFAULT_METRICS = ("nDCG@10", "AP")


def a_file(context: typer.Context, param: typer.CallbackParam, path: Path | None) -> Path | None:
    """A path that can be replaced by renaming, not a device or a pipe; what else is wrong, writing will say."""
    context.meta.setdefault(OUTPUTS, set()).add(param.name)
    if path is not None and os.path.exists(path) and not (path.is_file() or path.is_dir()):
        raise typer.BadParameter(f"{path} is a device or a pipe; only files and folders are written")
    return path


def a_file_or_stdout(context: typer.Context, param: typer.CallbackParam, path: Path | None) -> Path | None:
    """As ``a_file``; ``-`` means stdout, as does no path."""
    return None if path == Path("-") else a_file(context, param, path)


def one_word(text: str | None) -> str | None:
    """A text without whitespace, as a TREC run requires."""
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


def known_tie_break(text: str) -> str:
    """A rule that breaks ties, or item names separated by commas, checked before any data is read."""
    if text not in ("none", "name", "random") and "," not in text:
        raise typer.BadParameter(f"it is none, name, random, or names of items separated by commas, got {text!r}")
    tie_break(text)
    return text


def tie_break(text: str) -> TieBreak:
    """``"b,a"`` as ``("b", "a")``; a rule as it is."""
    if "," not in text:
        return text
    from juryrank.data.ties import split_rule

    return split_rule(names(text))[1]


def several_methods(help_text: str) -> Any:
    """The option ``--methods``: names separated by commas."""
    return typer.Option("--methods", metavar="NAME,…", help=help_text, autocompletion=completion.several_methods)


def stdin_once(context: typer.Context, given: Any) -> Any:
    """Paths to read; at most one of them is ``-``, stdin."""
    paths = given if isinstance(given, list) else [given]
    context.meta["stdin"] = context.meta.get("stdin", 0) + paths.count(STDIN)
    if context.meta["stdin"] > 1:
        raise typer.BadParameter("- is stdin and can be read only once")
    return given


Sources = Annotated[
    list[Path],
    typer.Argument(metavar="DATA", callback=stdin_once, help="Files or folders, - for stdin; several are read as one."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        callback=a_file_or_stdout,
        help="Output file; its extension sets the format; - or none is stdout.",
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
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model saved by `juryrank fit`.")]
Fitted = Annotated[Path | None, typer.Option("--model", help="A model saved by `juryrank fit`, instead of --method.")]
Params = Annotated[
    list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the method; repeatable.")
]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="EXPERT=W,…", help="Weights of experts; the default weight is 1.")
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
    typer.Option(
        "--convention", help="Definition of the metrics: trec or letor.", autocompletion=completion.conventions
    ),
]
Unjudged = Annotated[
    str,
    typer.Option(
        "--unjudged",
        metavar="irrelevant|ignore",
        help="Unjudged items are irrelevant, or are removed before the metrics are computed (condensed lists).",
    ),
]
JudgedShare = Annotated[
    bool,
    typer.Option(
        "--judged-share/--no-judged-share",
        help="Judged@k, the share of the first k items with labels, beside metrics with a cutoff k.",
    ),
]
Format = Annotated[str | None, typer.Option("--from", help="Format of the data, if it is not recognised.")]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="NAME=HEADER,…", help="Headers of the columns query, item, expert, …")
]
LabelColumns = Annotated[
    str | None,
    typer.Option(
        "--label-columns", metavar="NAME=HEADER,…", help="Headers of the columns query, item, label in --labels."
    ),
]
Values = Annotated[
    str | None,
    typer.Option(
        "--values",
        help="Meaning of the values: rank (1 is best), score (higher is better) or distance (lower is better).",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail if data would be skipped or repaired with a warning.")]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Process query by query in about this much memory (500MB, 2GB); TREC runs and Parquet only.",
    ),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", metavar="NAME",
        help="A name by which this may be called, beside localhost and its address; can be repeated.",
    ),
]  # fmt: skip
Top = Annotated[int | None, typer.Option("--top", min=1, help="Number of items written for each query; default: all.")]
TieBreakRule = Annotated[
    str,
    typer.Option(
        "--tie-break",
        metavar="none|name|random|ITEM,ITEM,…",
        callback=known_tie_break,
        help="How ties are broken: not at all, by name, at random (--seed), or in a given order of items.",
    ),
]
Tag = Annotated[
    str | None, typer.Option("--tag", callback=one_word, help="Tag of the resulting TREC run; default: juryrank.")
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=set_quiet, help="No progress bars and no notes; warnings are still shown."),
]


@dataclass(frozen=True)
class ParameterOptions:
    """The parameters of a method."""

    param: Params = None
    weights: Weights = None

    def method(self, name: str) -> Aggregator:
        """The method of this name with these parameters."""
        from juryrank.methods import method

        values = named_values(self.param, "--param")
        if self.weights is not None:
            values["weights"] = named_values(names(self.weights), "--weights")
        return method(name, **values)


def named_values(texts: list[str] | None, flag: str) -> dict[str, Any]:
    """``["k=10", "missing=last"]`` as ``{"k": 10, "missing": "last"}``: values are read as JSON if possible."""
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


def names(text: str) -> list[str]:
    """``"borda, rrf"`` as ``["borda", "rrf"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]
