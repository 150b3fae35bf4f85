"""Outranking."""

from collections.abc import Mapping
from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.outranking import outranking_classes
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.cost import Cost, check_matrix_size
from juryrank.params import param


@dataclass(kw_only=True)
class Outranking(Aggregator):
    """Outranking: item i outranks j when enough lists put it clearly above and few put it far below.

    A list is for i when it puts i above j by at least ``preference`` of the query's items, against it when it puts i
    below by at least ``veto``. i outranks j when lists of at least the share ``concordance`` are for it and of at most
    ``discordance`` are against. Items are then taken out from the top: those that outrank most and are outranked
    least among the items left form the next class. With ``last`` the unranked items of a list are tied below it.

    >>> from juryrank import from_orders
    >>> Outranking().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 0.0, 'a': -1.0, 'c': -2.0}}

    Farah, Vanderpooten, SIGIR 2007.
    """

    name = "outranking"
    cost = Cost("pairs of items", 47.0)
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last")
    preference: float = param(0.0, "smallest lead that counts, as a share of the items", at_least=0, at_most=1)
    veto: float = param(0.75, "lead of the other item that speaks against, as a share of the items", above=0, at_most=1)
    concordance: float = param(0.5, "share of the lists that must be for it", at_least=0, at_most=1)
    discordance: float = param(0.25, "share of the lists that may be against it", at_least=0, at_most=1)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        check_matrix_size(self.name, r, "copeland")
        outranking_classes(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_place, self.list_weights(r),
            self.missing == "last", self.preference, self.veto, self.concordance, self.discordance, out,
        )  # fmt: skip
