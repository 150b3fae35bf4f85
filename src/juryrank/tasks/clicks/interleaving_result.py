"""The result of an interleaving experiment: counts, confidence sequences, verdict and picture."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, Self

from juryrank.report import Report, Table, p_value
from juryrank.tasks.clicks.sequential import ACCEPT, GO_ON, KEEP, SequentialTest, Tally

POINTS = 200  # of a curve in the picture


@dataclass(frozen=True)
class Challenger:
    """A ranking compared with the one in use: sessions that it won, lost and tied, and its preference, from -1 to 1.

    ``independent`` is the number of independent sessions with a winner that those of all users count as.
    """

    name: str
    wins: int
    losses: int
    ties: int
    preference: float
    low: float
    high: float
    p: float
    verdict: str
    independent: float

    @classmethod
    def of(cls, name: str, tally: Tally, test: SequentialTest) -> Self:
        """The numbers that follow from the counts."""
        wins, losses, ties = (tally.outcomes[outcome] for outcome in (1, -1, 0))
        preference = (wins - losses) / (wins + losses) if wins + losses else 0.0
        low, high = test.interval(wins, losses, tally.repeats)
        p, verdict = test.p_value(wins, losses, tally.repeats), test.verdict(wins, losses, tally.repeats)
        independent = (wins + losses) / tally.repeats(preference)
        return cls(name, wins, losses, ties, preference, low, high, p, verdict, independent)


def overall_verdict(verdicts: Mapping[str, str], control: str, low: Callable[[str], float]) -> str:
    """What to do about all challengers; of several accepted ones, that with the highest lower end of its interval."""
    if accepted := [name for name, verdict in verdicts.items() if verdict == ACCEPT]:
        return f"{ACCEPT} {max(accepted, key=low) if len(accepted) > 1 else accepted[0]}"
    return GO_ON if GO_ON in verdicts.values() else f"{KEEP} {control}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class InterleavingResult(Report):
    """What the clicks on interleaved pages say about each challenger; ``verdict`` says what to do."""

    control: str
    challengers: list[Challenger]
    n_sessions: int
    n_users: int | None  # None: no session has a user
    n_without_user: int
    n_clicks: int
    n_without_team: int
    n_not_shown: int
    level: float
    test: SequentialTest  # of each challenger
    paths: dict[str, list[tuple[Hashable, int]]] = field(default_factory=dict)  # users and winners, without ties

    @property
    def verdict(self) -> str:
        """``accept NAME``, ``keep NAME`` or ``go on``."""
        low = {c.name: c.low for c in self.challengers}
        return overall_verdict({c.name: c.verdict for c in self.challengers}, self.control, low.__getitem__)

    def __repr__(self) -> str:
        return f"InterleavingResult({self.n_sessions} sessions: {self.verdict})"

    def tables(self, percent: bool | None = None) -> list[Table]:
        head = [f"against {self.control}", "wins", "losses", "ties", "preference", "from", "to", "p", "verdict"]
        rows = [
            [c.name, str(c.wins), str(c.losses), str(c.ties), *(f"{v:+.3f}" for v in (c.preference, c.low, c.high)),
             p_value(c.p), c.verdict]
            for c in self.challengers
        ]  # fmt: skip
        return [Table(f"Verdict: {self.verdict}", head, rows, n_names=1, note=self._note())]

    def _note(self) -> str:
        parts = [
            f"{self.n_sessions} sessions, {self.n_clicks} clicked items, {self.n_without_team} of them of no team",
            *([f"{self.n_not_shown} clicks on items that were not shown, ignored"] if self.n_not_shown else []),
        ]
        confidence = f"{100 * (1 - self.test.level):g} %"
        return (
            f"{'; '.join(parts)}. Preference: (wins - losses) / (wins + losses), with a {confidence} confidence "
            f"sequence, valid at every look. Accept above 0; keep below {self.test.minimum:g}; a decision after at "
            f"most {self.test.most} independent sessions with a winner. {self._about_users()}"
        )

    def _about_users(self) -> str:
        if self.n_users is None:
            return "Sessions count as independent, as no user is known."
        count_as = ", ".join(f"{c.wins + c.losses} as {c.independent:.0f} ({c.name})" for c in self.challengers)
        alone = (
            f" {self.n_without_user} sessions without a user count as those of users of their own."
            if self.n_without_user
            else ""
        )
        return (
            f"Users: {self.n_users}; as sessions of one user are alike, sessions with a winner count as fewer "
            f"independent ones: {count_as}.{alone}"
        )

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(challenger) for challenger in self.challengers]

    def to_dict(self) -> dict[str, Any]:
        counts = {
            "sessions": self.n_sessions,
            "users": self.n_users,
            "sessions_without_user": self.n_without_user,
            "clicks": self.n_clicks,
            "clicks_without_team": self.n_without_team,
            "clicks_not_shown": self.n_not_shown,
        }
        rule = {"level": self.level, "minimum": self.test.minimum, "most": self.test.most}
        return {"verdict": self.verdict, "control": self.control, "challengers": self.rows(), **counts, **rule}

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the confidence sequence of each challenger over the sessions with a winner, in the order of the log."""
        from juryrank.io.pictures import saved_drawing
        from juryrank.report.figure import drawn_names

        with saved_drawing(path, 7.0, 4.0) as figure:
            axes = figure.subplots()
            names = drawn_names([c.name for c in self.challengers])
            for n, (challenger, shown) in enumerate(zip(self.challengers, names, strict=True)):
                at, middle, low, high = self._curve(self.paths.get(challenger.name, []))
                axes.fill_between(at, low, high, alpha=0.2, color=f"C{n}", linewidth=0)
                axes.plot(at, middle, color=f"C{n}", label=shown)
            axes.axhline(0.0, color="black", linewidth=0.8)
            axes.axhline(self.test.minimum, color="black", linewidth=0.8, linestyle=":")
            axes.set(xlabel="sessions with a winner", ylabel=f"preference over {drawn_names([self.control])[0]}")
            axes.set(ylim=(-1.0, 1.0), title=f"Verdict: {drawn_names([self.verdict])[0]}")
            axes.legend(loc="upper right", frameon=False)

    def _curve(
        self, winners: Sequence[tuple[Hashable, int]]
    ) -> tuple[list[int], list[float], list[float], list[float]]:
        """Numbers of sessions, and the preference with its interval after each."""
        step, tally = max(len(winners) // POINTS, 1), Tally()
        at: list[int] = []
        curves: tuple[list[float], list[float], list[float]] = ([], [], [])
        for n, (user, winner) in enumerate(winners, 1):
            tally.add(user, winner)
            if n % step == 0 or n == len(winners):
                at.append(n)
                now = Challenger.of("", tally, self.test)
                for curve, value in zip(curves, (now.preference, now.low, now.high), strict=True):
                    curve.append(value)
        return at, *curves
