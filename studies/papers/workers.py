"""Processes that fit methods in parallel: compiling kernels, and much of training, holds the interpreter's lock."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor

from juryrank.errors import JuryrankWarning
from studies.papers.experiment import Context


def workers(context: Context) -> ProcessPoolExecutor:
    """One process per core, the same for all experiments; each runs its kernels in one thread."""
    return context.once("workers", _start)  # type: ignore[no-any-return]


def _start() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(_cores(), multiprocessing.get_context("spawn"), initializer=_prepare)


def _cores() -> int:
    """The number of cores that this process may use, or JURYRANK_THREADS."""
    wanted = os.environ.get("JURYRANK_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare() -> None:
    warnings.simplefilter("ignore", JuryrankWarning)  # as in the main process
    os.environ["JURYRANK_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a traceback
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
