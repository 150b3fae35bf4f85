"""Files that a command must not replace: those that it reads, or writes already, and judgements."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

OUTPUTS = "outputs"  # the key in the context under which callbacks put the names of such options


def demand_other_files(context: Any) -> None:
    """An error if a file to write is one to read, in a folder to read, for another option, too, or has judgements."""
    names = context.meta.get(OUTPUTS, ())
    inputs = [path for name, value in context.params.items() if name not in names for path in _paths(value)]
    seen: dict[str, str] = {}
    for parameter in context.command.params:
        out = context.params.get(parameter.name)
        if parameter.name not in names or out is None:
            continue
        if read := next((path for path in inputs if _replaces(out, path)), None):
            where = "" if _same(out, read) else f" (as part of {read})"
            said = f"the command also reads {out}{where}, and would replace it; give another name"
            raise typer.BadParameter(said, ctx=context, param=parameter)
        if (other := seen.setdefault(os.path.realpath(out), parameter.opts[0])) != parameter.opts[0]:
            said = f"{out} is the file of {other}, too; give another name"
            raise typer.BadParameter(said, ctx=context, param=parameter)
        if os.path.isfile(out) and _has_judgements(out):
            said = f"{out} has judgements, which only people can make again; give another name, or move the file"
            raise typer.BadParameter(said, ctx=context, param=parameter)


def _has_judgements(path: Path) -> bool:
    if path.suffix.lower() not in (".csv", ".tsv"):  # before an import that takes time
        return False
    from juryrank.tasks.judge.store import has_judgements

    return has_judgements(path)


def _paths(value: Any) -> Iterator[Path]:
    yield from (path for path in (value if isinstance(value, list | tuple) else [value]) if isinstance(path, Path))


def _replaces(out: Path, read: Path) -> bool:
    """Whether ``out``, a file or a folder of files, is or contains what is read, or is a part of it."""
    inside = (os.path.isfile(out) and _same(out.parent, read)) or (os.path.isdir(out) and _same(out, read.parent))
    return _same(out, read) or inside


def _same(one: Path, other: Path) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
