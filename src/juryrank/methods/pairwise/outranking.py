"""Outranking."""

from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.pairwise import outranking_classes
from juryrank.methods.cost import Cost, check_matrix_size
from juryrank.methods.pairwise.pairwise import PairwiseMethod
from juryrank.params import param


@dataclass(kw_only=True)
class Outranking(PairwiseMethod):
    """Outranking: item i outranks j if enough lists rank it clearly above j and few rank it far below.

    A list supports i if it ranks i above j by at least ``preference`` times the number of items, and opposes it if it
    ranks i below j by at least ``veto`` times that number. i outranks j if at least the share ``concordance`` of the
    lists supports it and at most the share ``discordance`` opposes it. Items are then removed from the top: the next
    class are the items left that outrank the most others and are outranked by the fewest. With ``last`` the unranked
    items of a list are tied below it.

    >>> from juryrank import from_orders
    >>> Outranking().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 0.0, 'a': -1.0, 'c': -2.0}}

    Farah, Vanderpooten, SIGIR 2007.
    """

    name = "outranking"
    cost = Cost("pairs of items", 16.0)
    preference: float = param(0.0, "smallest lead that counts, as a share of the items", at_least=0, at_most=1)
    veto: float = param(
        0.75, "smallest lead of the other item that opposes, as a share of the items", above=0, at_most=1
    )
    concordance: float = param(0.5, "minimum share of the lists that support it", at_least=0, at_most=1)
    discordance: float = param(0.25, "maximum share of the lists that oppose it", at_least=0, at_most=1)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        check_matrix_size(self.name, r, "copeland")
        lists = self._lists(r)._replace(entry_rank=r.entry_place)
        outranking_classes(lists, self.preference, self.veto, self.concordance, self.discordance, out)
