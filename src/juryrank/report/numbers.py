"""Numbers and counts as text."""

import math


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
