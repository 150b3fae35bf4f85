"""Exploration: a Fuser that varies the weights of its experts from request to request, with known probabilities.

The weights are not drawn anew for each request. A fixed number of variants of the model is drawn once, from a seed, and
each request is served by one of them. So the probability of an item at a position is a count over the variants: exact,
and never below one over their number for what was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from numbers import Integral, Real
from typing import Any

from juryrank.data.arrays import Floats
from juryrank.data.draws import demand_seed, uniform
from juryrank.errors import ParameterError
from juryrank.methods.formula import Formula

MOST_VARIANTS = 10_000
WIDEST = 5.0  # spread: one expert then outweighs another by a factor of more than 1,000 in every third request


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """How a Fuser varies the weights of its experts.

    A variant multiplies the weight of each expert by ``exp(spread × z)``, with z from the standard normal distribution,
    drawn from ``seed`` and the name of the expert; the first of the ``variants`` is the model itself. Each request is
    served by one of the variants, all with the same probability; which one follows from its id.

    >>> from juryrank import Fuser
    >>> fuser = Fuser("rrf", explore=Exploration(spread=0.5, seed=7))
    >>> list(fuser({"bm25": ["a", "b"], "dense": ["b", "c"]}, request="r1"))
    ['b', 'a', 'c']
    """

    spread: float = 0.3
    variants: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.spread, Real) or isinstance(self.spread, bool) or not 0.0 <= self.spread <= WIDEST:
            raise ParameterError(
                f"explore is the spread of the weights, from 0 (none) to {WIDEST:g}, or an Exploration; "
                f"got {self.spread!r}"
            )
        known = isinstance(self.variants, Integral) and not isinstance(self.variants, bool)
        if not known or not 1 <= self.variants <= MOST_VARIANTS:
            raise ParameterError(f"variants must be a whole number from 1 to {MOST_VARIANTS}, got {self.variants!r}")
        demand_seed(self.seed)

    @classmethod
    def of(cls, explore: Any) -> Exploration | None:
        """What ``explore=`` means; None where nothing varies."""
        if explore is None:
            return None
        asked = explore if isinstance(explore, cls) else cls(spread=explore)
        return asked if asked.spread > 0.0 and asked.variants > 1 else None

    def variant(self, request: str) -> int:
        """The variant of a request."""
        return int(uniform(self.seed, "request", request) * self.variants)

    def factor(self, variant: int, expert: str) -> float:
        """By what a variant multiplies the weight of an expert."""
        if variant == 0:
            return 1.0
        from statistics import NormalDist  # takes a while to import

        return exp(self.spread * NormalDist().inv_cdf(uniform(self.seed, "weight", variant, expert)))


@dataclass(frozen=True, kw_only=True)
class Explored:
    """The ranking of a request, with what a click log needs to know about it.

    ``weights`` are the factors of the experts' weights. ``positions`` has, for each item of the ranking, the
    probability of every position at which it can be shown, ``{item: {position: probability}}``, over all requests with
    the same lists; positions below ``top`` are left out. ``propensity`` is the probability of the position that the
    item has in this ranking.
    """

    ranking: dict[Any, float]
    request: str
    variant: int
    weights: dict[str, float]
    positions: dict[Any, dict[int, float]] = field(repr=False)

    @property
    def propensity(self) -> dict[Any, float]:
        """The probability of each item at the position where it is shown."""
        return {item: self.positions[item][at] for at, item in enumerate(self.ranking, 1)}

    def log_rows(self, query: Any, session: Any = None) -> list[dict[str, Any]]:
        """Rows of a click log: query, item, position, session (default: the request), ranking and propensity.

        ``ranking`` is the number of the variant. Add ``clicked`` when it is known.
        """
        of_request = {"session": self.request if session is None else session, "ranking": f"variant {self.variant}"}
        return [
            {"query": query, "item": item, "position": at, **of_request, "propensity": propensity}
            for at, (item, propensity) in enumerate(self.propensity.items(), 1)
        ]


def positions_over(rankings: Sequence[Iterable[Any]], shown: Iterable[Any]) -> dict[Any, dict[int, float]]:
    """The probability of every position of the items that are shown, where all rankings are equally likely."""
    counts: dict[Any, dict[int, int]] = {item: {} for item in shown}
    for ranking in rankings:
        for at, item in enumerate(ranking, 1):
            if item in counts:
                counts[item][at] = counts[item].get(at, 0) + 1
    return {item: {at: n / len(rankings) for at, n in sorted(found.items())} for item, found in counts.items()}


@dataclass(frozen=True, eq=False)
class Weighting:
    """The factors of the experts in a variant."""

    exploration: Exploration
    variant: int

    def __call__(self, expert: str) -> float:
        return self.exploration.factor(self.variant, expert)

    def apply(self, formula: Formula) -> Formula:
        """The same formula with the weights, or else the points, of the experts times their factors."""
        if formula.points is not None:
            return replace(formula, points=_WeightedPoints(formula.points, self))
        return replace(formula, weights=_Weights(formula.weights, self))


@dataclass(frozen=True, eq=False)
class _WeightedPoints:
    """Points of ranks; a class and no function, because a Fuser can be pickled."""

    points: Callable[[str, Floats], Floats]
    weighting: Weighting

    def __call__(self, expert: str, ranks: Floats) -> Floats:
        return self.weighting(expert) * self.points(expert, ranks)


class _Weights(Mapping[str, float]):
    """A weight for every expert there may be."""

    def __init__(self, weights: Mapping[str, float], weighting: Weighting) -> None:
        self._weights, self._weighting = weights, weighting

    def __getitem__(self, expert: str) -> float:
        return self._weights.get(expert, 1.0) * self._weighting(expert)

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)
