"""What the online ratings share: updates after every list, for a whole dataset or game by game."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.arrays import Codes, Floats
from juryrank.errors import DataError
from juryrank.kernels.ratings_online import MOST_GAMES, Game, play_all
from juryrank.methods.base import Aggregator, weights_param
from juryrank.params import param

TOTAL_LIMIT = 100 * MOST_GAMES  # comparisons of all lists with a weight above 1
BLOCK_GAMES = MOST_GAMES  # between two points at which the user can interrupt


class Settings(NamedTuple):
    """The settings of a kernel of ratings: its kind, the initial mean and spread, and its parameters."""

    kind: int
    mean: float
    spread: float
    step: float
    scale: float
    drift: float


@dataclass(kw_only=True)
class Online(Aggregator):
    """Score = rating after all lists of the query, in the order in which they are stored."""

    weights: Mapping[str, float] | None = weights_param()

    def stream(self) -> Stream:
        """Ratings to be updated game by game, from their initial values."""
        self.check()
        return Stream(self)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        settings, r = self.settings(), rankings
        spread = np.full(r.n_slots, settings.spread)
        out[:] = settings.mean
        update = (settings.kind, settings.step, settings.scale, settings.drift)
        weight = self.list_weights(r)
        lists = (r.entry_ptr, r.entry_slot, r.entry_rank, weight)
        for begin, end in blocks(self.count_games(r, weight)):
            play_all(np.clip(r.list_ptr, begin, end), *lists, *update, spread, out)
        out[:] = self.rating(out, spread)

    def count_games(self, r: Rankings, weight: Floats) -> Floats:
        """The number of comparisons of two items of each list; a DataError if its weight makes them too many."""
        games: Floats = np.ceil(weight) * np.maximum(r.list_size * (r.list_size - 1) // 2, 1)
        heavy = np.where(weight > 1, games, 0.0)
        largest, total = heavy.max(initial=0.0), heavy.sum()
        if largest > MOST_GAMES or total > TOTAL_LIMIT:
            m = int(heavy.argmax())
            raise DataError(
                f"{self.name} repeats a list of weight w w times, up to {MOST_GAMES} comparisons of two items for one "
                f"list and {TOTAL_LIMIT} for all lists; a list of expert {r.experts[r.list_expert[m]]!r} in query "
                f"{r.queries[r.list_query[m]]!r} has weight {weight[m]:g}, and all weights together make {total:g} "
                "comparisons; divide the weights by a number, or use bradley-terry"
            )
        return games

    @abstractmethod
    def settings(self) -> Settings:
        """The kind of rating and its settings."""

    def rating(self, mean: Any, spread: Any) -> Any:
        """The score for a mean and its spread (numbers or arrays)."""
        return mean


@dataclass(kw_only=True)
class Skill(Online):
    """A rating that is a normal belief: score = its mean, minus ``caution`` times its spread."""

    mean: float = param(25.0, "mean of the belief before the first game")
    spread: float = param(25 / 3, "standard deviation of the belief before the first game", above=0)
    beta: float = param(25 / 6, "standard deviation of one performance around the skill", above=0)
    drift: float = param(25 / 300, "standard deviation added to a skill before each game", at_least=0)
    caution: float = param(
        0.0, "standard deviations subtracted from the mean; 3 gives a conservative rating", at_least=0
    )

    def settings(self) -> Settings:
        return Settings(self._kind(), float(self.mean), float(self.spread), 0.0, float(self.beta), float(self.drift))

    def rating(self, mean: Any, spread: Any) -> Any:
        return mean - self.caution * spread

    @abstractmethod
    def _kind(self) -> int:
        """One of the kinds of ``kernels/ratings_online.py``."""


def blocks(games: Floats) -> Iterator[tuple[int, int]]:
    """Begin and end of blocks of lists with about ``BLOCK_GAMES`` games each: kernels cannot be interrupted."""
    number = np.floor_divide(np.cumsum(games) - games, BLOCK_GAMES)
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(games)]
    return pairwise(edges)


class Stream:
    """Ratings that are updated game by game.

    >>> from juryrank.methods import Elo
    >>> stream = Elo().stream()
    >>> stream.update(["a", "b"])
    >>> stream.update(["c", ("a", "b")])
    >>> {item: round(rating, 1) for item, rating in stream.ratings().items()}
    {'c': 1008.0, 'a': 1003.7, 'b': 988.3}
    """

    def __init__(self, model: Online) -> None:
        self.model = model
        self._settings = model.settings()
        self._game = self._make_game(16)
        self._number: dict[str, int] = {}
        self._mean, self._spread = np.full(64, self._settings.mean), np.full(64, self._settings.spread)

    def update(self, game: Sequence[Any] | Dataset | Rankings, weight: float = 1.0) -> None:
        """Update by one game (items, best first; an inner tuple is a tie), or by all lists of a dataset."""
        if isinstance(game, Dataset | Rankings):
            self._update_all(as_dataset(game).rankings)
            return
        if isinstance(game, str) or not 0 <= weight <= MOST_GAMES:
            raise DataError(
                f"a game is a sequence of items, best first, with a weight from 0 to {MOST_GAMES}; "
                f"got {game!r}, {weight!r}"
            )
        items, ranks = [], []
        for rank, place in enumerate(game):
            for item in place if isinstance(place, tuple | list | set | frozenset) else (place,):
                items.append(item)
                ranks.append(float(rank))
        slot = self._numbers(items)
        if len(set(slot)) < len(slot):
            raise DataError(f"an item must appear once in a game, got {game!r}")
        self._play(np.array(slot, np.int32), np.array(ranks), float(weight))

    def ratings(self) -> dict[str, float]:
        """``{item: rating}``, best first."""
        n = len(self._number)
        rated = zip(self._number, self.model.rating(self._mean[:n], self._spread[:n]).tolist(), strict=True)
        return dict(sorted(rated, key=lambda pair: -pair[1]))

    def spread(self, item: Any) -> float:
        """The uncertainty of the rating of an item; 0 for methods without one."""
        return float(self._spread[self._numbers([item])[0]])

    def _update_all(self, r: Rankings) -> None:
        weight = self.model.list_weights(r)
        self.model.count_games(r, weight)
        number = np.array(self._numbers(r.items[r.slot_item].tolist()), np.int32)
        for m in range(r.n_lists):
            here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
            self._play(number[r.entry_slot[here]], r.entry_rank[here].copy(), float(weight[m]))

    def _make_game(self, room: int) -> Game:
        s = self._settings
        return Game(room, s.kind, s.step, s.scale, s.drift)

    def _play(self, slot: Codes, rank: Floats, weight: float) -> None:
        if len(slot) > self._game.room:
            self._game = self._make_game(2 * len(slot))
        self._game.update(slot, rank, weight, self._mean, self._spread)

    def _numbers(self, items: Iterable[Any]) -> list[int]:
        numbers = [self._number.setdefault(str(item), len(self._number)) for item in items]
        if len(self._number) > len(self._mean):
            more = max(len(self._number), 2 * len(self._mean)) - len(self._mean)
            self._mean = np.append(self._mean, np.full(more, self._settings.mean))
            self._spread = np.append(self._spread, np.full(more, self._settings.spread))
        return numbers
