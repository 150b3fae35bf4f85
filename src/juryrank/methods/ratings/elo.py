"""Elo ratings."""

import math
from dataclasses import dataclass
from typing import Any

from juryrank.kernels.ratings_online import ELO
from juryrank.methods.cost import Cost
from juryrank.methods.ratings._base import Online, Settings
from juryrank.methods.strengths.strengths import logistic
from juryrank.params import param


@dataclass(kw_only=True)
class Elo(Online):
    """Elo: after each list, a rating changes by k times the difference between actual and expected wins.

    Item i is expected to beat j with odds 10 to the power of (rating difference / ``scale``); a tie is half a win. A
    list of more than two items is one game, in which this difference is averaged over the opponents of an item. Lists
    are processed in the order in which they are stored: queries and experts by name, the lists of one expert as in the
    file.

    >>> from juryrank import from_orders
    >>> Elo(k=32).fit_predict(from_orders([["a", "b"], ["a", "c"]])).to_dict()
    {'all': {'a': 1031.2..., 'c': 984.7..., 'b': 984.0}}

    Elo, 1978.
    """

    name = "elo"
    cost = Cost("pairs in lists", 9.0)
    k: float = param(16.0, "maximum change of a rating by one game", above=0)
    scale: float = param(400.0, "rating difference with odds of 10 to 1", above=0)
    initial: float = param(1000.0, "rating before the first game")

    def chance(self, lead: Any) -> Any:
        """The probability to win with a lead in rating."""
        return logistic(lead * math.log(10) / self.scale)

    def settings(self) -> Settings:
        return Settings(ELO, float(self.initial), 0.0, float(self.k), self.scale / math.log(10), 0.0)
