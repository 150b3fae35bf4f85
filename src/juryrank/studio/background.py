"""Work that takes longer than an answer may: done by one thread, kept until the labels change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from juryrank.errors import JuryrankError
from juryrank.server.logs import log

Work = tuple[int, Callable[[], Any]]  # a version of the labels, and what is to be computed of it
NEVER = -1


class Known(NamedTuple):
    """The last result of some work, the version of the labels it is of, and whether a newer one is being computed."""

    result: Any
    version: int
    working: bool


class Background:
    """Results by name; of several requests for one name that wait, the last is computed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._results: dict[str, tuple[int, Any]] = {}
        self._waiting: dict[str, Work] = {}
        self._under_way: dict[str, Work] = {}
        threading.Thread(target=self._work, name="juryrank-studio", daemon=True).start()

    def get(self, name: str, version: int, compute: Callable[[], Any]) -> Known:
        """The newest result of that name, None if there is none yet; one of this version is begun where needed.

        An error that the user can mend is a result, too. A newer version will do in place of an older one.
        """
        with self._changed:
            known = self._results.get(name)
            if known is not None and known[0] >= version:
                return Known(known[1], known[0], False)
            begun = [each for each in (self._waiting.get(name), self._under_way.get(name)) if each is not None]
            if all(of < version for of, _ in begun):
                self._waiting[name] = (version, compute)
                self._changed.notify_all()
            return Known(None if known is None else known[1], NEVER if known is None else known[0], True)

    def latest(self, name: str) -> Any:
        """The newest result of that name, None if there is none; nothing is begun."""
        with self._changed:
            return self._results.get(name, (NEVER, None))[1]

    def wait(self, name: str, version: int, compute: Callable[[], Any]) -> Any:
        """The result of this version, when it is there."""
        while (known := self.get(name, version, compute)).working:
            with self._changed:
                self._changed.wait(0.05)
        return known.result

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                name = next(iter(self._waiting))
                version, compute = self._waiting.pop(name)
                self._under_way = {name: (version, compute)}
            try:
                result: Any = compute()
            except JuryrankError as error:
                result = error
            except Exception as error:
                log.exception("%s could not be computed", name)
                result = JuryrankError(f"{name} could not be computed: {error}")
            with self._changed:
                self._results[name], self._under_way = (version, result), {}
                self._changed.notify_all()
