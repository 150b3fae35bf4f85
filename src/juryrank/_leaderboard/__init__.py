"""Leaderboards: the best items by comparisons, rankings or ratings, with intervals, and judge reliability."""

from juryrank._leaderboard.board import Judge, Leaderboard
from juryrank._leaderboard.leaderboard import leaderboard

__all__ = ["Judge", "Leaderboard", "leaderboard"]
