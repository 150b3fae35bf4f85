"""``--plugin FILE``: methods of your own, on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

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
        help="A Python file that defines methods; repeatable.",
    ),
]


@dataclass
class PluginOptions:
    """The option of commands that take a method or a model."""

    plugin: Plugins = None
