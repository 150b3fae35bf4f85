"""A table: text in columns, with what a format needs to know to draw it."""

from collections.abc import Sequence
from dataclasses import dataclass

Cells = Sequence[str]


@dataclass(frozen=True)
class Table:
    """Text in columns; the first ``n_names`` columns are names, the others numbers."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    n_names: int = 1
    note: str = ""
    groups: Sequence[int] = ()  # sizes of groups of number columns that stay together; by default each is alone
    best: Sequence[int] = ()  # columns whose largest number is the best

    def __post_init__(self) -> None:
        if self.groups and sum(self.groups) != len(self.columns) - self.n_names:
            raise ValueError(f"groups of {sum(self.groups)} for {len(self.columns) - self.n_names} columns of numbers")
