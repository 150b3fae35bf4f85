"""Markov chain MC4."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.chains import majority_chain
from juryrank.methods.chains.chain import MarkovChain
from juryrank.methods.cost import Cost, check_matrix_size
from juryrank.methods.pairwise.pairwise import MarginLists


@dataclass(kw_only=True)
class MC4(MarkovChain):
    """MC4: choose a random item of the query; move there if a majority of the lists that rank both prefers it.

    A list that ties two items, or ranks neither, does not count for the pair. With ``last`` a list prefers the items it
    ranks to those it leaves out.

    >>> from juryrank import from_orders
    >>> MC4().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).top()
    {'all': ['b', 'a', 'c']}

    Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "mc4"
    cost = Cost("pairs of items", 14.0)

    def _walk(self, rankings: Rankings, steps: NDArray[Any], out: Floats) -> None:
        r = rankings
        check_matrix_size(self.name, r, "mc2", cell=1)
        lists = MarginLists(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, self.list_weights(r),
            self.missing == "last",
        )  # fmt: skip
        majority_chain(lists, self.teleport, self.tol, self.max_iter, steps, out)
