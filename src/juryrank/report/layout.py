"""A table as lines of text that fit into a width.

Numbers are never wrapped or shortened. Columns that do not fit next to each other follow below in further blocks, each
with the name columns repeated. Names that are too long are shortened in the middle, but stay distinct.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, zip_longest

from juryrank.report.table import Table

Line = tuple[str, str]  # kind (title, head, rule, row, note or gap) and text

GAP = "  "
LONGEST_HEAD = 16  # width of a heading, or as wide as the numbers below it, if the table does not fit
LEAST_NAMES = 12  # with less space for names, groups of columns are split
NOTE_WIDTH = 100
NUMBER = re.compile(r"[-+<]?[\d.,/%–]+")


def table_lines(table: Table, width: int) -> list[Line]:
    """The lines of a table, in blocks where it is wider than ``width``."""
    columns = [list(column) for column in zip(table.columns, *table.rows, strict=True)]
    names, numbers = columns[: table.n_names], columns[table.n_names :]
    lines: list[Line] = [("title", line) for line in _wrap(table.title, width)]
    for n, block in enumerate(_blocks(names, numbers, table.groups, width)):
        lines += [("gap", "")] if n else []
        lines += _block_lines(block, len(names))
    return lines + [("note", line) for line in _wrap(table.note, min(width, NOTE_WIDTH))]


def cut(text: str, width: int) -> str:
    """A text shortened in the middle to ``width``.

    >>> cut("a-long-name.run", 9), cut("short", 9)
    ('a-lo….run', 'short')
    """
    if _width(text) <= width:
        return text
    head, tail = _start(text, width // 2), _start(text[::-1], (width - 1) // 2)[::-1]
    return f"{head}…{tail}"


def cut_distinct(texts: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Texts shortened to their widths, or to slightly more if different texts would become equal."""
    for more in count():
        short = [cut(text, width + more) for text, width in zip(texts, widths, strict=True)]
        if len(set(short)) == len(set(texts)):
            return short
    raise AssertionError


def _blocks(
    names: list[list[str]], numbers: list[list[str]], sizes: Sequence[int], width: int
) -> Iterator[list[list[str]]]:
    """Blocks of columns that fit next to each other."""
    if _total([*names, *numbers]) <= width:
        yield [*names, *numbers]
        return
    heads = [column[0] for column in numbers]
    limits = [max(LONGEST_HEAD, _widest(column[1:])) for column in numbers]
    numbers = [[head, *column[1:]] for head, column in zip(cut_distinct(heads, limits), numbers, strict=True)]
    groups = _group_columns(numbers, sizes)
    widest = max(map(_total, groups), default=0)
    if width - len(GAP) - widest < min(_total(names), LEAST_NAMES):
        groups = [[column] for column in numbers]
        widest = max(map(_total, groups), default=0)
    half = max(width // 2, width - len(GAP) - _total(numbers))
    names = _narrow_names(names, max(min(half, width - len(GAP) - widest), LEAST_NAMES))
    room = width - len(GAP) - _total(names)
    block: list[list[str]] = []
    for group in [[_fold_column(column, room) for column in group] for group in groups]:
        if block and _total([*block, *group]) > room:
            yield [*names, *block]
            block = []
        block += group
    yield [*names, *block]


def _group_columns(columns: list[list[str]], sizes: Sequence[int]) -> list[list[list[str]]]:
    """Columns in groups of these sizes; without sizes, each column is its own group."""
    rest = iter(columns)
    return [[next(rest) for _ in range(size)] for size in sizes or [1] * len(columns)]


def _narrow_names(names: list[list[str]], room: int) -> list[list[str]]:
    """Name columns that fit into ``room``, the widest shortened first; numbers are not shortened."""
    widths = [_widest(column) for column in names]
    least = [max(4, _widest(cell for cell in column if NUMBER.fullmatch(cell))) for column in names]
    while sum(widths) + len(GAP) * (len(names) - 1) > room:
        spare = [width - least[n] for n, width in enumerate(widths)]
        if max(spare) <= 0:
            break
        widths[max((n for n in range(len(names)) if spare[n] > 0), key=widths.__getitem__)] -= 1
    return [cut_distinct(column, [width] * len(column)) for column, width in zip(names, widths, strict=True)]


def _fold_column(column: list[str], room: int) -> list[str]:
    """A column with texts wider than ``room`` wrapped between words."""
    if _widest(column) <= room:
        return column
    return ["\n".join(_wrap(cell, room)) for cell in column]


def _block_lines(columns: list[list[str]], n_names: int) -> list[Line]:
    widths = [_widest(column) for column in columns]
    to_left = [n < n_names or any("\n" in cell for cell in column) for n, column in enumerate(columns)]

    def lines(cells: Sequence[str], kind: str) -> Iterator[Line]:
        for parts in zip_longest(*(cell.split("\n") for cell in cells), fillvalue=""):
            blanks = [" " * (width - _width(part)) for part, width in zip(parts, widths, strict=True)]
            placed = [part + b if left else b + part for part, b, left in zip(parts, blanks, to_left, strict=True)]
            yield kind, GAP.join(placed).rstrip(" \u00a0")

    head, *body = zip(*columns, strict=True)
    rule = "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
    return [*lines(head, "head"), ("rule", rule), *(line for cells in body for line in lines(cells, "row"))]


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_long_words=False, break_on_hyphens=False)


def _start(text: str, width: int) -> str:
    """The longest prefix of a text that is no wider than ``width``."""
    end = min(len(text), width)
    while _width(text[:end]) > width:
        end -= 1
    return text[:end]


def _total(columns: Sequence[Sequence[str]]) -> int:
    """The width of columns next to each other."""
    return sum(map(_widest, columns)) + len(GAP) * max(0, len(columns) - 1)


def _widest(cells: Iterable[str]) -> int:
    return max((_width(line) for cell in cells for line in cell.split("\n")), default=0)


def _width(text: str) -> int:
    """The width of a text in terminal columns: East Asian characters are twice as wide."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
