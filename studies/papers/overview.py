"""Rows of the overview: verdicts from what holds, and the parameters that a paper does not state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studies.papers.findings import EXCEPT, IMPOSSIBLE, NOT, REPRODUCED, OverviewRow
from studies.tables import Table


def judged(parts: Mapping[str, bool]) -> str:
    """The verdict on a table or figure: its parts by name, and whether each is reproduced.

    >>> judged({"the first row": True, "the last row": True}), judged({"the first row": True, "the last row": False})
    ('reproduced', 'reproduced except the last row')
    >>> judged({"the only row is lower": False})
    'not reproduced: the only row is lower'
    """
    missing = [name for name, holds in parts.items() if not holds]
    if not missing:
        return REPRODUCED
    return f"{EXCEPT if len(missing) < len(parts) else f'{NOT}:'} {'; '.join(missing)}"


def absent(what: str, printed: str, name: str) -> OverviewRow:
    """A table or figure on data that are not there."""
    return OverviewRow(what, printed, "", "", f"{IMPOSSIBLE}: {name} is not in the folder of data")


def without_results(what: str, shown: str) -> OverviewRow:
    """Tables and figures that only explain something."""
    return OverviewRow(what, shown, "", "", f"{IMPOSSIBLE}: no results, nothing to repeat")


UNSTATED = "Parameters that the paper does not state"


def unstated(rows: Sequence[Sequence[str]]) -> Table:
    """Parameters that we had to choose: name, value, how."""
    columns = ["parameter", "value", "how it was chosen"]
    return Table(UNSTATED, columns, [list(row) for row in rows], n_names=3)
