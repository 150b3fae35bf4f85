"""Reciprocal rank fusion."""

from dataclasses import dataclass
from typing import Any

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.positional import add_reciprocals
from juryrank.methods.positional._base import Number, Positional
from juryrank.params import param

# What systems compute under the name RRF, with the version whose source or documentation says so.
DIALECTS = {
    "cormack": 60.0,  # Cormack et al. 2009: w / (k + rank)
    "elasticsearch": 60.0,  # 9.2: w / (k + rank)
    "opensearch": 60.0,  # 3.x: w / (k + rank)
    "langchain": 60.0,  # langchain-classic 1.0.8, EnsembleRetriever: w / (k + rank)
    "llamaindex": 60.0,  # llama-index-core 0.14.25, QueryFusionRetriever: 1 / (k + rank - 1), weights are ignored
    "haystack": 61.0,  # haystack-ai 3.4.1, DocumentJoiner: k w / (k + rank - 1), weights sum to 1
    "qdrant": 2.0,  # 1.17: 1 / (rank / w + k - 1)
}
IN_MEMORY = ("langchain", "llamaindex", "haystack")  # sort the documents as they come, so ties stay in that order
COUNTS_FROM_ZERO = ("llamaindex", "haystack", "qdrant")


@dataclass(kw_only=True)
class RRF(Positional):
    r"""Reciprocal rank fusion: the sum of 1 / (k + rank) over the lists.

    :math:`s_i = \sum_m w_m / (k + r_{mi})`. An item that a list leaves out gets nothing from it; tied items get the
    same points. ``dialect`` reproduces what a search system computes under the same name, with its own ``k`` and with
    what it makes of ``weights``: qdrant divides ranks by them, llamaindex ignores them.

    >>> from juryrank.data.build import from_orders
    >>> RRF().fit_predict(from_orders([["a", "b"], ["b", "c"]])).top()
    {'all': ['b', 'a', 'c']}
    >>> RRF(dialect="qdrant").fit_predict(from_orders([["a", "b"], ["b", "c"]])).to_dict()
    {'all': {'b': 0.83..., 'a': 0.5, 'c': 0.33...}}

    Cormack, Clarke, Büttcher, SIGIR 2009.
    """

    name = "rrf"
    k: float | None = param(None, "damps the top of each list; by default 60, or what the dialect uses", above=0)
    dialect: str = param("cormack", "the formula of a search system", choices=tuple(DIALECTS))

    @property
    def points_by(self) -> tuple[str, ...]:
        return () if self.dialect == "haystack" else super().points_by  # there a list's points depend on other weights

    @property
    def ties_by_appearance(self) -> bool:
        return self.dialect in IN_MEMORY

    def points(self, rank: Number) -> Number:
        """1 / (k + rank), with the k and the first rank of the dialect."""
        k = self._k
        if self.dialect in COUNTS_FROM_ZERO:
            k -= 1.0
        return (self._k if self.dialect == "haystack" else 1.0) / (k + rank)

    @property
    def weights_multiply(self) -> bool:
        return self.dialect not in COUNTS_FROM_ZERO  # which have ways of their own with weights, too

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        usual = self.missing == "ignore" and self.ranks == "given" and self.weights_multiply
        if usual and not self.weights and r.all_once:
            add_reciprocals(r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, float(self._k), out)
        else:
            super()._scores(r, out)

    def weigh(self, weight: Any, total: Any) -> tuple[Any, Any]:
        """Weights as the dialect understands them: Qdrant divides ranks, Haystack makes them sum to 1."""
        if self.dialect == "qdrant":
            return weight, weight > 0
        if self.dialect == "haystack":
            return 1.0, weight / total
        if self.dialect == "llamaindex":
            return 1.0, weight * 0 + 1.0
        return super().weigh(weight, total)

    @property
    def _k(self) -> float:
        return DIALECTS[self.dialect] if self.k is None else self.k
