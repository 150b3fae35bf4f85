"""InterleavingTest: clicks on interleaved pages, credited to teams, and the verdict they lead to."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from juryrank.data.names import natural_key
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.tasks.clicks.interleaving import Interleaved
from juryrank.tasks.clicks.interleaving_result import Challenger, InterleavingResult, overall_verdict
from juryrank.tasks.clicks.sequential import SequentialTest, Tally

FORMAT, VERSION = "juryrank-interleaving", 2  # 1: without users
NOT_SHOWN = ""  # instead of a team, for a click on an item that was not on the page

Clicks = dict[tuple[str, str], str | None]  # the team of each clicked item, by query and item


class InterleavingTest:
    """Which of several rankings people prefer, from their clicks on interleaved pages.

    ``teams`` are the names of the rankings; the first is the one in use, all others are challengers. ``add`` the clicks
    of each session. A session is won by the challenger if more clicked items are of its team than of that in use;
    several clicks on one item count once. ``verdict`` may be read after every session: the probability of accepting a
    challenger that is not better, however often one looks, is at most ``level`` (of all challengers together), and so
    is that of rejecting one whose preference is ``minimum`` or more (see ``SequentialTest``).

    >>> test = InterleavingTest(["old", "new"])
    >>> for n in range(100):
    ...     test.add(n, {"a": "old", "b": "new", "c": None}, clicked=["b"] if n % 8 else ["a", "c"])
    >>> test.verdict
    'accept new'

    Sessions that are added again change nothing, and parts of a session add up, so logs of several servers can be
    merged in any order. Sessions must be complete: add a session when it has ended. Users must be independent of each
    other: give the ``user`` of each session where users have several, or the error may be several times ``level``.
    """

    def __init__(self, teams: Iterable[str], *, level: float = 0.05, minimum: float = 0.05) -> None:
        names = list(teams) if not isinstance(teams, str) else [teams]
        if len(names) < 2 or len(set(names)) < len(names) or not all(isinstance(n, str) and n for n in names):
            raise ParameterError(f"teams must be two or more different names, that in use first, got {names!r}")
        SequentialTest(level=level, minimum=minimum)
        self.teams, self.level, self.minimum = tuple(names), level, minimum
        self._test = SequentialTest(level=level / (len(names) - 1), minimum=minimum)
        self._sessions: dict[str, Clicks] = {}
        self._users: dict[str, str] = {}  # by session
        self._tallies = {name: Tally() for name in names[1:]}

    def __repr__(self) -> str:
        return f"InterleavingTest({list(self.teams)}, {len(self._sessions)} sessions: {self.verdict})"

    def __len__(self) -> int:
        return len(self._sessions)

    def add(
        self,
        session: Any,
        shown: Interleaved | Mapping[Any, str | None],
        clicked: Iterable[Any],
        *,
        query: Any = "",
        user: Any = None,
    ) -> None:
        """Add the clicks on one page: what was shown, as ``interleave`` gives it or ``{item: team}``, and the clicks.

        A session may have pages for several queries. Clicks on items that were not shown are counted and reported.
        A session without a ``user`` counts as that of a user of its own.
        """
        if session is None or session == "":
            raise DataError("a session needs an id (text or a number), so that it counts once")
        if isinstance(clicked, str):
            raise DataError(f"clicked must be a list of the items that were clicked, got the text {clicked[:40]!r}")
        team_of = shown.team_of if isinstance(shown, Interleaved) else shown
        teams = {str(item): team for item, team in team_of.items()}
        for team in teams.values():
            if team is not None and team not in self.teams:
                raise UnknownNameError.of("team", str(team), self.teams)
        clicks = {(str(query), str(item)): teams.get(str(item), NOT_SHOWN) for item in clicked}
        self._add(str(session), clicks, None if user is None or user == "" else str(user))

    def _add(self, session: str, clicks: Clicks, user: str | None = None) -> None:
        known, unit = self._sessions.get(session), self._unit(session)
        if user is not None and self._users.setdefault(session, user) != user:
            raise DataError(
                f"session {session!r}: expected one user, got {self._users[session]!r} and {user!r}; "
                "give the sessions of different users different ids"
            )
        together = dict(known or {})
        for place, team in clicks.items():
            together[place] = _common_team(together[place], team) if place in together else team
        self._sessions[session] = together
        before, now = Counter(known.values() if known else ()), Counter(together.values())
        for name, tally in self._tallies.items():
            if known is not None:
                tally.add(unit, _outcome(before, name, self.teams[0]), -1)
            tally.add(self._unit(session), _outcome(now, name, self.teams[0]))

    def _unit(self, session: str) -> Hashable:
        """The user of a session, or the session where no user is known."""
        return ("user", self._users[session]) if session in self._users else ("session", session)

    @property
    def verdict(self) -> str:
        """``accept NAME``, ``keep NAME`` or ``go on``, at once; ``result`` has the numbers."""
        verdicts = {
            name: self._test.verdict(tally.outcomes[1], tally.outcomes[-1], tally.repeats)
            for name, tally in self._tallies.items()
        }
        return overall_verdict(verdicts, self.teams[0], lambda name: self._challenger(name).low)

    def _challenger(self, name: str) -> Challenger:
        return Challenger.of(name, self._tallies[name], self._test)

    def result(self) -> InterleavingResult:
        """Counts, preferences with their confidence sequences, and the verdict."""
        sessions = {session: Counter(clicks.values()) for session, clicks in self._sessions.items()}
        paths = {
            name: [
                (self._unit(s), won) for s, found in sessions.items() if (won := _outcome(found, name, self.teams[0]))
            ]
            for name in self._tallies
        }
        total = sum(sessions.values(), Counter())
        return InterleavingResult(
            control=self.teams[0],
            challengers=[self._challenger(name) for name in self._tallies],
            n_sessions=len(sessions),
            n_users=len(set(self._users.values())) or None,
            n_without_user=len(sessions) - len(self._users),
            n_clicks=total.total(),
            n_without_team=total[None],
            n_not_shown=total[NOT_SHOWN],
            level=self.level,
            test=self._test,
            paths=paths,
        )

    @classmethod
    def from_log(
        cls,
        log: Any,
        *,
        control: str | None,
        level: float = 0.05,
        minimum: float = 0.05,
        columns: Mapping[str, object] | None = None,
    ) -> Self:
        """The test of a log: a table (file, frame or list of rows), or a list of such, with a row for each item shown.

        The columns are session, item, team (empty: none) and clicked, and perhaps user, query and position; ``columns``
        names other headers. Rows without a position were not shown. ``control`` is the team of the ranking in use.
        """
        from juryrank.tasks.clicks.interleaving_log import read_log

        rows = read_log(log, columns)
        teams = sorted(rows["team"].drop_nulls().unique(), key=natural_key)
        if len(teams) < 2:
            raise DataError(f"the log: expected two teams or more in column 'team', found {', '.join(teams) or 'none'}")
        if control is None:
            raise ParameterError(f"control must be the team of the ranking in use: one of {', '.join(teams)}")
        if control not in teams:
            raise UnknownNameError.of("team", control, teams)
        test = cls([control, *(team for team in teams if team != control)], level=level, minimum=minimum)
        for session, user in rows.select("session", "user").unique(maintain_order=True).iter_rows():
            test._add(session, {}, user)
        for session, query, item, team, _, shown, _ in rows.filter("clicked").iter_rows():
            test._add(session, {(query, item): team if shown else NOT_SHOWN})
        return test

    def merge(self, other: InterleavingTest) -> Self:
        """A test of the sessions of both; the order of merging does not matter."""
        if (other.teams, other.level, other.minimum) != (self.teams, self.level, self.minimum):
            raise ParameterError(
                "only tests with the same teams, level and minimum can be merged; "
                f"got {list(self.teams)}, {self.level}, {self.minimum} and {list(other.teams)}, {other.level}, "
                f"{other.minimum}"
            )
        merged = type(self)(self.teams, level=self.level, minimum=self.minimum)
        for part in (self, other):
            for session, clicks in part._sessions.items():
                merged._add(session, clicks, part._users.get(session))
        return merged

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sessions to a JSON file; writing is atomic."""
        from juryrank.io.files import save

        version = VERSION if self._users else 1
        head = {"format": FORMAT, "version": version, "teams": self.teams, "level": self.level, "minimum": self.minimum}
        sessions = {
            session: [[query, item, team] for (query, item), team in clicks.items()]
            for session, clicks in self._sessions.items()
        }
        save(Path(path), (json.dumps({**head, "sessions": sessions, "users": self._users}) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The test in a JSON file."""
        from juryrank.io.files import load

        try:
            content = json.loads(load(Path(path)).data)
            if content["format"] != FORMAT or content["version"] > VERSION:
                raise ValueError
            test = cls(content["teams"], level=content["level"], minimum=content["minimum"])
            users = {session: str(user) for session, user in content.get("users", {}).items()}
            for session, clicks in content["sessions"].items():
                teams = {(query, item): test._known_team(team) for query, item, team in clicks}
                test._add(session, teams, users.get(session))
        except (ValueError, TypeError, KeyError, AttributeError, ParameterError, RecursionError):
            raise DataError(
                f"{path}: not the file of an InterleavingTest, or damaged; expected what save() writes"
            ) from None
        return test

    def _known_team(self, team: Any) -> str | None:
        if team is not None and team != NOT_SHOWN and team not in self.teams:
            raise ValueError(team)
        return None if team is None else str(team)


def _common_team(one: str | None, two: str | None) -> str | None:
    """The team of an item that was recorded twice; none where the records differ."""
    if NOT_SHOWN in (one, two):
        return two if one == NOT_SHOWN else one
    return one if one == two else None


def _outcome(clicked: Mapping[str | None, int], challenger: str, control: str) -> int:
    """1 if the challenger won the session, -1 if it lost, 0 for a tie; ``clicked`` are the items of each team."""
    difference = clicked.get(challenger, 0) - clicked.get(control, 0)
    return (difference > 0) - (difference < 0)
