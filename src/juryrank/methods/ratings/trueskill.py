"""TrueSkill ratings."""

from dataclasses import dataclass

from juryrank.kernels.ratings_online import TRUESKILL
from juryrank.methods.cost import Cost
from juryrank.methods.ratings._base import Skill


@dataclass(kw_only=True)
class TrueSkill(Skill):
    """TrueSkill: skills are normal beliefs, updated by expectation propagation after each list.

    A list is one game: the performance of each item is normal around its skill with standard deviation ``beta``, and
    the list is the order of the performances; tied items had equal performances (TrueSkill's draw margin is 0). Lists
    are processed in the order in which they are stored: queries and experts by name, the lists of one expert as in the
    file.

    >>> from juryrank import from_orders
    >>> TrueSkill().fit_predict(from_orders([["a", "b"], ["a", "c"]])).top()
    {'all': ['a', 'c', 'b']}

    Herbrich, Minka, Graepel, NIPS 2006.
    """

    name = "trueskill"
    cost = Cost("pairs in lists", 42.0)

    def _kind(self) -> int:
        return TRUESKILL
