"""Lists as ballots to write: groups of tied candidates, best first, with a count."""

from __future__ import annotations

from collections.abc import Sequence

from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.io.dataset_frames import entries_of, unranked_slots
from juryrank.io.write_checks import demand_one_line, demand_one_query, warn_of_loss

Ballot = tuple[list[list[str]], str]  # groups of names, and the count as text


def written_ballots(
    data: Dataset, what: str, without: Sequence[str] = (), *, all_named: bool = False, titled: bool = False
) -> list[Ballot]:
    """The lists of a dataset of one query; an error for a name that contains one of ``without``.

    Candidates that nobody ranks are left out, with a warning, unless the file has a place for them (``all_named``). The
    name of the query is lost, unless the file has a place for it (``titled``).
    """
    r = data.rankings
    if not (titled and len(r) == 1):
        demand_one_query(r, f"a file of {what}")
    demand_one_line(r.items, f"a file of {what}")
    if bad := [name for name in r.items if any(mark in name for mark in without)]:
        marks = " or ".join(without)
        raise DataError(f"{what} cannot represent a name with {marks}: {bad[0]!r}; write a table instead")
    if not r.n_entries:
        raise DataError(f"there are no lists to write as {what}")
    if not all_named:
        warn_of_loss(len(unranked_slots(r)), "candidates that nobody ranks are left out")
    ballots: list[Ballot] = []
    for rows in entries_of(r).partition_by("list", maintain_order=True):
        groups = [part["item"].to_list() for part in rows.partition_by("rank", maintain_order=True)]
        weight = float(rows["weight"][0])
        ballots.append((groups, str(int(weight)) if weight.is_integer() else repr(weight)))
    return ballots
