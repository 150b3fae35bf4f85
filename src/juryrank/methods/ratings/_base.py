"""Ratings that move after every list: from data in one go, or game by game as they come."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.rankings import Floats
from juryrank.errors import DataError
from juryrank.kernels.ratings_online import MOST_GAMES, play, play_all
from juryrank.methods.base import Aggregator, weights_param

MOST_IN_ALL = 100 * MOST_GAMES  # that the weights of all lists may ask for
IN_A_ROW = MOST_GAMES  # games between two chances to interrupt


class Start(NamedTuple):
    """What a kernel of ratings takes: its kind, the first mean and spread, and its settings."""

    kind: int
    mean: float
    spread: float
    step: float
    scale: float
    drift: float


@dataclass(kw_only=True)
class Online(Aggregator):
    """Score = rating after all lists of the query, played in the order in which they are stored."""

    weights: Mapping[str, float] | None = weights_param()

    def stream(self) -> Stream:
        """Ratings to be moved game by game, from their first values."""
        self._check()
        return Stream(self)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        start, r = self._start(), rankings
        spread = np.full(r.n_slots, start.spread)
        out[:] = start.mean
        settings = (start.kind, start.step, start.scale, start.drift)
        weight = self.list_weights(r)
        lists = (r.entry_ptr, r.entry_slot, r.entry_rank, weight)
        for begin, end in blocks(self._games(r, weight)):
            play_all(np.clip(r.list_ptr, begin, end), *lists, *settings, spread, out)
        out[:] = self.rating(out, spread)

    def _games(self, r: Rankings, weight: Floats) -> Floats:
        """How many comparisons of two items each list plays; a DataError where its weight makes them too many."""
        games: Floats = np.ceil(weight) * np.maximum(r.list_size * (r.list_size - 1) // 2, 1)
        heavy = np.where(weight > 1, games, 0.0)
        largest, total = heavy.max(initial=0.0), heavy.sum()
        if largest > MOST_GAMES or total > MOST_IN_ALL:
            m = int(heavy.argmax())
            raise DataError(
                f"{self.name} plays a list of weight w w times, up to {MOST_GAMES} comparisons of two items for one "
                f"list and {MOST_IN_ALL} for all lists; a list of expert {r.experts[r.list_expert[m]]!r} in query "
                f"{r.queries[r.list_query[m]]!r} has weight {weight[m]:g}, and all weights ask for {total:g} "
                "comparisons; divide the weights by a number, or use bradley-terry"
            )
        return games

    @abstractmethod
    def _start(self) -> Start:
        """The kernel and its settings."""

    def rating(self, mean: Any, spread: Any) -> Any:
        """The score that a mean and its spread make (numbers or arrays)."""
        return mean


def blocks(games: Floats) -> Iterator[tuple[int, int]]:
    """The lists from begin to end, in order, of about ``IN_A_ROW`` games together: kernels cannot be interrupted."""
    number = np.floor_divide(np.cumsum(games) - games, IN_A_ROW)
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(games)]
    return pairwise(edges)


class Stream:
    """Ratings that move as games come in.

    >>> from juryrank.methods import Elo
    >>> stream = Elo().stream()
    >>> stream.update(["a", "b"])
    >>> stream.update(["c", ("a", "b")])
    >>> {item: round(rating, 1) for item, rating in stream.ratings().items()}
    {'c': 1008.0, 'a': 1003.7, 'b': 988.3}
    """

    def __init__(self, model: Online) -> None:
        self.model = model
        self._start = model._start()
        self._settings = (self._start.step, self._start.scale, self._start.drift)
        self._number: dict[str, int] = {}
        self._mean, self._spread = np.full(64, self._start.mean), np.full(64, self._start.spread)

    def update(self, game: Sequence[Any] | Dataset | Rankings, weight: float = 1.0) -> None:
        """Move the ratings by one game (items, best first; an inner tuple is a tie), or by all lists of a data set."""
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
            raise DataError(f"an item plays once in a game, got {game!r}")
        play(
            self._start.kind, np.array(slot, np.int32), np.array(ranks), float(weight),
            self._mean, self._spread, *self._settings,
        )  # fmt: skip

    def ratings(self) -> dict[str, float]:
        """``{item: rating}``, best first."""
        n = len(self._number)
        rated = zip(self._number, self.model.rating(self._mean[:n], self._spread[:n]).tolist(), strict=True)
        return dict(sorted(rated, key=lambda pair: -pair[1]))

    def spread(self, item: Any) -> float:
        """How uncertain the rating of an item is; 0 for methods that do not say."""
        return float(self._spread[self._numbers([item])[0]])

    def _update_all(self, r: Rankings) -> None:
        weight = self.model.list_weights(r)
        self.model._games(r, weight)
        number = np.array(self._numbers(r.items[r.slot_item].tolist()), np.int32)
        for m in range(r.n_lists):
            here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
            play(
                self._start.kind, number[r.entry_slot[here]], r.entry_rank[here].copy(), float(weight[m]),
                self._mean, self._spread, *self._settings,
            )  # fmt: skip

    def _numbers(self, items: Iterable[Any]) -> list[int]:
        numbers = [self._number.setdefault(str(item), len(self._number)) for item in items]
        if len(self._number) > len(self._mean):
            more = max(len(self._number), 2 * len(self._mean)) - len(self._mean)
            self._mean = np.append(self._mean, np.full(more, self._start.mean))
            self._spread = np.append(self._spread, np.full(more, self._start.spread))
        return numbers
