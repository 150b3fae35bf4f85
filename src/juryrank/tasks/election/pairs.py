"""Pairwise majorities of one election: counts, margins, Condorcet winner, weak winners, Smith set, cycles, picture."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.io.pictures import saved_drawing
from juryrank.methods.elections.rounds import listed, number
from juryrank.methods.pairwise.majorities import Majorities
from juryrank.report.figure import drawn_names

ROUNDING = 1e-9  # of the largest count: smaller margins are ties of sums of weights
ANNOTATED_UP_TO = 25  # candidates for which the counts fit into the cells


@dataclass(frozen=True, eq=False)
class Pairs:
    """``counts[i, j]`` ballots have candidate i above candidate j; a candidate that a ballot leaves out is last."""

    names: tuple[str, ...]
    counts: Floats

    @cached_property
    def margins(self) -> Floats:
        """[n, n]: the count of the row over the column, less the count of the column over the row; 0 for a tie."""
        margin = self.counts - self.counts.T
        return np.where(np.abs(margin) <= ROUNDING * self.counts.max(initial=0.0), 0.0, margin)

    @cached_property
    def majorities(self) -> Majorities:
        """Who beats whom by majority."""
        return Majorities(self.margins)

    @property
    def condorcet_winner(self) -> str | None:
        """The candidate that beats every other one by majority, if there is one."""
        winner = self.majorities.winner
        return None if winner is None else self.names[winner]

    @property
    def unbeaten(self) -> tuple[str, ...]:
        """The candidates that nobody beats by majority."""
        return tuple(self.names[i] for i in self.majorities.unbeaten)

    @property
    def smith_set(self) -> tuple[str, ...]:
        """The smallest group of candidates each of whom beats everyone outside it by majority."""
        return tuple(self.names[i] for i in self.majorities.smith_set)

    def cycle(self) -> list[str]:
        """A shortest cycle of majorities in the Smith set: each beats the next one, the last the first; or none."""
        members = self.majorities.smith_set.tolist()
        beats = {i: [j for j in members if self.margins[i, j] > 0] for i in members}
        found = min(filter(None, (_cycle_through(i, beats) for i in members)), key=len, default=[])
        return [self.names[i] for i in found]

    def sentence(self) -> str:
        """Whether there is a Condorcet winner, weak ones or a cycle, in plain words."""
        if len(self.names) < 2:
            return ""
        if (winner := self.condorcet_winner) is not None:
            others = "the other candidate" if len(self.names) == 2 else "every other candidate"
            return f"{winner} beats {others} in pairs (Condorcet winner)."
        if unbeaten := self.unbeaten:
            one = unbeaten[0]
            i = self.names.index(one)
            j = next(j for j in range(len(self.names)) if j != i and self.margins[i, j] == 0)
            weak = "weak Condorcet winners" if len(unbeaten) > 1 else "a weak Condorcet winner"
            tie = f"{one} and {self.names[j]} tie {number(self.counts[i, j])} to {number(self.counts[j, i])}"
            return f"There is no Condorcet winner: nobody beats {listed(unbeaten)} in pairs ({weak}); {tie}."
        cycle = self.cycle()
        steps = listed([self._beats(a, b) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)])
        return f"There is no Condorcet winner but a cycle: {steps}. Smith set: {listed(self.smith_set)}."

    def _beats(self, one: str, other: str) -> str:
        i, j = self.names.index(one), self.names.index(other)
        return f"{one} beats {other} {number(self.counts[i, j])} to {number(self.counts[j, i])}"


def count_pairs(r: Rankings, weights: Floats) -> Pairs:
    """The pairs of the one query of ``r``."""
    n = r.n_slots
    place = np.full((r.n_lists, n), np.inf)
    owner = np.repeat(np.arange(r.n_lists), r.list_size)
    place[owner, r.entry_slot] = r.entry_rank
    distinct, kind = np.unique(place, axis=0, return_inverse=True)
    weight = np.bincount(kind.ravel(), weights, len(distinct))
    counts = np.array([weight @ (distinct[:, [i]] < distinct) for i in range(n)]).reshape(n, n)
    return Pairs(tuple(r.items[r.slot_item].tolist()), counts)


def _cycle_through(start: int, beats: dict[int, list[int]]) -> list[int]:
    """A shortest path along majorities from a candidate back to itself."""
    before: dict[int, int] = {}
    queue = deque([start])
    while queue:
        one = queue.popleft()
        for other in beats[one]:
            if other == start:
                path = [one]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            if other not in before:
                before[other] = one
                queue.append(other)
    return []


def draw_pairs(path: str | PathLike[str], candidates: Iterable[object], counts: Floats, margins: Floats) -> None:
    """The ballots with the candidate of each row above that of each column; blue where the row wins, red where not."""
    n = len(counts)
    reach = float(np.abs(margins).max(initial=0.0)) or 1.0
    with saved_drawing(path, 2.5 + 0.55 * n, 2.0 + 0.55 * n) as figure:
        axes = figure.subplots()
        shown = np.where(np.eye(n, dtype=bool), np.nan, margins)
        image = axes.imshow(shown, cmap="RdBu", vmin=-reach, vmax=reach)
        names = drawn_names(candidates)
        axes.set_xticks(np.arange(n), names, rotation=90)
        axes.set_yticks(np.arange(n), names)
        axes.set_title("ballots with the row above the column")
        if n <= ANNOTATED_UP_TO:
            for i, j in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
                dark = abs(margins[i, j]) > 0.6 * reach
                text = number(float(counts[i, j]))
                axes.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        figure.colorbar(image, ax=axes, shrink=0.8, label="margin")
