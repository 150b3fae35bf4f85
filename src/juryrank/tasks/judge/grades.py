"""The scale of grades that a judge may give: a range of whole numbers, or names from worst to best."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from juryrank.errors import DataError, ParameterError

RANGE = re.compile(r"(\d)\s*-\s*(\d)")
MOST = 10  # grades: each has a key 0 … 9


@dataclass(frozen=True)
class Grades:
    """Grades from ``lowest`` in steps of 1, with their names; higher is better."""

    lowest: int
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Grades:
        """The scale ``0-3``, or ``no,partly,yes`` for 0, 1 and 2.

        >>> Grades.parse("no, partly, yes").by_key()
        {'0': 'no', '1': 'partly', '2': 'yes'}
        """
        if found := RANGE.fullmatch(text.strip()):
            low, high = map(int, found.groups())
            if low < high:
                ends = {low: "not relevant", high: "perfectly relevant"}
                return cls(low, tuple(ends.get(grade, "") for grade in range(low, high + 1)))
        names = tuple(name.strip() for name in text.split(","))
        shown = all(len(name) > 1 and name.isprintable() for name in names)  # one letter would look like a key
        if not (shown and 2 <= len(names) == len({name.lower() for name in names}) <= MOST):
            raise ParameterError(
                f"grades are a range such as 0-3, or 2 to {MOST} different names from worst to best such as "
                f"no,partly,yes, of more than one letter, got {text!r}"
            )
        return cls(0, names)

    @property
    def highest(self) -> int:
        return self.lowest + len(self.names) - 1

    def __str__(self) -> str:
        return f"{self.lowest}-{self.highest}"

    def by_key(self) -> dict[str, str]:
        """The name of the grade of each key, empty if it has none."""
        return {str(self.lowest + n): name for n, name in enumerate(self.names)}

    def grade_of(self, answer: str) -> int | None:
        """The grade that an answer means: its key or its name."""
        keys = self.by_key()
        if answer in keys:
            return int(answer)
        return next((int(key) for key, name in keys.items() if name and name.lower() == answer.lower()), None)

    def check(self, grades: Iterable[float], where: str) -> None:
        """A DataError for grades that are not on the scale."""
        if outside := sorted({grade for grade in grades if not self.lowest <= grade <= self.highest}):
            raise DataError(
                f"{where}: grades are {self}, but there is {outside[0]:g}; choose the scale of these "
                "judgements with grades=, or another file"
            )
