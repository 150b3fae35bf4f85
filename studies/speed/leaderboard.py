"""Strengths and leaderboards: Bradley–Terry from raw pairs, Plackett–Luce, bootstrap, ratings game by game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank as jr
from studies.speed import online_ratings
from studies.speed.clock import Effort, Timing, time_call, time_in_turns, time_once
from studies.speed.inputs import Inputs
from studies.speed.peers import load, silent
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import Target, at_least

N = 100_000
WEAK = 1e-9  # prior of ours; peers have none
EVEN = 1e-6  # largest difference between wins and expected wins, as a share of an item's games, that counts as solved
AGAINST_EVALICA = 5.0


@dataclass(frozen=True)
class Battles:
    """Random comparisons that follow Bradley–Terry, as peers take them: two lists of names, the winner first."""

    n_items: int

    @cached_property
    def codes(self) -> NDArray[Any]:
        rng = np.random.default_rng(self.n_items)
        strength = rng.normal(size=self.n_items)
        one = rng.integers(0, self.n_items, N)
        two = (one + rng.integers(1, self.n_items, N)) % self.n_items
        won = rng.random(N) < 1 / (1 + np.exp(strength[two] - strength[one]))
        return np.where(won, [one, two], [two, one])

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        names = np.array([f"model-{n:04d}" for n in range(self.n_items)], object)
        better, worse = names[self.codes].tolist()
        return better, worse

    def unevenness(self, log_worth: NDArray[Any]) -> float:
        """The largest difference between wins and expected wins of an item, as a share of its games."""
        better, worse = self.codes
        lost = 1 / (1 + np.exp(log_worth[better] - log_worth[worse]))
        slope = np.bincount(better, lost, self.n_items) - np.bincount(worse, lost, self.n_items)
        return float(np.abs(slope / np.bincount(self.codes.ravel(), minlength=self.n_items)).max())


def measure(inputs: Inputs, effort: Effort) -> Results:
    """One row per task and peer; solutions are compared by their gradients."""
    rows: list[Row] = []
    targets: list[Target] = []
    for n_items in (100, 1000):
        battles = Battles(n_items)
        found = bradley_terry(battles)
        rows += found
        targets += at_least(
            "≥ 5× evalica, from raw pairs", found, [row.task for row in found], "evalica", AGAINST_EVALICA
        )
    rows += plackett_luce()
    rows += bootstrap(Battles(100))
    rows.append(with_intervals(Battles(100)))
    rows += online_ratings.rows()
    return rows, targets


def bradley_terry(battles: Battles) -> list[Row]:
    """From names to strengths, including all conversions."""
    task = f"Bradley–Terry, {N:,} pairs, {battles.n_items} items"
    order = sorted({*battles.names[0], *battles.names[1]})

    def ours() -> NDArray[Any]:
        scores: NDArray[Any] = jr.BradleyTerry(prior=WEAK).fit_predict(jr.from_pairs(*battles.names)).scores
        return scores

    peers: dict[str, Callable[[], NDArray[Any]]] = {}
    if (evalica := load("evalica")) is not None:
        wins = [evalica.Winner.X] * N

        def by_evalica() -> NDArray[Any]:
            found = evalica.bradley_terry(*battles.names, wins, tolerance=1e-8, limit=1000)
            strengths: NDArray[Any] = np.log(found.scores[order].to_numpy())
            return strengths

        peers["evalica"] = by_evalica
    if (choix := load("choix")) is not None and battles.n_items <= 100:  # 8 s with 1,000 items
        peers["choix"] = lambda: _by_choix(choix, battles)
    rows = []
    for peer in ("evalica", "choix"):
        if peer not in peers:
            if battles.n_items <= 100:
                rows.append(Row(task, peer, time_call(ours)[0], None, f"skipped: {peer} is not installed"))
            continue
        with silent():
            mine, theirs = time_in_turns([ours, peers[peer]], rounds=9)
            uneven = [battles.unevenness(call()) for call in (ours, peers[peer])]
        text = f"wins off by {uneven[0]:.0e} and {uneven[1]:.0e} of the games"
        rows.append(Row(task, peer, mine, theirs, text, uneven[0] <= max(EVEN, uneven[1])))
    return rows


def _by_choix(choix: Any, battles: Battles) -> NDArray[Any]:
    """choix takes a matrix of counts of numbered items; building it is included in the time."""
    number = {name: n for n, name in enumerate(sorted(set(battles.names[0]) | set(battles.names[1])))}
    matrix = np.zeros((battles.n_items, battles.n_items))
    better = [number[name] for name in battles.names[0]]
    worse = [number[name] for name in battles.names[1]]
    np.add.at(matrix, (better, worse), 1)
    strengths: NDArray[Any] = choix.ilsr_pairwise_dense(matrix, tol=1e-10)
    return strengths


def plackett_luce(n_lists: int = 2000, n_items: int = 50, length: int = 10) -> list[Row]:
    """Partial rankings as lists of numbers."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=n_items)
    noisy = strength + rng.gumbel(size=(n_lists, n_items))
    asked = rng.random((n_lists, n_items)).argsort(1)[:, :length]
    orders = np.take_along_axis(asked, np.take_along_axis(-noisy, asked, 1).argsort(1), 1).tolist()
    task = f"Plackett–Luce, {n_lists:,} lists of {length}, {n_items} items"
    data = jr.from_orders([[f"{i:02d}" for i in order] for order in orders])
    timing, consensus = time_call(lambda: jr.PlackettLuce(prior=WEAK).fit_predict(data), most=25)
    if (choix := load("choix")) is None:
        return [Row(task, "choix", timing, None, "skipped: choix is not installed")]
    spent, theirs = time_call(lambda: choix.ilsr_rankings(n_items, orders, tol=1e-10), most=3)
    ours = consensus.to_dict()["all"]
    apart = max(abs(ours[f"{i:02d}"] - strength) for i, strength in enumerate(theirs - theirs.mean()))
    return [Row(task, "choix ilsr", timing, spent, f"strengths apart by {apart:.0e}", bool(apart < 1e-5))]


def with_intervals(battles: Battles) -> Row:
    """From names to strengths with sandwich intervals."""
    task = f"Bradley–Terry with intervals, {N:,} pairs, {battles.n_items} items"

    def ours() -> Any:
        return jr.leaderboard(jr.from_pairs(*battles.names), bootstrap=0, interval="sandwich", judges=False)

    timing, board = time_call(ours, most=15)
    if load("arena_rank") is None:
        return skipped_row(task, "arena_rank", timing)
    with silent():
        spent, (names, ratings) = time_call(lambda: _by_arena_rank(battles), most=5)
    theirs = dict(zip(names, ratings - np.mean(ratings), strict=True))
    apart = max(abs(theirs[name] - score) for name, score in zip(board.items, board.score, strict=True))
    return Row(task, "arena_rank", timing, spent, f"strengths apart by {apart:.0e}", bool(apart < 1e-2))


def _by_arena_rank(battles: Battles) -> tuple[list[str], NDArray[Any]]:
    better, worse = battles.names
    columns = {"model_a": better, "model_b": worse, "winner": ["model_a"] * N}
    frame = import_module("pandas").DataFrame(columns)
    data = import_module("arena_rank.utils.data_utils").PairDataset.from_pandas(frame, min_pair_count=0)
    model = import_module("arena_rank.models.bradley_terry").BradleyTerry(n_competitors=len(data.competitors))
    model.compute_ratings_and_cis(data)
    return list(data.competitors), np.array(model.params["ratings"])


def bootstrap(battles: Battles, resamples: int = 1000, theirs: int = 20) -> list[Row]:
    """Percentile intervals; evalica does a few resamples only, because a thousand take a minute."""
    task = f"{resamples:,} bootstrap resamples, {N:,} pairs, {battles.n_items} items"
    data = jr.from_pairs(*battles.names)
    timing, board = time_call(lambda: jr.leaderboard(data, bootstrap=resamples, judges=False), most=3)
    if (evalica := load("evalica")) is None:
        return [Row(task, "evalica", timing, None, "skipped: evalica is not installed")]
    wins = [evalica.Winner.X] * N
    with silent():
        seconds, found = time_once(
            lambda: evalica.bootstrap(
                evalica.bradley_terry,
                *battles.names,
                wins,
                n_resamples=theirs,
                bootstrap_method="percentile",
                random_state=0,
            )
        )
    spent = Timing(None, seconds * resamples / theirs, 1)
    low, high = (np.log(getattr(found, side)[board.items.tolist()].to_numpy()) for side in ("low", "high"))
    text = f"mean width {np.mean(board.high - board.low):.3f} and {np.mean(high - low):.3f}; peer's time from {theirs}"
    return [Row(task, "evalica", timing, spent, text, None)]
