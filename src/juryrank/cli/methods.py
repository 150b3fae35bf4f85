"""``juryrank methods``: list all methods, or describe one."""

from __future__ import annotations

import inspect
import re
from dataclasses import Field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import completion
from juryrank.cli.terminal import console

if TYPE_CHECKING:
    from juryrank.methods import Aggregator


def run(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A method to describe, with its parameters and bounds.",
            autocompletion=completion.methods,
        ),
    ] = None,
) -> None:
    """List the methods, or describe one."""
    if name is None:
        _list()
    else:
        _describe(name)


def _list() -> None:
    from rich.table import Table

    from juryrank.methods import usable_methods

    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    table.add_column("what it does")
    for name, cls in usable_methods():
        first = (cls.__doc__ or "").partition("\n")[0]
        table.add_row(name, f"{first} Learns from labels." if cls.supervised else first)
    console().print(table)


def _describe(name: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from juryrank.methods import method
    from juryrank.params import parameters

    cls = type(method(name))
    out = console()
    out.print(Text(cls.name, style="bold"))
    out.print(Text(plain_text(cls)), soft_wrap=True)
    out.print(Text(f"\n{cls.weight_of_list}"), soft_wrap=True)
    if also := other_names(cls.name):
        out.print(Text(f"\nAlso called: {', '.join(also)}"))
    if parameters(cls):
        out.print("\nParameters, with defaults and bounds:")
    for f in parameters(cls):
        # As plain text, because rich would interpret "juryrank[sdp]" as markup.
        bounds = f"  ({bounds_text(f)})" if bounds_text(f) else ""
        out.print(Text.assemble("  ", (f.name, "bold"), f" = {default_text(f)}{bounds}"), soft_wrap=True)
        out.print(Padding(Text(f.metadata["doc"]), (0, 0, 0, 6)))


def plain_text(cls: type[Aggregator]) -> str:
    """The docstring of a method without its markup."""
    text = re.sub(r":math:`([^`]*)`", r"\1", inspect.getdoc(cls) or "")
    return text.replace("``", "`")


def other_names(name: str) -> list[str]:
    """Names of a method in other libraries, with the equivalent parameters: "bordafuse (missing=mean)"."""
    from juryrank.methods import ALIASES

    found = [(alias, preset) for alias, (meant, preset) in ALIASES.items() if meant == name]
    return [
        alias + (f" ({', '.join(f'{k}={v}' for k, v in preset.items())})" if preset else "") for alias, preset in found
    ]


def default_text(f: Field[Any]) -> str:
    """The default of a parameter, as written after ``-p``."""
    import json

    return f.default if isinstance(f.default, str) else json.dumps(f.default)


def bounds_text(f: Field[Any]) -> str:
    """The bounds of a parameter: "> 0, <= 1" or "ignore, last"."""
    bounds = f.metadata
    if bounds["choices"] is not None:
        return ", ".join(bounds["choices"])
    signs = {"above": ">", "at_least": ">=", "at_most": "<="}
    return ", ".join(f"{sign} {bounds[name]:g}" for name, sign in signs.items() if bounds[name] is not None)
