"""Bootstrap scores: lists, experts or queries get random Poisson weights, so that no data is copied."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.errors import ConvergenceWarning
from juryrank.kernels.intervals import refit
from juryrank.kernels.threads import BLOCKS_PER_THREAD, threads
from juryrank.methods.strengths.likelihood import PairwiseStrength
from juryrank.progress import show_progress, track
from juryrank.tasks.leaderboard.pool import FittedModel

NOISE = 0.01  # tolerance of a resampled fit, as a share of the standard error
STEPS = 50  # of the progress that is shown
THREADS_FROM = 1000  # with fewer pairs or entries, threads mostly wait for each other's Python code
Draw = Callable[[np.random.Generator], Floats]


def bootstrap_scores(fit: FittedModel, n: int, seed: int, *, threads_from: int = THREADS_FROM) -> Floats:
    """Scores of ``n`` resamples, [n, n_items]; from ``threads_from`` pairs or entries on, several threads draw them."""
    pairs = isinstance(fit.model, PairwiseStrength) and fit.cluster is None and (fit.rankings.list_size <= 2).all()
    draw = _draw_pairs(fit) if pairs else _draw_lists(fit)
    seeds = np.random.SeedSequence(seed).spawn(n)

    def scores(part: range) -> list[Floats]:
        return [draw(np.random.default_rng(seeds[k])) for k in part]

    step = -(-n // max(threads() * BLOCKS_PER_THREAD, STEPS))
    ranges = [range(n)[first : first + step] for first in range(0, n, step)]
    shown = track(ranges, "resamples")
    with warnings.catch_warnings(), show_progress(lambda work, text: work):  # not the progress of each resample
        warnings.simplefilter("ignore", ConvergenceWarning)
        if (len(fit.games.first) if pairs else fit.rankings.n_entries) < threads_from:
            return np.array([row for part in shown for row in scores(part)])
        with ThreadPoolExecutor(min(threads(), n)) as pool:
            parts = zip(shown, pool.map(scores, ranges), strict=True)
            return np.array([row for _, part in parts for row in part])


def _draw_pairs(fit: FittedModel) -> Draw:
    """Equal comparisons share one Poisson number; each fit starts from the fit of all data."""
    model, lists = fit.model, fit.lists
    assert isinstance(model, PairwiseStrength)
    (left, right, *outcomes), scale = _pairs_by_scale(fit)
    mean, scale = np.concatenate(outcomes), np.tile(scale, 3)
    drawn = (left, right, mean, np.exp(-mean), scale)
    most = fit.games.by_item()[0].max(initial=1.0)
    settings = (float(model.prior), NOISE * 0.5 / float(np.sqrt(most)), model.max_iter)

    def draw(rng: np.random.Generator) -> Floats:
        out = fit.scores.copy()
        refit(rng, model.link, *drawn, lists, *settings, np.array([fit.tie]), out)
        return out

    return draw


def _pairs_by_scale(fit: FittedModel) -> tuple[tuple[Any, ...], Floats]:
    """The number of comparisons of each pair, separately for each expert weight; and that weight."""
    scales = np.unique(fit.scale[fit.count > 0])
    if len(scales) <= 1:
        return fit.games.pairs, np.full(len(fit.games.first), scales[0] if len(scales) else 1.0)
    parts = [fit.games_of(np.where(fit.scale == scale, fit.count, 0.0)).pairs for scale in scales]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    weighs = np.repeat(scales, [len(part[0]) for part in parts])
    order = np.lexsort((columns[1], columns[0]))  # kernels expect the pairs of one first item together
    order = order[(columns[2] + columns[3] + columns[4])[order] > 0]
    return tuple(column[order] for column in columns), weighs[order]


def _draw_lists(fit: FittedModel) -> Draw:
    """Any method, on the same lists with random weights; a method that learns about experts is refitted."""
    r, cluster = fit.rankings, fit.cluster  # expert weights are applied by the method
    learns = bool(fit.model.learned())

    def draw(rng: np.random.Generator) -> Floats:
        if cluster is None:
            weight = rng.poisson(r.list_weight).astype(np.float64)
        else:
            weight = r.list_weight * rng.poisson(1.0, cluster.max(initial=0) + 1)[cluster]
        drawn = replace(r, list_weight=weight)
        return (copy(fit.model).fit(drawn) if learns else fit.model).predict(drawn, warn_unknown=False).scores

    return draw
