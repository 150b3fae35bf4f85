"""``elections``: each query of the data counted as an election of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.ties import TieBreak
from juryrank.errors import DataError, UnknownNameError
from juryrank.evaluation.method_specs import Methods
from juryrank.progress import track
from juryrank.report import Report, Table
from juryrank.tasks.election.election import election
from juryrank.tasks.election.result import Election


def elections(
    data: Dataset | Rankings,
    rules: Methods | None = None,
    *,
    seats: int | None = None,
    tie_break: TieBreak = "none",
    seed: int = 0,
) -> Elections:
    """As ``election``, for data of several elections: the wards of a council, say, one in each query.

    >>> from juryrank import from_dicts
    >>> wards = from_dicts({"Ann": {"North": ["A", "B"]}, "Ben": {"South": ["D", "C"]}, "Eve": {"South": ["D"]}})
    >>> print(elections(wards, "irv").summary())
    North: irv: A
    South: irv: D
    """
    data = as_dataset(data)
    if not len(data.rankings):
        raise DataError("an election needs ballots; the data has none")
    return Elections(
        {
            name: election(data[name], rules, seats=seats, tie_break=tie_break, seed=seed)
            for name in track(data.queries, "elections")
        }
    )


@dataclass(frozen=True, eq=False, repr=False)
class Elections(Report):
    """The results of several elections by name; ``result["North"]`` is that of one."""

    results: Mapping[str, Election]

    def __repr__(self) -> str:
        return f"Elections({len(self.results)} elections)"

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __getitem__(self, name: str) -> Election:
        if name not in self.results:
            raise UnknownNameError.of("election", name, self.results)
        return self.results[name]

    def summary(self) -> str:
        """One line per election and rule."""
        return "\n".join(
            f"{name}: {each.rule}: {each.sentence()}" for name, found in self.results.items() for each in found.results
        )

    def tables(self, percent: bool | None = None) -> list[Table]:
        rows = [
            [name, str(found.seats), each.rule, each.sentence()]
            for name, found in self.results.items()
            for each in found.results
        ]
        first = Table("", ["election", "seats", "rule", "elected"], rows, n_names=4)
        rounds = [
            replace(table, title=f"{name}: {table.title}")
            for name, found in self.results.items()
            for table in found.round_tables()
        ]
        return [first, *rounds]

    def rows(self) -> list[dict[str, Any]]:
        return [{"election": name, **row} for name, found in self.results.items() for row in found.rows()]

    def to_dict(self) -> dict[str, Any]:
        return {"elections": [{"election": name, **found.to_dict()} for name, found in self.results.items()]}
