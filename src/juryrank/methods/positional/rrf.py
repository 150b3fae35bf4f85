"""Reciprocal rank fusion, in the dialects of search systems."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import add_reciprocals
from juryrank.methods.formula import Formula
from juryrank.methods.positional._base import Number, Positional
from juryrank.params import param

# What the weight of an expert does: what divides its ranks and what multiplies its points (numbers or arrays), from
# its weight and the total weight of the lists of the query.
Weighting = Callable[[Any, Any], tuple[Any, Any]]


def multiply_points(weight: Any, total: Any) -> tuple[Any, Any]:
    """w / (k + rank)."""
    return 1.0, weight


def multiply_by_share(weight: Any, total: Any) -> tuple[Any, Any]:
    """(w / sum of weights) / (k + rank)."""
    return 1.0, weight / total


def divide_ranks(weight: Any, total: Any) -> tuple[Any, Any]:
    """1 / (k + rank / w); nothing where w is 0."""
    return weight, weight > 0


def ignore_weights(weight: Any, total: Any) -> tuple[Any, Any]:
    """1 / (k + rank), whatever the weight."""
    return 1.0, weight * 0 + 1.0


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What a system computes under the name RRF: 1 / (k + rank - 1 + first_rank), with ranks that start at 1."""

    k: float = 60.0  # the constant, unless it is given
    first_rank: int = 1  # of the best item, as the system counts
    weighting: Weighting = multiply_points
    times_k: bool = False  # whether points are multiplied by k
    ties_by_appearance: bool = False  # whether it sorts documents as they come, so that ties stay in that order


# With the version whose source or documentation says so.
DIALECTS = {
    # Cormack et al. 2009: w / (k + rank)
    "cormack": Dialect(),
    # 9.2: w / (k + rank)
    "elasticsearch": Dialect(),
    # 3.x: w / (k + rank)
    "opensearch": Dialect(),
    # langchain-classic 1.0.8, EnsembleRetriever: w / (k + rank)
    "langchain": Dialect(ties_by_appearance=True),
    # llama-index-core 0.14.25, QueryFusionRetriever: 1 / (k + rank - 1)
    "llamaindex": Dialect(first_rank=0, weighting=ignore_weights, ties_by_appearance=True),
    # haystack-ai 3.4.1, DocumentJoiner: k w / (k + rank - 1), weights sum to 1
    "haystack": Dialect(k=61.0, first_rank=0, weighting=multiply_by_share, times_k=True, ties_by_appearance=True),
    # 1.17: 1 / (rank / w + k - 1)
    "qdrant": Dialect(k=2.0, first_rank=0, weighting=divide_ranks),
}


@dataclass(kw_only=True)
class RRF(Positional):
    r"""Reciprocal rank fusion: the sum of 1 / (k + rank) over the lists.

    :math:`s_i = \sum_m w_m / (k + r_{mi})`. An item that a list leaves out gets nothing from it; tied items get the
    same points. ``dialect`` reproduces what a search system computes under the same name, with its own ``k`` and with
    its treatment of ``weights``: qdrant divides ranks by them, llamaindex ignores them.

    >>> from juryrank import from_orders
    >>> RRF().fit_predict(from_orders([["a", "b"], ["b", "c"]])).top()
    {'all': ['b', 'a', 'c']}
    >>> RRF(dialect="qdrant").fit_predict(from_orders([["a", "b"], ["b", "c"]])).to_dict()
    {'all': {'b': 0.83..., 'a': 0.5, 'c': 0.33...}}

    Cormack, Clarke, Büttcher, SIGIR 2009.
    """

    name = "rrf"
    k: float | None = param(
        None,
        "rank constant: a larger k gives the top of each list less weight; default: 60, or that of the dialect",
        above=0,
    )
    dialect: str = param("cormack", "the search system whose formula is used", choices=tuple(DIALECTS))

    def formula(self) -> Formula | None:
        """Points by rank, unless those of a list depend on the weights of the others."""
        return self._sum_of_points() if self._dialect.weighting is multiply_by_share else super().formula()

    @property
    def ties_by_appearance(self) -> bool:
        return self._dialect.ties_by_appearance

    def points(self, rank: Number) -> Number:
        """1 / (k + rank), with the k and the first rank of the dialect."""
        k, offset = self._constants
        return (k if self._dialect.times_k else 1.0) / (offset + rank)

    @property
    def weights_multiply(self) -> bool:
        return self._dialect.weighting is multiply_points

    def weigh(self, weight: Any, total: Any) -> tuple[Any, Any]:
        """Weights as the dialect understands them."""
        return self._dialect.weighting(weight, total)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        plain = self.missing == "ignore" and self.ranks == "given" and not self._dialect.times_k
        if plain and self.weights_multiply and not self.weights and r.unit_weights:
            add_reciprocals(r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, self._constants[1], out)
        else:
            super()._scores(r, out)

    @property
    def _dialect(self) -> Dialect:
        return DIALECTS[self.dialect]

    @property
    def _constants(self) -> tuple[float, float]:
        """k, and what is added to a rank that starts at 1."""
        dialect = self._dialect
        k = float(dialect.k if self.k is None else self.k)
        return k, k - (1.0 - dialect.first_rank)
