"""A table: text in columns, with the properties that formats need."""

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
