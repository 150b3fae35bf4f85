"""Wins and losses: how strongly each expert prefers an item to others, and others to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.wins import BINARY, LOG_RANK, RANK, wins_and_losses
from juryrank.params import param
from juryrank.training.panel import Panel
from juryrank.training.rows import Rows

FORMS = {"binary": BINARY, "rank": RANK, "log-rank": LOG_RANK}


def form_param() -> Any:
    """The parameter ``form``, with one meaning everywhere."""
    doc = "what a preference counts: 1, the difference of ranks, or that of their logarithms (over the list's largest)"
    return param("log-rank", doc, choices=tuple(FORMS))


def wins(data: Dataset, experts: Sequence[str], form: str = "log-rank") -> Floats:
    """Two columns per expert: the sum of its preferences for the item, and of those against it."""
    values = win_values(data.rankings, form)
    return Rows.of_entries(data.rankings, Panel(tuple(experts)), values[:, 1:]).of_names()


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
