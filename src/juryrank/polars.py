"""polars, imported when it is first used, and an error in forked processes instead of a deadlock.

Small TREC runs are fused without polars, in half the time. Its threads do not survive a fork: it starts them when they
are first needed, and a process that is forked after that (by ``multiprocessing`` on Linux before Python 3.14, or by a
server that forks its workers) would wait for them for ever. Reading and writing files need them; ``load``, ``fuse``,
``fit``, ``predict`` and ``evaluate`` do not.
"""

import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from juryrank.errors import ForkError

if TYPE_CHECKING:
    import polars as pl
else:

    class _Polars:
        """Stands for the module: looks a name up there on its first use."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("polars"), name)
            setattr(self, name, value)
            return value

    pl = _Polars()

__all__ = ["is_imported", "pl", "require_threads", "threads_are_lost"]

POLARS_THREAD = re.compile(r"polars-\d|async-executor")  # names of the threads of polars

_running = False  # whether polars' threads run in this process
_lost = False  # whether they ran in the process that this one was forked from


def is_imported() -> bool:
    """Whether polars is imported already, so that using it costs nothing more."""
    return "polars" in sys.modules


def threads_are_lost() -> bool:
    """Whether polars' threads were running when this process was forked, and are missing in it."""
    return _lost


def require_threads(work: str) -> None:
    """Raise a ForkError if ``work``, which needs the threads of polars, would wait for ever."""
    if _lost:
        raise ForkError(
            f"{work} does not work in this process: it uses polars, which had started its threads before this process "
            "was forked. Do it before the fork, or start processes with multiprocessing.get_context('spawn'); "
            "fuse, fit, predict and evaluate work here"
        )


def _before_fork() -> None:
    global _running
    _running = "polars" in sys.modules and any(map(POLARS_THREAD.match, _thread_names()))


def _after_fork() -> None:
    global _lost
    _lost = _lost or _running


def _thread_names() -> list[str]:
    """The names of this process's threads; one of polars if the system does not report them."""
    folder = f"/proc/{os.getpid()}/task"
    try:
        names = []
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/comm") as file:
                names.append(file.read())
        return names
    except OSError:  # not Linux, or a thread has just ended
        return ["polars-0"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
