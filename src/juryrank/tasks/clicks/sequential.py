"""A test of wins and losses that may be looked at after every session, and a rule when to stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp, lgamma, log
from numbers import Real

from juryrank.errors import ParameterError

ACCEPT, KEEP, GO_ON = "accept", "keep", "go on"

Repeats = Callable[[float], float]  # how many sessions count as one independent session, by the true preference


def independent(preference: float) -> float:
    """Each session counts as one."""
    return 1.0


@dataclass
class Tally:
    """Sessions that were won, lost and tied, and how much more alike those of one user are than those of several."""

    outcomes: Counter[int] = field(default_factory=Counter)  # sessions by who won: 1, -1 or 0
    difference: Counter[Hashable] = field(default_factory=Counter)  # wins - losses of each user
    number: Counter[Hashable] = field(default_factory=Counter)  # wins + losses of each user
    squares: list[int] = field(default_factory=lambda: [0, 0, 0])  # over users: d², d n and n²

    def add(self, user: Hashable, outcome: int, sessions: int = 1) -> None:
        """Count sessions of a user; -1 takes one back."""
        self.outcomes[outcome] += sessions
        if outcome:
            self._add_squares(user, -1)
            self.difference[user] += outcome * sessions
            self.number[user] += sessions
            self._add_squares(user, 1)

    def _add_squares(self, user: Hashable, sign: int) -> None:
        d, n = self.difference[user], self.number[user]
        self.squares = [s + sign * by for s, by in zip(self.squares, (d * d, d * n, n * n), strict=True)]

    def repeats(self, preference: float) -> float:
        """The variance of wins - losses if users are independent, by that if sessions are, about a true preference.

        1 if each user has one session, and the number of sessions of a user if all of them have the same winner.
        """
        wins, losses = self.outcomes[1], self.outcomes[-1]
        together = (wins + losses, wins - losses, wins + losses)  # the squares if each session had its own user
        by_user, by_session = (
            d2 - 2.0 * preference * dn + preference**2 * n2 for d2, dn, n2 in (self.squares, together)
        )
        return max(by_user / by_session, 1.0) if by_session > 0.0 else 1.0


@dataclass(frozen=True, kw_only=True)
class SequentialTest:
    r"""Whether a challenger wins more sessions than it loses, valid however often one looks.

    The preference is 2p - 1, where p is the probability that the challenger wins a session that has a winner; ties do
    not count. With W wins and L losses, the e-value against a probability p is

    .. math:: E(p) = \frac{B(W + a, L + a)}{B(a, a)\, p^W (1 - p)^L},

    the likelihood ratio with p mixed by a Beta(a, a) distribution (Robbins 1970). If p is true, E(p) is a martingale
    that starts at 1, so the probability that it *ever* reaches 1/level is at most ``level`` (Ville's inequality). The
    probabilities with E(p) < 1/level are a confidence sequence. It depends on the counts alone, not on their order.

    The rule: stop and *accept* when the interval of the preference lies above 0; stop and *keep* what is in use when it
    lies below ``minimum``, the smallest preference that is worth a change. Both errors (to accept a challenger that is
    not better, to reject one that is better by ``minimum``) have at most the probability ``level``. As soon as the
    interval is narrower than ``minimum`` one of the two holds, so the test always ends.

    The standard deviation of the Beta distribution is that of preferences of twice ``minimum``.

    Where users have several sessions, ``repeats`` says how many of them count as one independent session (the design
    effect of the users, see ``Tally``); W and L are divided by it. Its variance is about each p, not about the mean: a
    few users who agree by chance exclude little.
    """

    level: float = 0.05
    minimum: float = 0.05

    def __post_init__(self) -> None:
        for name, value in (("level", self.level), ("minimum", self.minimum)):
            if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < value < 1.0:
                raise ParameterError(f"{name} must be a number between 0 and 1, exclusive, got {value!r}")

    @property
    def shape(self) -> float:
        """The parameter a of the Beta(a, a) distribution."""
        return max(0.5 * ((0.5 / self.minimum) ** 2 - 1.0), 0.5)

    def log_e(self, wins: float, losses: float, p: float = 0.5, repeats: Repeats = independent) -> float:
        """The logarithm of the e-value against a probability p of a win."""
        as_one = repeats(2.0 * p - 1.0)
        wins, losses = wins / as_one, losses / as_one
        mixed = _log_beta(wins + self.shape, losses + self.shape) - _log_beta(self.shape, self.shape)
        return mixed - wins * log(p) - losses * log(1.0 - p)

    def p_value(self, wins: int, losses: int, repeats: Repeats = independent) -> float:
        """The always-valid p-value of no preference."""
        return min(1.0, exp(-self.log_e(wins, losses, repeats=repeats)))

    def interval(self, wins: int, losses: int, repeats: Repeats = independent) -> tuple[float, float]:
        """The preferences that are not excluded."""
        bound = -log(self.level)

        def excluded(p: float) -> bool:
            return self.log_e(wins, losses, p, repeats) >= bound

        share = wins / max(wins + losses, 1)
        inside = share if 0.0 < share < 1.0 else (wins + self.shape) / (wins + losses + 2.0 * self.shape)
        low = 0.0 if not wins else _border(excluded, 0.0, inside)
        high = 1.0 if not losses else _border(excluded, 1.0, inside)
        return 2.0 * low - 1.0, 2.0 * high - 1.0

    def verdict(self, wins: float, losses: float, repeats: Repeats = independent) -> str:
        """``accept``, ``keep`` or ``go on``, from the two ends of the interval."""
        bound, share = -log(self.level), wins / max(wins + losses, 1.0)
        if share > 0.5 and self.log_e(wins, losses, repeats=repeats) >= bound:
            return ACCEPT
        worth = 0.5 + 0.5 * self.minimum
        if share < worth and self.log_e(wins, losses, worth, repeats) >= bound:
            return KEEP
        return GO_ON

    @property
    def most(self) -> int:
        """The number of sessions with a winner after which the test has ended in any case."""
        return _most_sessions(self)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _border(excluded: Callable[[float], bool], outside: float, inside: float) -> float:
    """The probability next to ``outside`` that is not excluded, by bisection."""
    for _ in range(60):
        middle = 0.5 * (outside + inside)
        outside, inside = (middle, inside) if excluded(middle) else (outside, middle)
    return inside


@lru_cache(maxsize=64)
def _most_sessions(test: SequentialTest) -> int:
    """The first number of sessions with a winner at which, and after which, the test has ended for all counts."""
    worth = 0.5 + 0.5 * test.minimum

    def ended(n: int) -> bool:
        """Whether the fewest wins that are accepted, a number with a fraction, are also few enough to be refused."""
        if test.verdict(n, 0) != ACCEPT:
            return False
        share = _border(lambda x: test.verdict(n * x, n - n * x) != ACCEPT, 0.5, 1.0)
        return share < worth and test.log_e(n * share, n - n * share, worth) >= -log(test.level)

    high = 2
    while not ended(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ended(middle) else (middle, high)
    return high
