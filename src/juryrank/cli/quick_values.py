"""Values of options without pydantic, by which typer converts them: its import takes as long as that of numpy.

Only values that cannot be wrong are converted here. typer converts the others, so all error messages are its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from typer.core import TyperCommand

from juryrank.cli.outputs import demand_other_files

LONGEST = 15  # digits of a number that is converted here

UNCLEAR = object()  # in place of a value that typer must convert


class QuickCommand(TyperCommand):
    """A command whose values are converted here, where that is possible."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        convert_quickly(self, ctx)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # else a shell asks for completions
            self.check_outputs(ctx)
        return rest

    def check_outputs(self, ctx: Any) -> None:
        """Fail if the command would replace what it reads, or judgements."""
        demand_other_files(ctx)


def convert_quickly(command: Any, context: Any) -> None:
    """Convert the values of the options and arguments of a command here, where that is possible."""
    declared = {name: parameter.annotation for name, parameter in signature(command.callback).parameters.items()}
    for parameter in command.get_params(context):
        kind = declared.get(parameter.name)
        parameter.process_value = partial(_process, parameter, kind, parameter.process_value)


def _process(parameter: Any, kind: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """As ``process_value`` of the parameter, which is ``convert``."""
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    given = (value or ()) if several else (value,)
    found: Any = [quick_value(each, kind) for each in given] if isinstance(given, list | tuple) else [UNCLEAR]
    if UNCLEAR in found or (parameter.required and found in ([None], [])):
        return convert(context, value)
    found = found if several else found[0]
    return found if parameter.callback is None else parameter.callback(context, parameter, found)


def quick_value(value: Any, declared: Any) -> Any:
    """The value, or an element of it, as declared: ``Path`` for ``Annotated[list[Path] | None, …]``."""
    kind = value_type(declared)
    if value is None or (type(value) is kind and kind in (bool, int, float)):  # the default
        return value
    if type(value) is not str or not _is_unicode(value):
        return UNCLEAR
    if kind is str:
        return value
    if kind is Path and (not os.path.exists(value) or os.access(value, os.R_OK)):
        return Path(value)
    if kind is int and value.isascii() and value.isdigit() and len(value) <= LONGEST:
        bounds = [getattr(info, name, None) for info in get_args(declared)[1:] for name in ("min", "max")]
        if all(bound is None or bound <= int(value) for bound in bounds[::2]) and not any(bounds[1::2]):
            return int(value)
    return UNCLEAR


def value_type(declared: Any) -> Any:
    """The type of a value, or of an element if the value is a list; None if it may have one of several types."""
    origin = get_origin(declared)
    inner = [each for each in get_args(declared) if each is not type(None)]
    if origin in (Annotated, list) or (origin in (Union, UnionType) and len(inner) == 1):
        return value_type(inner[0])
    return declared if origin is None else None


def _is_unicode(text: str) -> bool:
    """Whether a text is no name of a file in another encoding, which Python writes with surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
