"""Weng and Lin's ratings."""

from dataclasses import dataclass

from juryrank.kernels.ratings_online import WENG_LIN_CHOICES, WENG_LIN_PAIRS
from juryrank.methods.cost import Cost
from juryrank.methods.ratings._base import Skill
from juryrank.params import param

MODELS = {"plackett-luce": WENG_LIN_CHOICES, "bradley-terry": WENG_LIN_PAIRS}


@dataclass(kw_only=True)
class WengLin(Skill):
    """Weng–Lin: normal beliefs about skills, updated in closed form after each list.

    A list is one game, modelled as choices from the top (``plackett-luce``) or as comparisons of all its pairs
    (``bradley-terry``); OpenSkill's models of these names give the same numbers. Lists are processed in the order in
    which they are stored: queries and experts by name, the lists of one expert as in the file.

    >>> from juryrank import from_orders
    >>> WengLin().fit_predict(from_orders([["a", "b"], ["a", "c"]])).top()
    {'all': ['a', 'c', 'b']}

    Weng, Lin, JMLR 2011.
    """

    name = "weng-lin"
    cost = Cost("pairs in lists", 12.0)
    model: str = param("plackett-luce", "model of a list", choices=tuple(MODELS))

    def _kind(self) -> int:
        return MODELS[self.model]
