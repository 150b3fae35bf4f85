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
from juryrank.polars import pl
from juryrank.report import Report, Table, counted

SHOWN_JUDGES = 10  # at each end of the table
SHOWN_WITHOUT = 20  # items without a game
NUMBERS = ("score", "low", "high", "best_rank", "worst_rank", "games", "wins", "ties", "group")
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
    """Items from best to worst; all arrays are in that order. ``low`` and ``high`` are NaN without intervals.

    If there are several groups of items that never met, each is from best to worst and has ranks of its own.
    """

    method: str
    items: NDArray[np.object_]
    rank: Ints  # in the group; equal scores share the best of their ranks
    group: Ints  # 1 is the largest
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
    without_games: NDArray[np.object_]  # items that were compared with no other
    judges: tuple[Judge, ...] = ()
    chance: Chance | None = None  # win probability by the difference of scores

    def __repr__(self) -> str:
        return f"Leaderboard({counted(len(self.items), 'item')} by {self.method})"

    def __len__(self) -> int:
        return len(self.items)

    def win_probability(self) -> Floats:
        """[n, n]: the probability that the item of a row beats the item of a column; NaN between groups, ties aside."""
        if self.chance is None:
            raise DataError(f"{self.method} gives scores without odds; use bradley-terry for win probabilities")
        chances = self.chance(self.score[:, None] - self.score[None, :])
        return np.where(self.group[:, None] == self.group[None, :], chances, np.nan)

    @property
    def n_groups(self) -> int:
        """The number of groups of items that never met."""
        return int(self.group.max(initial=0))

    def tables(self, percent: bool | None = None) -> list[Table]:
        found = [self._board()]
        if len(self.without_games):
            found.append(self._without_games())
        return [*found, self._judges()] if self.judges else found

    def _board(self) -> Table:
        grouped = self.n_groups > 1
        heads = ["rank", "item", "score", "interval", "ranks", "games", "wins", "ties"]
        rows = [
            [
                *([str(self.group[n])] if grouped else []),
                str(self.rank[n]), str(self.items[n]), f"{self.score[n]:z.3f}", _interval(self.low[n], self.high[n]),
                _ranks(self.best_rank[n], self.worst_rank[n]), _count(self.games[n]), _count(self.wins[n]),
                _count(self.ties[n]),
            ]
            for n in range(len(self))
        ]  # fmt: skip
        intervals = f"{self.level:.0%} intervals by {self.interval}" if self.interval != "none" else "no intervals"
        note = f"{self.method}; {intervals}."
        if grouped:
            note += f" {self.n_groups} groups of items never met: scores and ranks say nothing between groups."
        return Table("", [*(["group"] if grouped else []), *heads], rows, n_names=2 + grouped, note=note)

    def _without_games(self) -> Table:
        names = [[str(item)] for item in self.without_games]
        note = f"{counted(len(names), 'item is', 'items are')} in no comparison, so without a rank."
        if (left_out := len(names) - SHOWN_WITHOUT) > 0:
            names = [*names[:SHOWN_WITHOUT], ["…"]]
            note += f" {left_out} of them {'is' if left_out == 1 else 'are'} not shown; JSON has all."
        return Table("Without a game", ["item"], names, note=note)

    def _judges(self) -> Table:
        """The judges, most reliable first; if there are many, only the first and the last."""
        rows = [[j.name, _count(j.comparisons), f"{j.agreement:.3f}", f"{j.reliability:.3f}"] for j in self.judges]
        note = "Agreement: share of decided comparisons in the order of the board. Reliability: by crowd-bt."
        if (left_out := len(rows) - 2 * SHOWN_JUDGES) > 0:
            rows = [*rows[:SHOWN_JUDGES], ["…", "", "", ""], *rows[-SHOWN_JUDGES:]]
            note += f" {counted(left_out, 'judge in between is', 'judges in between are')} not shown; JSON has all."
        return Table("Judges", ["expert", "comparisons", "agreement", "reliability"], rows, note=note)

    def rows(self) -> list[dict[str, Any]]:
        columns = {name: getattr(self, name).tolist() for name in ("rank", *NUMBERS)}
        found = [
            {"rank": columns["rank"][n], "item": str(item), **{name: columns[name][n] for name in NUMBERS}}
            for n, item in enumerate(self.items)
        ]
        nothing = dict.fromkeys(NUMBERS) | {"games": 0.0, "wins": 0.0, "ties": 0.0}
        return found + [{"rank": None, "item": str(item), **nothing} for item in self.without_games]

    def to_dict(self) -> dict[str, Any]:
        head = {"method": self.method, "interval": self.interval, "level": self.level, "groups": self.n_groups}
        without = [str(item) for item in self.without_games]
        return {
            **head, "items": self.rows()[: len(self)], "without_games": without,
            "judges": [vars(judge) for judge in self.judges],
        }  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per item, best first, and those without a game, with nulls, at the end."""
        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw scores with their intervals to an image file."""
        from juryrank.tasks.leaderboard.plots import draw_intervals

        label = f"score by {self.method}, {self.level:.0%} interval by {self.interval}"
        draw_intervals(path, self.items, self.score, self.low, self.high, self.group, label)

    def plot_wins(self, path: str | PathLike[str]) -> None:
        """Draw the probabilities that each item beats each other one to an image file."""
        from juryrank.tasks.leaderboard.plots import draw_wins

        title = f"probability that the row beats the column ({self.method})"
        draw_wins(path, self.items, self.win_probability(), title)


def _interval(low: float, high: float) -> str:
    return "–" if np.isnan(low) else f"{low:z.3f} … {high:z.3f}"


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"


def _count(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"
