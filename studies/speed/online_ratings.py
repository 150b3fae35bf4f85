"""Online ratings: from a stream of single games, and from a dataset."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

import juryrank as jr
from studies.speed.clock import time_call
from studies.speed.peers import load
from studies.speed.table import Row, skipped_row

Games = list[tuple[str, str]]  # the winner first
SAME = 1e-4  # the tolerance of trueskill


def rows(n_games: int = 5000) -> list[Row]:
    """Weng–Lin against openskill, TrueSkill against trueskill; times are per game."""
    rng = np.random.default_rng(0)
    games = [(f"p{i}", f"p{j}") for i, j in rng.integers(0, 200, (n_games, 2)) if i != j]
    return [
        *_against("openskill", jr.WengLin(), games, _by_openskill),
        *_against("trueskill", jr.TrueSkill(), games, _by_trueskill),
    ]


def _against(
    peer: str, model: jr.WengLin | jr.TrueSkill, games: Games, theirs: Callable[[Games], dict[str, float]]
) -> list[Row]:
    data = jr.from_pairs([a for a, _ in games], [b for _, b in games])

    def streamed() -> dict[str, float]:
        stream = model.stream()
        for game in games:
            stream.update(game)
        return stream.ratings()

    found = {
        f"one game, {model.name}, from a stream": time_call(streamed, most=5),
        f"one game, {model.name}, from a dataset": time_call(lambda: model.fit_predict(data).to_dict()["all"], most=15),
    }
    if load(peer) is None:
        return [skipped_row(task, peer, timing.over(len(games))) for task, (timing, _) in found.items()]
    spent, rated = time_call(lambda: theirs(games), most=3)
    out = []
    for task, (timing, ours) in found.items():
        apart = max(abs(ours[name] - rated[name]) for name in rated)
        text = f"ratings apart by {apart:.0e}"
        out.append(Row(task, peer, timing.over(len(games)), spent.over(len(games)), text, apart < SAME))
    return out


def _by_openskill(games: Games) -> dict[str, float]:
    peer = import_module("openskill.models").PlackettLuce()
    rated = {name: peer.rating() for game in games for name in game}
    for better, worse in games:
        moved = peer.rate([[rated[better]], [rated[worse]]])
        rated[better], rated[worse] = moved[0][0], moved[1][0]
    return {name: rating.mu for name, rating in rated.items()}


def _by_trueskill(games: Games) -> dict[str, float]:
    peer = import_module("trueskill").TrueSkill(draw_probability=0.0)
    rated = {name: peer.create_rating() for game in games for name in game}
    for better, worse in games:
        rated[better], rated[worse] = (team[0] for team in peer.rate([(rated[better],), (rated[worse],)]))
    return {name: rating.mu for name, rating in rated.items()}
