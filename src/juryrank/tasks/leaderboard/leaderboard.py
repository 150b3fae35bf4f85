"""``leaderboard``: items ranked over all queries, with confidence intervals and the reliability of judges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, ParameterError, warn_about_data
from juryrank.kernels.intervals import agreement
from juryrank.methods import Aggregator, BradleyTerry, CrowdBT, PlackettLuce, PlackettLuceGamma, RankCentrality
from juryrank.methods import method as make
from juryrank.report import counted
from juryrank.tasks.leaderboard.board import Chance, Judge, Leaderboard
from juryrank.tasks.leaderboard.bootstrap import bootstrap_scores
from juryrank.tasks.leaderboard.information import covariance
from juryrank.tasks.leaderboard.pool import FittedModel, fit_pooled, pool_queries
from juryrank.tasks.leaderboard.ranks import count_above, level_scores, ranked, ranks_of_resamples

INTERVALS = ("bootstrap", "sandwich", "fisher", "none")
CLUSTERS = ("list", "expert", "query")
LOG_ODDS = (BradleyTerry, CrowdBT, PlackettLuce, PlackettLuceGamma, RankCentrality)  # methods whose scores are log odds
MOST_ALONE = 0.75  # share of items without a game, above which a board would rank a remainder
SHOWN_NAMES = 8  # in a warning
SHOWN_MEMBERS = 3  # of each group, in a warning
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

    Equal scores share a rank. Groups of items that never met have ranks of their own, and items without a game have
    none (``without_games``); a DataWarning tells about both. Without any game there is a DataError.

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
    _demand_games(fit)
    scores = level_scores(fit.scores)
    order, rank = ranked(scores, fit.groups)
    columns = _columns(fit, scores, interval, resample, level, elo)
    return Leaderboard(
        method=model.name,
        items=fit.rankings.items[order],
        rank=rank,
        group=fit.groups.of_item[order] + 1,
        **{name: column[order] for name, column in columns.items()},
        level=level,
        interval=interval,
        without_games=fit.rankings.items[fit.groups.alone],
        judges=_judges(fit) if judges and len(given.experts) > 1 else (),
        chance=_win_probability(model, fit.tie, elo),
    )


def _demand_games(fit: FittedModel) -> None:
    """An error if nothing is compared, and warnings of items and groups that are not compared with others."""
    r, sizes, alone = fit.rankings, fit.groups.sizes, fit.groups.alone
    single = int((r.list_size < 2).sum())
    if not len(sizes):
        why = "no list has two items" if single == r.n_lists else "all comparisons have weight 0"
        found = f"{counted(r.n_lists, 'list')} of {counted(r.n_slots, 'item')}"
        remedy = _how_to_compare(r) if single == r.n_lists else ""
        raise DataError(f"nothing is compared, so there is no leaderboard: {why} ({found}){remedy}")
    if len(alone) > MOST_ALONE * r.n_slots:
        raise DataError(
            f"nearly nothing is compared, so there is no leaderboard: {len(alone)} of {r.n_slots} items are in no "
            f"comparison ({_first(_names(r, alone))}), and {single} of "
            f"{counted(r.n_lists, 'list has', 'lists have')} one item{_how_to_compare(r)}"
        )
    if len(alone):
        count = counted(len(alone), "item is", "items are")
        warn_about_data(f"{count} in no comparison, so without a rank: {_first(_names(r, alone))}")
    if len(sizes) > 1:
        groups = [f"{len(members)} ({_first(_names(r, members), SHOWN_MEMBERS)})" for members in fit.groups.members]
        warn_about_data(
            f"{len(sizes)} groups of items never met, so scores and ranks say nothing between groups; "
            f"their sizes are {_first(groups)}"
        )


def _how_to_compare(r: Rankings) -> str:
    """The end of a message: what is compared, and how to read tables of scores by model."""
    return (
        f"; only items that one expert (of {len(r.experts)} here: a column, or each file) ranks for one query are "
        "compared; if items are models with scores of tasks, and each has a file or an expert of its own, let the "
        "tasks be the experts: columns={'item': 'MODEL', 'expert': 'TASK'} with the headers of the table"
    )


def _names(r: Rankings, items: Ints) -> list[str]:
    return [repr(name) for name in r.items[items]]


def _first(texts: list[str], most: int = SHOWN_NAMES) -> str:
    """The first few texts for a message."""
    return ", ".join(texts[:most]) + (" …" if len(texts) > most else "")


def _columns(
    fit: FittedModel,
    scores: Floats,
    interval: str,
    resample: Callable[[FittedModel], Floats],
    level: float,
    elo: bool,
) -> dict[str, Any]:
    """The columns of a leaderboard by name, in the order of the items."""
    low, high, best, worst = _intervals(fit, scores, interval, resample, level)
    scaled = _elo_points if elo else _identity
    numbers = {"score": scaled(scores), "low": scaled(low), "high": scaled(high)}
    games = dict(zip(("games", "wins", "ties"), fit.games.by_item(), strict=True))
    return {**numbers, "best_rank": best, "worst_rank": worst, **games}


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
    if isinstance(model, BradleyTerry) and model.counts != "once":
        raise ParameterError(
            f"counts of {model.name} must be once for a leaderboard, got {model.counts!r}: its intervals and "
            "chances to win are those of comparisons that count once"
        )
    if elo and not isinstance(model, LOG_ODDS):
        raise ParameterError(f"scores of {model.name} are not log odds, so they cannot be shown as Elo points")


def _clusters(r: Rankings, by: str) -> Ints:
    """The number of the expert or query of each list."""
    return r.list_expert.astype(np.int64) if by == "expert" else r.list_query


def _intervals(
    fit: FittedModel,
    scores: Floats,
    interval: str,
    resample: Callable[[FittedModel], Floats],
    level: float,
) -> tuple[Floats, Floats, Ints, Ints]:
    """The interval of the score and of the rank (in its group) of each item: lowest and highest, best and worst."""
    best, worst = np.zeros((2, len(scores)), np.int64)
    if interval == "bootstrap":
        resampled = resample(fit)
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(resampled, tails, axis=0)
        for members in fit.groups.members:
            ranks = ranks_of_resamples(resampled[:, members])
            best[members], worst[members] = np.quantile(ranks, tails, axis=0, method="closest_observation")
        return low, high, best, worst
    reach = _reach(fit, interval, level)
    low, high = scores - reach, scores + reach
    for members in fit.groups.members:
        best[members] = 1 + count_above(low[members], high[members])
        worst[members] = len(members) - count_above(-high[members], -low[members])
    if interval == "none":
        low = high = np.full(len(scores), np.nan)
    return low, high, best, worst


def _reach(fit: FittedModel, interval: str, level: float) -> Floats:
    """Half the length of each normal interval; 0 without intervals."""
    if interval == "none":
        return np.zeros(fit.rankings.n_slots)
    from statistics import NormalDist  # the bootstrap, which is the default, does not need it

    error: Floats = np.sqrt(np.diag(covariance(fit, robust=interval == "sandwich")))
    return NormalDist().inv_cdf((1 + level) / 2) * error


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
