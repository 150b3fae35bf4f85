"""TrueSkill ratings."""

from dataclasses import dataclass

from juryrank.kernels.ratings_online import TRUESKILL
from juryrank.methods.cost import Cost
from juryrank.methods.ratings._skill import Skill


@dataclass(kw_only=True)
class TrueSkill(Skill):
    """TrueSkill: skills are normal beliefs, updated by expectation propagation after each list.

    A list is one game: each item performs with spread ``beta`` around its skill, and the performances stood in the
    order of the list; tied items performed alike (TrueSkill's draw margin is 0). Lists are played in the order in which
    they are stored: queries and experts by name, the lists of one expert as in the file.

    >>> from juryrank import from_orders
    >>> TrueSkill().fit_predict(from_orders([["a", "b"], ["a", "c"]])).top()
    {'all': ['a', 'c', 'b']}

    Herbrich, Minka, Graepel, NIPS 2006.
    """

    name = "trueskill"
    cost = Cost("pairs in lists", 42.0)

    def _kind(self) -> int:
        return TRUESKILL
