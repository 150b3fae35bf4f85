"""A table: text in columns, with the properties that formats need; numbers and counts as text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from juryrank.report.escapes import escape_controls

Cells = Sequence[str]


@dataclass(frozen=True)
class Table:
    """Text in columns; the first ``n_names`` columns are names, the others numbers. Control characters are escaped."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    n_names: int = 1
    note: str = ""
    groups: Sequence[int] = ()  # sizes of groups of number columns that stay together; by default each is separate
    best: Sequence[int] = ()  # columns whose largest number is the best

    def __post_init__(self) -> None:
        shown = {
            "title": escape_controls(self.title),
            "columns": tuple(map(escape_controls, self.columns)),
            "rows": tuple(tuple(map(escape_controls, row)) for row in self.rows),
            "note": escape_controls(self.note),
            "groups": tuple(self.groups),
            "best": tuple(self.best),
        }
        for name, value in shown.items():
            object.__setattr__(self, name, value)
        if self.groups and sum(self.groups) != len(self.columns) - self.n_names:
            raise ValueError(f"groups of {sum(self.groups)} for {len(self.columns) - self.n_names} columns of numbers")


def number(value: float | None, percent: bool = False, sign: str = "") -> str:
    """A mean or a difference as text: 4 decimals, or times 100 with 2."""
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:{sign}.2f}" if percent else f"{value:{sign}.4f}"


def p_value(p: float | None) -> str:
    """A p-value as text."""
    if p is None or math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def counted(n: int, singular: str, plural: str = "") -> str:
    """A count of things as text.

    >>> counted(1, "task"), counted(2, "task"), counted(1, "task is", "tasks are"), counted(0, "query")
    ('1 task', '2 tasks', '1 task is', '0 queries')
    """
    regular = f"{singular[:-1]}ies" if singular.endswith("ry") else f"{singular}s"
    return f"{n} {singular if n == 1 else plural or regular}"
