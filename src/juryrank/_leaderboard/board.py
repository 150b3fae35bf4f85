"""The result of ``leaderboard``: items with scores, intervals, ranks and games, best first; and the judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError
from juryrank.lazy_polars import pl
from juryrank.report import Report, Table

SHOWN_JUDGES = 10  # at each end of the table
Chance = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Judge:
    """One expert: its number of comparisons, the share that agrees with the board, and its reliability by crowd-bt."""

    name: str
    comparisons: float
    agreement: float
    reliability: float


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Report):
    """Items from best to worst; all arrays are in that order. ``low`` and ``high`` are NaN without intervals."""

    method: str
    items: NDArray[np.object_]
    score: Floats
    low: Floats
    high: Floats
    best_rank: Ints  # the rank interval
    worst_rank: Ints
    games: Floats
    wins: Floats
    ties: Floats
    level: float
    interval: str
    judges: tuple[Judge, ...] = ()
    chance: Chance | None = None  # win probability by the difference of scores

    def __repr__(self) -> str:
        return f"Leaderboard({len(self.items)} items by {self.method})"

    def __len__(self) -> int:
        return len(self.items)

    def win_probability(self) -> Floats:
        """[n, n]: the probability that the item of a row beats the item of a column, without ties."""
        if self.chance is None:
            raise DataError(f"{self.method} gives scores without odds; use bradley-terry for win probabilities")
        return self.chance(self.score[:, None] - self.score[None, :])

    def tables(self, percent: bool | None = None) -> list[Table]:
        columns = ["rank", "item", "score", "interval", "ranks", "games", "wins", "ties"]
        rows = [
            [
                str(n + 1), str(self.items[n]), f"{self.score[n]:z.3f}", _interval(self.low[n], self.high[n]),
                _ranks(self.best_rank[n], self.worst_rank[n]), _count(self.games[n]), _count(self.wins[n]),
                _count(self.ties[n]),
            ]
            for n in range(len(self))
        ]  # fmt: skip
        intervals = f"{self.level:.0%} intervals by {self.interval}" if self.interval != "none" else "no intervals"
        board = Table("", columns, rows, n_names=2, note=f"{self.method}; {intervals}.")
        return [board, self._judges()] if self.judges else [board]

    def _judges(self) -> Table:
        """The judges, most reliable first; if there are many, only the first and the last."""
        rows = [[j.name, _count(j.comparisons), f"{j.agreement:.3f}", f"{j.reliability:.3f}"] for j in self.judges]
        note = "Agreement: share of decided comparisons in the order of the board. Reliability: by crowd-bt."
        if (left_out := len(rows) - 2 * SHOWN_JUDGES) > 0:
            rows = [*rows[:SHOWN_JUDGES], ["…", "", "", ""], *rows[-SHOWN_JUDGES:]]
            note += f" {left_out} judges in between are not shown; JSON has all."
        return Table("Judges", ["expert", "comparisons", "agreement", "reliability"], rows, note=note)

    def rows(self) -> list[dict[str, Any]]:
        numbers = ("score", "low", "high", "best_rank", "worst_rank", "games", "wins", "ties")
        columns = {name: getattr(self, name).tolist() for name in numbers}
        names = [str(item) for item in self.items]
        return [
            {"rank": n + 1, "item": names[n], **{name: values[n] for name, values in columns.items()}}
            for n in range(len(self))
        ]

    def to_dict(self) -> dict[str, Any]:
        head = {"method": self.method, "interval": self.interval, "level": self.level}
        return {**head, "items": self.rows(), "judges": [vars(judge) for judge in self.judges]}

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per item, best first."""
        return pl.DataFrame(self.rows())

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw scores with their intervals to an image file."""
        from juryrank._leaderboard.plots import draw_intervals

        label = f"score by {self.method}, {self.level:.0%} interval by {self.interval}"
        draw_intervals(path, self.items, self.score, self.low, self.high, label)

    def plot_wins(self, path: str | PathLike[str]) -> None:
        """Draw the probabilities that each item beats each other one to an image file."""
        from juryrank._leaderboard.plots import draw_wins

        title = f"probability that the row beats the column ({self.method})"
        draw_wins(path, self.items, self.win_probability(), title)


def _interval(low: float, high: float) -> str:
    return "–" if np.isnan(low) else f"{low:z.3f} … {high:z.3f}"


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"


def _count(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"
