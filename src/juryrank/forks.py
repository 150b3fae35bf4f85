"""An error in forked processes instead of a deadlock: the threads of polars do not survive a fork.

polars starts threads when they are first needed. A process that is forked after that (by ``multiprocessing`` on Linux
before Python 3.14, or by a server that forks its workers) would wait for them for ever. Reading and writing files need
them; ``load``, ``fuse``, ``fit``, ``predict`` and ``evaluate`` do not.
"""

import os
import re
import sys

from juryrank.errors import ForkError

POLARS_THREAD = re.compile(r"polars-\d|async-executor")  # names of the threads of polars

_running = False  # whether polars' threads run in this process
_lost = False  # whether they ran in the process that this one was forked from


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
