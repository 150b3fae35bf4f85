"""``leaderboard``: items ranked over all queries, with confidence intervals and the reliability of judges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from juryrank._leaderboard.board import Chance, Judge, Leaderboard
from juryrank._leaderboard.bootstrap import bootstrap_scores
from juryrank._leaderboard.information import covariance
from juryrank._leaderboard.pool import FittedModel, fit_pooled, pool_queries
from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import ParameterError
from juryrank.kernels.intervals import agreement
from juryrank.methods import Aggregator, BradleyTerry, CrowdBT, PlackettLuce, PlackettLuceGamma, RankCentrality
from juryrank.methods import method as make

INTERVALS = ("bootstrap", "sandwich", "fisher", "none")
CLUSTERS = ("list", "expert", "query")
LOG_ODDS = (BradleyTerry, CrowdBT, PlackettLuce, PlackettLuceGamma, RankCentrality)  # methods whose scores are log odds
ELO = 400 / np.log(10)  # points per unit of log odds


def leaderboard(
    data: Dataset | Rankings,
    method: str | Aggregator = "bradley-terry",
    *,
    bootstrap: int = 1000,
    interval: str = "bootstrap",
    by: str = "list",
    level: float = 0.95,
    seed: int = 0,
    elo: bool = False,
    judges: bool = True,
) -> Leaderboard:
    """Items from best to worst over all queries of ``data``, with confidence intervals.

    ``interval`` is ``bootstrap`` (percentiles over ``bootstrap`` resamples of lists, or of whole experts or queries:
    ``by``), ``sandwich`` or ``fisher`` (normal intervals from the likelihood), or ``none``. ``elo`` converts log odds
    to Elo points: 400 for odds of 10 to 1, mean 1000. ``judges`` adds the reliability of experts if there are several.

    >>> from juryrank import from_orders
    >>> board = leaderboard(from_orders([["a", "b"], ["b", "a"], ["a", "c"], ["b", "c"]], weights=[30, 10, 20, 20]))
    >>> board.items.tolist(), [int(games) for games in board.games]
    (['a', 'b', 'c'], [60, 60, 40])
    """
    model = prepare(method, interval=interval, by=by, bootstrap=bootstrap, level=level, elo=elo)
    given = as_dataset(data).rankings
    cluster = None if by == "list" else _clusters(given, by)
    resample = partial(bootstrap_scores, n=bootstrap, seed=seed)
    return board_of(model, given, cluster, resample, interval=interval, level=level, elo=elo, judges=judges)


def prepare(method: str | Aggregator, *, interval: str, by: str, bootstrap: int, level: float, elo: bool) -> Aggregator:
    """The method for a leaderboard with these options; an error if they do not fit together."""
    model = make(method) if isinstance(method, str) else method
    _check(model, interval, by, bootstrap, level, elo)
    return model.on_leaderboard() if isinstance(model, PlackettLuce) else model


def board_of(
    model: Aggregator,
    given: Rankings,
    cluster: Ints | None,
    resample: Callable[[FittedModel], Floats],
    *,
    interval: str,
    level: float,
    elo: bool,
    judges: bool,
) -> Leaderboard:
    """The leaderboard of these lists; ``resample`` gives the scores of resamples, [n, n_items], for bootstrap."""
    fit = fit_pooled(model, pool_queries(given), cluster)
    order = np.argsort(-fit.scores, kind="stable")
    columns = _columns(fit, interval, resample, level, elo)
    return Leaderboard(
        method=model.name,
        items=fit.rankings.items[order],
        **{name: column[order] for name, column in columns.items()},
        level=level,
        interval=interval,
        judges=_judges(fit) if judges and len(given.experts) > 1 else (),
        chance=_win_probability(model, fit.tie, elo),
    )


def _columns(
    fit: FittedModel, interval: str, resample: Callable[[FittedModel], Floats], level: float, elo: bool
) -> dict[str, Any]:
    """The columns of a leaderboard by name, in the order of the items."""
    low, high, best, worst = _intervals(fit, interval, resample, level)
    scaled = _elo_points if elo else _identity
    scores = {"score": scaled(fit.scores), "low": scaled(low), "high": scaled(high)}
    games = dict(zip(("games", "wins", "ties"), fit.games.by_item(), strict=True))
    return {**scores, "best_rank": best, "worst_rank": worst, **games}


def _check(model: Aggregator, interval: str, by: str, bootstrap: int, level: float, elo: bool) -> None:
    for name, value, choices in (("interval", interval, INTERVALS), ("by", by, CLUSTERS)):
        if value not in choices:
            raise ParameterError(f"{name} of a leaderboard must be one of {', '.join(choices)}, got {value!r}")
    if not 0 < level < 1:
        raise ParameterError(f"level of a leaderboard must be between 0 and 1, got {level!r}")
    if interval == "bootstrap" and not bootstrap >= 2:
        raise ParameterError(f"bootstrap of a leaderboard must be at least 2 resamples, got {bootstrap!r}")
    if interval == "fisher" and by != "list":
        raise ParameterError(
            f"fisher intervals assume independent lists and cannot resample by {by}; use sandwich or bootstrap"
        )
    if model.supervised:
        raise ParameterError(f"{model.name} learns from labels; a leaderboard needs a method that does not")
    if elo and not isinstance(model, LOG_ODDS):
        raise ParameterError(f"scores of {model.name} are not log odds, so they cannot be shown as Elo points")


def _clusters(r: Rankings, by: str) -> Ints:
    """The number of the expert or query of each list."""
    return r.list_expert.astype(np.int64) if by == "expert" else r.list_query


def _intervals(
    fit: FittedModel, interval: str, resample: Callable[[FittedModel], Floats], level: float
) -> tuple[Floats, Floats, Ints, Ints]:
    """The interval of the score and of the rank of each item: lowest and highest score, best and worst rank."""
    n = fit.rankings.n_slots
    if interval == "none":
        nothing, rank = np.full(n, np.nan), 1 + _count_above(fit.scores, fit.scores)
        return nothing, nothing, rank, rank
    if interval == "bootstrap":
        scores = resample(fit)
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(scores, tails, axis=0)
        best, worst = np.quantile(_ranks(scores), tails, axis=0, method="closest_observation").astype(np.int64)
        return low, high, best, worst
    from statistics import NormalDist  # the bootstrap, which is the default, does not need it

    reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(np.diag(covariance(fit, robust=interval == "sandwich")))
    low, high = fit.scores - reach, fit.scores + reach
    return low, high, 1 + _count_above(low, high), n - _count_above(-high, -low)


def _count_above(low: Floats, high: Floats) -> Ints:
    """For each item, the number of others whose ``low`` is above its ``high``."""
    above: Ints = len(low) - np.searchsorted(np.sort(low), high, side="right")
    return above


def _ranks(scores: Floats) -> Ints:
    """The ranks in each row of scores, the highest first; equal scores share the smaller rank."""
    order = np.argsort(-scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    place = np.arange(scores.shape[1]) * np.ones((len(scores), 1), np.int64)
    place[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = 0
    ranks = np.empty_like(place)
    np.put_along_axis(ranks, order, 1 + np.maximum.accumulate(place, axis=1), axis=1)
    return ranks


def _judges(fit: FittedModel) -> tuple[Judge, ...]:
    r = fit.rankings
    agreed, decided = np.zeros(r.n_lists), np.zeros(r.n_lists)
    agreement(r.entry_ptr, r.entry_slot, r.entry_rank, r.list_weight, fit.scores, agreed, decided)
    reliability = make("crowd-bt").fit(r).learned()["reliability_"]
    n = len(r.experts)
    agreed_weight, known = np.bincount(r.list_expert, agreed, n), np.bincount(r.list_expert, decided, n)
    compared = np.bincount(r.list_expert, r.list_weight * r.list_size * (r.list_size - 1) / 2, n)
    share = np.divide(agreed_weight, known, out=np.full(n, np.nan), where=known > 0)
    found = [Judge(name, float(compared[k]), float(share[k]), reliability[name]) for k, name in enumerate(r.experts)]
    return tuple(sorted(found, key=lambda judge: -judge.reliability))


def _win_probability(model: Aggregator, tie: float, elo: bool) -> Chance | None:
    """The win probability as a function of the difference of (shown) scores, if the method has one."""
    if not hasattr(model, "chance"):
        return None
    chance = partial(model.chance, tie=tie) if isinstance(model, BradleyTerry) else model.chance
    return partial(_chance_of_elo, chance) if elo else chance


def _chance_of_elo(chance: Chance, lead: Floats) -> Floats:
    """A win probability by Elo points; a function of the module, so that a leaderboard can be pickled."""
    return chance(lead / ELO)


def _elo_points(scores: Floats) -> Floats:
    points: Floats = 1000.0 + ELO * scores
    return points


def _identity(scores: Floats) -> Floats:
    return scores
