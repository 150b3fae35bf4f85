"""Methods by the ranks of each item: sums of points, means and medians."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import warn_about_data
from juryrank.kernels.positional import add_points
from juryrank.kernels.ragged import put_last
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.formula import Formula, ListNumbers, QueryList
from juryrank.methods.lists import absent_rank, add_weighted, rank_of_others
from juryrank.params import param

Number = TypeVar("Number", float, Floats)


def ranks_param(default: str = "given") -> Any:
    """The parameter ``ranks``, the same wherever ranks are numbers and not only an order."""
    doc = "given: ranks as they are, with gaps; dense: places among the items of the query, ties share their mean"
    return param(default, doc, choices=("given", "dense"))


@dataclass(kw_only=True)
class ByRank(Aggregator):
    """A method that looks at nothing but the ranks of an item in the lists."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("ignore", "ignore", "last", "mean")
    ranks: str = ranks_param()

    @abstractmethod
    def _scores(self, rankings: Rankings, out: Floats) -> None:
        """Write one score per slot, from the ranks of its entries."""

    def _entry_ranks(self, r: Rankings) -> Floats:
        return r.entry_rank if self.ranks == "given" else r.entry_place

    def _ranks_of(self, listed: QueryList) -> tuple[Sequence[float], float | None]:
        """The ranks in one list, and the rank of the items that it leaves out, if it gives them one."""
        ranks = listed.ranks if self.ranks == "given" else listed.places
        return ranks, rank_of_others(listed, ranks, self.missing)


@dataclass(kw_only=True)
class Positional(ByRank):
    """Score = sum over lists of weight × points(rank)."""

    additive: ClassVar[bool] = True  # False where the sum is not yet the score

    def formula(self) -> Formula | None:
        """Points by rank or place; where items that a list leaves out get points, also by the sizes."""
        if not self.additive:
            return None
        if self.missing != "ignore":
            return self._sum_of_points("place", "length", "items")
        return Formula(depends_on=("rank" if self.ranks == "given" else "place",), points=self._weighted_points)

    def _weighted_points(self, expert: str, ranks: Floats) -> Floats:
        divide, multiply = self.weigh(self._weights_by_name().get(expert, 1.0), 1.0)
        weighted: Floats = multiply * self.points(ranks / (divide or 1.0))
        return weighted

    def _sum_of_points(self, *depends_on: str) -> Formula:
        """The sum of points that depend on more than the rank or the place."""
        return Formula("sum", self._numbers, self._weights_by_name(), unranked_last=False, depends_on=depends_on)

    def _numbers(self, listed: QueryList) -> ListNumbers:
        ranks, beyond = self._ranks_of(listed)
        divide, multiply = self.weigh(listed.weight, listed.query.total_weight)
        *points, absent = self.points(np.array([*ranks, beyond or 1.0]) / divide).tolist()
        return ListNumbers(points, None if beyond is None else absent, float(multiply))

    @abstractmethod
    def points(self, rank: Number) -> Number:
        """Points of a rank (a number or an array of numbers)."""

    @property
    def weights_multiply(self) -> bool:
        """Whether the weight of an expert does nothing but multiply its points."""
        return True

    def weigh(self, weight: Any, total: Any) -> tuple[Any, Any]:
        """What an expert's weight does: what divides its ranks and what multiplies its points (numbers or arrays)."""
        return 1.0, weight

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        rank, weight = self._entry_ranks(r), self.list_weights(r)
        if self.missing == "ignore" and self.weights_multiply:
            add_weighted(r, self.points(rank), weight, out)
            return
        total = np.bincount(r.list_query, weight, minlength=len(r))[r.list_query]
        divide, multiply = self.weigh(self._weights_of(r.experts)[r.list_expert], np.where(total > 0, total, 1.0))
        beyond = None if self.missing == "ignore" else absent_rank(r, rank, self.missing)
        if isinstance(divide, np.ndarray):
            divide = np.where(divide > 0, divide, 1.0)
            rank = rank / np.repeat(divide, r.list_size)
            beyond = None if beyond is None else beyond / divide
        absent = np.zeros(r.n_lists) if beyond is None else self.points(beyond)
        multiply = r.list_weight * multiply  # a list of weight w is w lists, whatever its expert's weight does
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, self.points(rank), absent, multiply, out)


@dataclass(kw_only=True)
class RankStatistic(ByRank):
    """Score = a statistic of the item's ranks, negated; an item that no list ranks comes last."""

    rule: ClassVar[str]  # of ``Formula``
    ranks: str = ranks_param("dense")  # so numbers that are no ranks are not averaged

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        filled = r.list_size > 0
        worst = r.entry_rank[r.entry_ptr[1:][filled] - 1]
        if text := self.warning_of_gaps(int((worst > r.list_size[filled]).sum()), int(filled.sum())):
            warn_about_data(text)
        rank = self._entry_ranks(r)
        absent = np.full(r.n_lists, np.nan) if self.missing == "ignore" else absent_rank(r, rank, self.missing)
        self._summarise(r, rank, absent, out)
        np.negative(out, out=out)
        put_last(r.slot_ptr, np.isnan(out), out)

    def warning_of_gaps(self, n_lists: int, n_all: int) -> str | None:
        """What is said of lists whose ranks are not 1, 2, 3, … with ties."""
        if not n_lists or self.ranks == "given":
            return None
        return (
            f"{self.name}: the ranks of {n_lists} of {n_all} lists are not 1, 2, 3, … with ties; their items are "
            "ranked in this order; ranks='given' takes the numbers as they are"
        )

    def formula(self) -> Formula:
        """The statistic of the ranks, negated."""
        last = self.missing == "ignore"
        return Formula(self.rule, self._numbers, self._weights_by_name(), negated=True, unranked_last=last)

    def _numbers(self, listed: QueryList) -> ListNumbers:
        return ListNumbers(*self._ranks_of(listed), listed.weight)

    @abstractmethod
    def _summarise(self, r: Rankings, rank: Floats, absent: Floats, out: Floats) -> None:
        """Write the statistic of each item's ranks, or NaN; ``absent`` is the rank of all other items in a list."""
