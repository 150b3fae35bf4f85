"""The multinomial preference model with adherences from labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.errors import DataWarning
from juryrank.kernels.mpm import agreements
from juryrank.learners.gains import slot_gains
from juryrank.methods.multinomial import Multinomial


@dataclass(kw_only=True)
class ThetaMPM(Multinomial):
    r"""Multinomial preference model whose adherences come from labelled queries.

    :math:`\theta_n = (1 + \tau_n) / 2`: the share of the pairs of expert n's list that the labels order alike, among
    those that both order, in the mean over the queries that have such pairs. An expert without any, or one that was
    not there, gets the mean of the others. The rest is as in ``mpm``.

    >>> from juryrank.data.build import from_dicts
    >>> runs = {"good": {"q": ["a", "b", "c"]}, "poor": {"q": ["c", "b", "a"]}}
    >>> model = ThetaMPM().fit(from_dicts(runs, labels={"q": {"a": 2, "b": 1, "c": 0}}))
    >>> dict(zip(model.experts_, model.theta_.tolist()))
    {'good': 1.0, 'poor': 0.0}

    Volkovs, Zemel, WWW 2012.
    """

    name = "theta-mpm"
    supervised = True

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        r = data.rankings
        concordant, comparable = np.zeros(r.n_lists), np.zeros(r.n_lists)
        agreements(r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, slot_gains(data), concordant, comparable)
        told = comparable > 0
        share, expert = concordant[told] / comparable[told], r.list_expert[told]
        n = np.bincount(expert, minlength=len(r.experts))
        theta = np.bincount(expert, share, minlength=len(r.experts)) / np.maximum(n, 1)
        if not told.any():
            warnings.warn(
                f"{self.name}: the labels order no pair that an expert orders; all adherences are 1",
                DataWarning,
                stacklevel=4,
            )
        theta[n == 0] = theta[n > 0].mean() if told.any() else 1.0
        self.experts_, self.theta_ = list(r.experts), theta
