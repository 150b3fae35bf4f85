"""What the rules for graded ballots share: the scale, and a grade of every ballot for every candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, ParameterError
from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import ElectionRule

LARGEST = 1e300  # grade; infinite ones have no order


@dataclass(kw_only=True)
class GradedRule(ElectionRule):
    """A rule for ballots that give every candidate a grade or a score on one scale."""

    needs_scores = True
    uses_scores = True

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        if rankings.entry_score is None and rankings.n_lists:
            raise DataError(
                f"{self.name} needs ballots with grades or scores, and these only rank the candidates; "
                "use a rule for ranks, such as bucklin or irv"
            )
        return super()._scores(rankings, out)

    def check(self) -> None:
        """As for every method; and the scale."""
        for name, value in zip(("lowest", "highest"), self._ends(), strict=True):
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            if value is not None and not (is_number and abs(value) < LARGEST):
                raise ParameterError(f"{name} of {type(self).__name__} must be a number, got {value!r}")
        super().check()
        low, high = self._ends()
        if low is not None and high is not None and not low < high:
            raise ParameterError(f"lowest of {type(self).__name__} must be below highest, got {low!r} and {high!r}")

    def _ends(self) -> tuple[float | None, float | None]:
        """The lowest and the highest grade, where they are known."""
        raise NotImplementedError

    def grades(self, ballots: Ballots) -> Floats:
        """One grade per ballot and candidate; candidates that a ballot leaves out have the lowest one."""
        assert ballots.score is not None
        low, high = self._ends()
        beyond = np.zeros(len(ballots.score), bool)
        if low is not None:
            beyond |= ballots.score < low
        if high is not None:
            beyond |= ballots.score > high
        if beyond.any():
            raise self._off_scale(ballots, int(np.flatnonzero(beyond)[0]), int(beyond.sum()))
        floor = ballots.score.min(initial=np.inf) if low is None else low
        out = np.full((len(ballots.votes), ballots.n), floor)
        out[ballots.owner, ballots.cand] = ballots.score
        return out

    def _off_scale(self, ballots: Ballots, entry: int, times: int) -> DataError:
        assert ballots.score is not None
        low, high = self._ends()
        scale = f"from {low:g} to {high:g}" if low is not None and high is not None else (
            f"from {low:g}" if low is not None else f"up to {high:g}"
        )  # fmt: skip
        voter, candidate = ballots.voters[ballots.owner[entry]], ballots.names[ballots.cand[entry]]
        return DataError(
            f"{self.name} needs scores {scale} on all ballots; in query {ballots.query!r}, {voter!r} gives "
            f"{ballots.score[entry]:g} to {candidate!r} ({times} such scores in all); "
            "set lowest and highest to the scale of the ballots, or bring the ballots to one scale"
        )
