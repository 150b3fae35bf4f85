"""The rounds of a count, as rules report them in ``Consensus.details["rounds"]``."""

from __future__ import annotations

from typing import NamedTuple


class Round(NamedTuple):
    """One round: the votes at its beginning, and what follows from them."""

    counts: dict[str, float]  # candidate -> votes, of the candidates that are still in, most votes first
    elected: tuple[str, ...] = ()
    eliminated: tuple[str, ...] = ()
    exhausted: float = 0.0  # votes of ballots that rank none of the candidates that are still in
    note: str = ""  # what happened, in plain sentences
