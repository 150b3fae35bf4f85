"""The rounds of a count, as rules report them in ``Consensus.details["rounds"]``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SHOWN = 6  # names in a sentence


class Round(NamedTuple):
    """One round: the votes at its beginning, and what follows from them."""

    counts: dict[str, float]  # candidate -> votes, of the candidates that are still in, best first
    elected: tuple[str, ...] = ()
    eliminated: tuple[str, ...] = ()
    exhausted: float = 0.0  # votes of ballots that rank none of the candidates that are still in
    note: str = ""  # what happened, in plain sentences


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"])
    ('A', 'A and B', 'A, B and C')
    """
    if len(names) > SHOWN:
        return f"{', '.join(names[: SHOWN - 1])} and {len(names) - SHOWN + 1} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def all_of(names: Sequence[str]) -> str:
    """``both`` or ``all``."""
    return "both" if len(names) == 2 else "all"


def counted(value: float, what: str) -> str:
    """A number of things.

    >>> counted(1, "ballot"), counted(2.5, "ballot")
    ('1 ballot', '2.5 ballots')
    """
    return f"{number(value)} {what}{'s' * (value != 1)}"


def number(value: float) -> str:
    """A number of votes: whole, or with up to five digits after the point, as in Scotland's counts.

    >>> number(1234567.0), number(2 / 3)
    ('1234567', '0.66667')
    """
    return f"{value:.5f}".rstrip("0").rstrip(".")
