"""Values of options without pydantic, by which typer converts them: its import takes as long as that of numpy.

Only values that cannot be wrong are converted here. typer converts the others, so all error messages are its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

LONGEST = 15  # digits of a number that is converted here

_Unclear = object()  # in place of a value that typer must convert


def value_types(command: Callable[..., Any]) -> dict[str, Any]:
    """The type of each parameter of a command, or of its elements if it is a list."""
    return {name: _base(parameter.annotation) for name, parameter in signature(command).parameters.items()}


def _base(annotation: Any) -> Any:
    """``Path`` of ``Annotated[list[Path] | None, …]``."""
    while (origin := get_origin(annotation)) is not None:
        inner = [each for each in get_args(annotation) if each is not type(None)]
        if origin in (Union, UnionType) and len(inner) > 1:
            return None
        annotation = inner[0]
    return annotation


def convert_quickly(parameters: list[Any], types: Mapping[str, Any]) -> None:
    """Convert the values of these parameters of a command here, where that is possible."""
    for parameter in parameters:
        parameter.process_value = partial(_process, parameter, types.get(parameter.name), parameter.process_value)


def _process(parameter: Any, kind: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """As ``process_value`` of the parameter, which is ``convert``."""
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if not several:
        found = _quick(value, kind, parameter)
    elif value is None or isinstance(value, list | tuple):
        found = [_quick(each, kind, parameter) for each in value or ()]
    else:
        found = _Unclear
    unclear = found is _Unclear or (several and _Unclear in found)
    if unclear or (parameter.required and found in (None, [])):
        return convert(context, value)
    return found if parameter.callback is None else parameter.callback(context, parameter, found)


def _quick(value: Any, kind: Any, parameter: Any) -> Any:
    if value is None or (type(value) is kind and kind in (bool, int, float)):  # the default
        return value
    if type(value) is not str or not _is_unicode(value):
        return _Unclear
    if kind is str:
        return value
    if kind is Path and (not os.path.exists(value) or os.access(value, os.R_OK)):
        return Path(value)
    if kind is int and value.isascii() and value.isdigit() and len(value) <= LONGEST:
        least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
        if (least is None or int(value) >= least) and most is None:
            return int(value)
    return _Unclear


def _is_unicode(text: str) -> bool:
    """Whether a text is no name of a file in another encoding, which Python writes with surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
