"""Ctrl-C ends a command within two seconds, also inside compiled code.

Python raises KeyboardInterrupt between two bytecode instructions. A kernel or a solver is one instruction, however long
it takes, and thread pools are joined at exit. Therefore a thread is notified of the signal at once (through the wakeup
file descriptor), waits ``PATIENCE`` seconds for a regular exit, and then ends the process: callbacks registered here
are called first, and unfinished files are removed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # the exit code used by shells: 128 + SIGINT
PATIENCE = 0.5  # seconds to wait for a regular exit
LONGEST = 10.0  # seconds for the callbacks, which may wait for a reader of stdout

_callbacks: list[Callable[[], None]] = []


@contextmanager
def end_on_interrupt() -> Iterator[None]:
    """Within this context, Ctrl-C ends the process soon; no effect if SIGINT is ignored or has another handler."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        with _keep_ignoring():
            yield
        return
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(reader,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)  # earlier signals are still read, so that an interrupted process is ended


@contextmanager
def _keep_ignoring() -> Iterator[None]:
    """Within this context, SIGINT stays ignored: the import of polars would replace that by a handler of its own."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # also for threads that start from now on
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # before it is unblocked: a signal that waits is dropped
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def before_end(callback: Callable[[], None]) -> Iterator[None]:
    """Within this context, ``callback`` is called in another thread before an unresponsive process is ended."""
    _callbacks.append(callback)
    try:
        yield
    finally:
        _callbacks.remove(callback)


@contextmanager
def deliver_once(deliver: Callable[[], None]) -> Iterator[None]:
    """Call ``deliver`` exactly once: after the block, or when Ctrl-C ends it."""
    lock, done = threading.Lock(), False

    def once() -> None:
        nonlocal done
        with lock:
            if not done:
                done = True
                deliver()

    with before_end(once):
        try:
            yield
        except KeyboardInterrupt:
            once()
            raise
        once()


def _wait(reader: int) -> None:
    """Read signal numbers; the second Ctrl-C ends the waiting, the third exits at once."""
    presses = 0
    while number := os.read(reader, 1):
        if number[0] != signal.SIGINT:
            continue
        presses += 1
        if presses == 1:
            _stop_children()
            _later(PATIENCE, _end)
        elif presses == 2:
            _later(0.0, _end)
        else:
            os._exit(INTERRUPTED)
    os.close(reader)


def _later(seconds: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, call)
    timer.daemon = True  # so that the process can exit without waiting for it
    timer.start()


def _stop_children() -> None:
    """End worker processes, which the parent waits for: a terminal interrupts them, but ``kill -INT`` does not."""
    if multiprocessing := sys.modules.get("multiprocessing"):
        for child in multiprocessing.active_children():
            child.terminate()


def _end() -> None:
    _later(LONGEST, lambda: os._exit(INTERRUPTED))
    for callback in reversed(_callbacks):
        with contextlib.suppress(Exception):
            callback()
    if files := sys.modules.get("juryrank.io.files"):
        files.discard_unfinished()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(INTERRUPTED)
