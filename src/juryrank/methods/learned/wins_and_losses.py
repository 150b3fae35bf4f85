"""Wins and losses: how strongly each expert prefers an item to others, and others to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.wins import BINARY, LOG_RANK, RANK, wins_and_losses
from juryrank.params import param

FORMS = {"binary": BINARY, "rank": RANK, "log-rank": LOG_RANK}


def form_param() -> Any:
    """The parameter ``form``, with one meaning everywhere."""
    doc = "the size of a preference: 1, the difference of ranks, or that of their logarithms (over the list's largest)"
    return param("log-rank", doc, choices=tuple(FORMS))


def win_values(rankings: Rankings, form: str, *, mean: bool = False) -> Floats:
    """Per entry [1, W, L], times the weight of its list; ``mean`` divides W and L by the other items of the query."""
    r = rankings
    out = np.ones((r.n_entries, 3))
    wins_and_losses(r.list_ptr, r.entry_ptr, r.entry_rank, FORMS[form], out[:, 1:])
    weight = r.list_weight
    out *= np.repeat(weight, r.list_size)[:, None]
    if mean:
        others = np.maximum(r.query_size - 1, 1)[r.list_query]
        out[:, 1:] /= np.repeat(others, r.list_size)[:, None]
    return out
