"""Covariance of strengths from the likelihood: the Fisher information, or the robust (sandwich) estimate."""

from __future__ import annotations

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.errors import ParameterError
from juryrank.kernels.choices import DAVIDSON, LISTWISE, NEVER, RAO_KUPPER
from juryrank.kernels.intervals import pair_information, spread_of_slopes
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.kernels.strengths import list_information
from juryrank.methods.cost import check_matrix_size
from juryrank.methods.strengths.likelihood import PairwiseStrength
from juryrank.methods.strengths.plackett_luce import PlackettLuce
from juryrank.tasks.leaderboard.pool import FittedModel


def covariance(fit: FittedModel, *, robust: bool) -> Floats:
    """Covariance of the scores, centred in each group of items that met.

    It is the covariance of the gradient between two inverse Hessians.
    A list adds its gradient times the weight of its expert, so the covariance has the squared weight. ``robust`` uses
    the observed covariance of the cluster gradients, otherwise that expected by the model. Both include the prior; if
    all expert weights are 1, the expected covariance is the Hessian itself.
    """
    model, r = fit.model, fit.rankings
    check_matrix_size(model.name, r, "the bootstrap")
    if not isinstance(model, PlackettLuce | PairwiseStrength):
        raise ParameterError(f"{model.name} has no likelihood to compute intervals from; use bootstrap intervals")
    longest = int(r.list_size.max(initial=0) if np.sum(fit.lists.tail) == 0 else r.n_slots)
    if not robust and isinstance(model, PairwiseStrength) and longest > 2:
        raise ParameterError(
            f"fisher intervals of {model.name} assume independent pairs, but pairs of one list are dependent, and the "
            f"longest list has {longest} items; use sandwich or bootstrap intervals, or plackett-luce"
        )
    n, link = r.n_slots, LISTWISE if isinstance(model, PlackettLuce) else model.link
    free = n + (link in (DAVIDSON, RAO_KUPPER) and fit.tie != NEVER)
    curvature = _curvature(fit, model, link, fit.count * fit.scale)
    if robust:
        spread = _spread(fit, link)
        spread[np.diag_indices(n)] += _precision(model)
    else:
        spread = curvature if (fit.scale == 1).all() else _curvature(fit, model, link, fit.count * fit.scale**2)
    inverse = np.linalg.inv(curvature[:free, :free])
    covariance = inverse @ spread[:free, :free] @ inverse
    together = fit.groups.of_item[:, None] == fit.groups.of_item
    centre = np.eye(n) - together / together.sum(1)
    centred: Floats = centre @ covariance[:n, :n] @ centre
    return centred


def _precision(model: PlackettLuce | PairwiseStrength) -> float:
    return model.precision if isinstance(model, PlackettLuce) else float(model.prior)


def _unknowns(fit: FittedModel, link: int) -> Floats:
    return np.append(fit.scores, 0.0 if link == LISTWISE else fit.tie)


def _curvature(fit: FittedModel, model: PlackettLuce | PairwiseStrength, link: int, weight: Floats) -> Floats:
    """The negative Hessian of the log-likelihood of lists with these weights, including the prior."""
    x = _unknowns(fit, link)
    curvature = np.empty((len(x), len(x)))
    if link == LISTWISE:
        list_information(0, fit.lists.weighted(weight), 0.0, 0.0, _precision(model), fit.scores, curvature)
    else:
        pair_information(link, fit.games_of(weight).pairs, fit.lists, _precision(model), x, curvature)
    return curvature


def _spread(fit: FittedModel, link: int) -> Floats:
    n_lists, cluster, x = fit.rankings.n_lists, fit.cluster, _unknowns(fit, link)
    order = np.arange(n_lists) if cluster is None else np.argsort(cluster, kind="stable")
    sizes = np.ones(n_lists, np.int64) if cluster is None else np.bincount(cluster)
    spread = np.zeros((len(x), len(x)))
    of_lists = (fit.count, fit.scale, order, sizes_to_ptr(sizes))
    spread_of_slopes(link, fit.lists, x, *of_lists, cluster is None, spread)
    return spread
