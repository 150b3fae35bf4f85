"""Leaderboards: the best items by comparisons, rankings or ratings, with intervals, and judge reliability."""

from juryrank.tasks.leaderboard.board import Judge, Leaderboard
from juryrank.tasks.leaderboard.leaderboard import leaderboard

__all__ = ["Judge", "Leaderboard", "leaderboard"]
