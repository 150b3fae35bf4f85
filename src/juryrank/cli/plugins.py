"""``--plugin FILE``: methods of your own, on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer


def load(paths: list[Path] | None) -> list[Path] | None:
    """Load plugins, before names of methods are looked up."""
    if paths:
        from juryrank.methods import load_plugin

        for path in paths:
            load_plugin(path)
    return paths


Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        callback=load,
        is_eager=True,
        help="A Python file with methods of your own; repeatable.",
    ),
]


def with_plugins(run: Callable[..., None]) -> Callable[..., None]:
    """The command with an option ``--plugin`` after its own."""

    def command(plugin: Plugins, **values: Any) -> None:
        run(**values)

    option = inspect.Parameter("plugin", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Plugins)
    expanded = [*inspect.signature(run).parameters.values(), option]
    command.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in expanded}
    command.__doc__ = run.__doc__
    return command
