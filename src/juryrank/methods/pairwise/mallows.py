"""Mallows' model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import ParameterError
from juryrank.kernels.mallows import dispersions, sample_orders
from juryrank.methods.cost import Cost
from juryrank.methods.pairwise.pairwise import KemenyMethod


@dataclass(kw_only=True)
class Mallows(KemenyMethod):
    r"""Mallows: lists are noisy copies of a central order, less likely the farther they are from it.

    :math:`P(\pi) \propto \phi^{d(\pi, \sigma)}`, where d is the Kendall distance to the centre :math:`\sigma`.
    The centre is the Kemeny order (see ``kemeny``), and the dispersion :math:`\phi` in [0, 1] maximises the likelihood:
    0 if no list disagrees with the centre, 1 if lists agree no better than random orders. A tied group stands for all
    orders of its items, which keeps the likelihood exact; with ``last`` so do the items that a list leaves out, below
    it (a top-k list); with ``ignore`` a list is a Mallows order of its own items. The score is the number of items
    below. ``Consensus.details`` has ``dispersion`` and ``log_likelihood``, and ``objective`` and ``optimal`` as in
    ``kemeny``.

    >>> from juryrank import from_orders
    >>> consensus = Mallows().fit_predict(from_orders([["a", "b"], ["a", "b"], ["b", "a"]]))
    >>> consensus.top(), consensus.details["dispersion"].round(6).tolist()
    ({'all': ['a', 'b']}, [0.5])

    Mallows, 1957; Fligner, Verducci, 1986.
    """

    name = "mallows"
    cost = Cost("triples of items", 0.12, per_query=3e5, threaded=False)

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        lists = self._lists(rankings)
        details = self._kemeny(rankings, lists, out)
        theta, likelihood = np.zeros(len(rankings)), np.zeros(len(rankings))
        dispersions(lists, details["objective"], theta, likelihood)
        return details | {"dispersion": np.exp(-theta), "log_likelihood": likelihood}


def sample(centre: Sequence[str], dispersion: float | Sequence[float], n: int, *, seed: int = 0) -> list[list[str]]:
    """Random orders around a centre, with one dispersion, or one for each place but the last.

    From the top, each place takes the first remaining item of the centre, or skips v of them with weight dispersion^v;
    with one dispersion this is Mallows' model.

    >>> sample(["a", "b", "c"], 0.0, 1)
    [['a', 'b', 'c']]
    """
    phi = np.broadcast_to(np.asarray(dispersion, np.float64), (max(len(centre) - 1, 0),))
    if not ((phi >= 0) & (phi <= 1)).all():
        raise ParameterError(f"a dispersion must be between 0 and 1, got {dispersion!r}")
    with np.errstate(divide="ignore"):
        theta = np.append(-np.log(phi), 0.0)
    drawn = np.empty((n, len(centre)), np.int64)
    sample_orders(np.random.default_rng(seed).random((n, len(centre))), theta, drawn)
    return [[centre[i] for i in order] for order in drawn]
