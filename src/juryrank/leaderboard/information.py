"""Covariance of strengths from the likelihood: its curvature (Fisher), or with the spread of its slopes (sandwich)."""

from __future__ import annotations

import numpy as np

from juryrank.data.rankings import Floats
from juryrank.errors import ParameterError
from juryrank.kernels.intervals import pair_information, spread_of_slopes
from juryrank.kernels.links import DAVIDSON, LISTWISE, NEVER, RAO_KUPPER
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.kernels.strengths import list_information
from juryrank.leaderboard.pool import Fitted
from juryrank.methods.base import check_matrix_size
from juryrank.methods.pairwise_strength import PairwiseStrength
from juryrank.methods.plackett_luce import PlackettLuce


def covariance(fit: Fitted, *, robust: bool) -> Floats:
    """Covariance of the scores around their mean.

    ``robust`` puts the spread of the slopes of the clusters between two inverse curvatures.
    """
    model, r = fit.model, fit.rankings
    check_matrix_size(model.name, r, "the bootstrap")
    n = r.n_slots
    x, curvature = np.append(fit.scores, fit.tie), np.empty((n + 1, n + 1))
    if isinstance(model, PlackettLuce):
        link, x[n] = LISTWISE, 0.0
        list_information(0, *fit.lists, 0.0, 0.0, float(model.prior), fit.scores, curvature)
    elif isinstance(model, PairwiseStrength):
        link = model._link()
        pair_information(link, fit.games.pairs, fit.whole, float(model.prior), x, curvature)
    else:
        raise ParameterError(f"{model.name} has no likelihood to take intervals from; use interval='bootstrap'")
    free = n + (link in (DAVIDSON, RAO_KUPPER) and fit.tie != NEVER)
    inverse = np.linalg.inv(curvature[:free, :free])
    if robust:
        inverse = inverse @ _spread(fit, link, x)[:free, :free] @ inverse
    centre = np.eye(n) - 1.0 / n
    centred: Floats = centre @ inverse[:n, :n] @ centre
    return centred


def _spread(fit: Fitted, link: int, x: Floats) -> Floats:
    n_lists, cluster = fit.rankings.n_lists, fit.cluster
    order = np.arange(n_lists) if cluster is None else np.argsort(cluster, kind="stable")
    sizes = np.ones(n_lists, np.int64) if cluster is None else np.bincount(cluster)
    spread = np.zeros((len(x), len(x)))
    spread_of_slopes(link, fit.whole, x, order, sizes_to_ptr(sizes), cluster is None, spread)
    return spread
