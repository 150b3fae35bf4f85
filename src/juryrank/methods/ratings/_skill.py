"""Online ratings that are beliefs: a mean and a spread."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from juryrank.methods.ratings._base import Online, Start
from juryrank.params import param


@dataclass(kw_only=True)
class Skill(Online):
    """Score = mean of the belief, less ``caution`` times its spread."""

    mean: float = param(25.0, "mean of the belief before the first game")
    spread: float = param(25 / 3, "spread of the belief before the first game", above=0)
    beta: float = param(25 / 6, "spread of one performance around the skill", above=0)
    drift: float = param(25 / 300, "spread that a skill gains before each game", at_least=0)
    caution: float = param(0.0, "spreads taken from the mean; 3 gives ratings that are almost certain", at_least=0)

    def _start(self) -> Start:
        return Start(self._kind(), float(self.mean), float(self.spread), 0.0, float(self.beta), float(self.drift))

    def rating(self, mean: Any, spread: Any) -> Any:
        return mean - self.caution * spread

    @abstractmethod
    def _kind(self) -> int:
        """Which of the kinds of ``kernels/ratings_online.py``."""
