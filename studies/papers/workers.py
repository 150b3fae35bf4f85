"""Processes that fit methods side by side: compiling kernels, and much of learning, holds the interpreter's lock."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor

from juryrank.errors import JuryrankWarning
from juryrank.kernels.jit import threads
from studies.papers.experiment import Context


def workers(context: Context) -> ProcessPoolExecutor:
    """As many as cores, the same for all experiments; each runs its kernels in one thread."""
    return context.once("workers", _started)  # type: ignore[no-any-return]


def _started() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(threads(), multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    warnings.simplefilter("ignore", JuryrankWarning)  # as where experiments run
    os.environ["JURYRANK_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a traceback
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
