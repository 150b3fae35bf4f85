"""Options that belong together are declared once, as the fields of a dataclass that a command takes as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def expand_groups(run: Callable[..., None], *unseen: type) -> Callable[..., None]:
    """The command as typer takes it: in place of a parameter whose type is a dataclass, one parameter per field.

    The fields of ``unseen`` dataclasses are options that act by their callbacks; the command does not get them.
    """
    given = inspect.signature(run, eval_str=True).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in given if is_dataclass(p.annotation)}

    def command(**values: Any) -> None:
        for option in others:
            values.pop(option.name)
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        run(**values)

    others = [one for group in unseen for one in _parameters(group)]
    own = [one for p in given for one in (_parameters(groups[p.name]) if p.name in groups else [_keyword_only(p)])]
    expanded = [*own, *others]
    command.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in expanded}
    command.__doc__ = run.__doc__
    return command


def _parameters(group: Any) -> list[inspect.Parameter]:
    types = get_type_hints(group, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(f.name, keyword, default=f.default, annotation=types[f.name]) for f in fields(group)]


def _keyword_only(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
