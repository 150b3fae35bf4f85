"""A forked process does not have the threads of polars, and an error takes the place of waiting for them for ever.

polars starts threads when they are first needed. A process that is forked after that (by ``multiprocessing`` on Linux
before Python 3.14, or by a server that forks its workers) believes that they are there, and waits. Reading and writing
need them; what serves requests (``load``, ``fuse``, ``fit``, ``predict``, ``evaluate``) does without.
"""

import os
import re
import sys

from juryrank.errors import ForkError

POOLS = re.compile(r"polars-\d|async-executor")  # how polars names its threads

_running = False  # in this process
_left_behind = False  # in the process that this one was forked from


def threads_left_behind() -> bool:
    """Whether polars' threads were running when this process was forked, so that they are not here."""
    return _left_behind


def demand_threads(work: str) -> None:
    """A ForkError where ``work``, which needs the threads of polars, would wait for ever."""
    if _left_behind:
        raise ForkError(
            f"{work} does not work in this process: polars, which it uses, was at work before this process was forked, "
            "and does not survive a fork. Do it before the fork, or start processes by "
            "multiprocessing.get_context('spawn'); fuse, fit, predict and evaluate work here"
        )


def _before_fork() -> None:
    global _running
    _running = "polars" in sys.modules and any(map(POOLS.match, _thread_names()))


def _after_fork() -> None:
    global _left_behind
    _left_behind = _left_behind or _running


def _thread_names() -> list[str]:
    """The names of this process's threads; one of polars where the system does not tell."""
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
