"""Majority judgement."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import Count
from juryrank.methods.elections._grades import GradedRule
from juryrank.methods.elections._votes import Votes, add_up
from juryrank.params import param


@dataclass(kw_only=True)
class MajorityJudgement(GradedRule):
    """Majority judgement: candidates in the order of their median grades, on ballots with grades.

    The median of an even number of grades is the lower one. Candidates with the same median are compared again without
    that grade, one by one, until they differ (``value``: the majority value), or by the larger of the groups that grade
    them above and below the median (``gauge``: the majority gauge, which may leave ties). A candidate that a ballot
    leaves out gets the lowest grade. The detail ``medians`` has the median grades.

    >>> from juryrank import from_dicts
    >>> ballots = {"v": {"q": {"a": 3, "b": 2}}, "w": {"q": {"a": 2, "b": 2}}, "x": {"q": {"a": 0, "b": 2}}}
    >>> found = MajorityJudgement().fit_predict(from_dicts(ballots))
    >>> found.details["medians"][0], found.top()
    ({'a': 2.0, 'b': 2.0}, {'q': ['b', 'a']})

    Balinski, Laraki, PNAS 2007; Majority Judgment, MIT Press 2011.
    """

    name = "majority-judgement"
    facts = ("medians",)
    compare: str = param("value", "what separates candidates with the same median", choices=("value", "gauge"))
    lowest: float | None = param(None, "lowest grade of the scale; None: the lowest grade on the ballots")
    highest: float | None = param(None, "highest grade of the scale; None: not checked")

    def _ends(self) -> tuple[float | None, float | None]:
        return self.lowest, self.highest

    def _count(self, ballots: Ballots) -> Count:
        if not len(ballots.votes):
            return Count([np.arange(ballots.n)], {"medians": {}})
        levels, at = np.unique(self.grades(ballots), return_inverse=True)
        grades = at.reshape(len(ballots.votes), ballots.n)
        counts = [add_up(grades[:, c], ballots.votes, len(levels)) for c in range(ballots.n)]
        keys = _keys(np.cumsum(counts, axis=1), ballots.total, by_value=self.compare == "value")
        places: dict[tuple[int, ...], list[int]] = {}
        for c, key in enumerate(keys):
            places.setdefault(key, []).append(c)
        medians = {name: float(levels[key[0]]) for name, key in zip(ballots.names, keys, strict=True)}
        return Count([np.array(places[key]) for key in sorted(places)], {"medians": medians})


def _keys(upto: Votes, total: int, *, by_value: bool) -> list[tuple[int, ...]]:
    """What candidates are sorted by: the level of the median first; from the votes up to each level, by candidate."""
    upto, middle = 2 * upto, total  # in half votes, so that the middle is a whole number
    if by_value:
        # The grades that are taken away in turn are those at growing distances below and above the middle. Nothing
        # changes between two distances at which a candidate's grades change.
        distances = np.unique(np.abs(upto - middle)[upto < 2 * middle])
        distances = np.unique(np.append(distances[distances < middle], 0))
        pairs = [
            np.stack([np.searchsorted(row, middle - distances), np.searchsorted(row, middle + distances, "right")], 1)
            for row in upto
        ]
        return [tuple(pair.ravel().tolist()) for pair in pairs]
    keys: list[tuple[int, ...]] = []
    for row in upto.tolist():
        median = bisect_left(row, middle)
        above, below = 2 * total - row[median], row[median - 1] if median else 0
        keys.append((median, above if above > below else -below))
    return keys
