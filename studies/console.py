"""What the commands print: results go to stdout; notes, progress bars and errors go to stderr."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from juryrank.errors import JuryrankError, JuryrankWarning, UnknownNameError

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress bars and notes.")]

INTERRUPTED, READER_GONE = 130, 141  # as shells report SIGINT and SIGPIPE
GRACE = 5.0  # seconds that an interrupted process has to remove its temporary files
ATTEMPTS = 20  # to remove a folder

_progress: list[Progress] = []
_folders: list[Path] = []


def split_names(text: str) -> list[str]:
    """Names that are separated by commas.

    >>> split_names("files, kemeny")
    ['files', 'kemeny']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


class ReaderGoneError(Exception):
    """Nobody reads stdout any more, as in ``python -m studies data | head -1``."""


class OutputError(JuryrankError):
    """Results cannot be written to stdout."""


def show(text: str) -> None:
    """Print results to stdout."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise ReaderGoneError from None  # typer would end with 1 after a BrokenPipeError
    except OSError as error:
        raise OutputError(f"results cannot be written to stdout: {error.strerror or error}") from None


def note(text: str, *, quiet: bool = False) -> None:
    """Print one line to stderr."""
    if not quiet:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[None]:
    """Show a bar for all work that is passed to ``track`` inside the block, if stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        _progress.append(shown)
        try:
            yield
        finally:
            _progress.pop()


def track(work: Sequence[T], text: str) -> Iterator[T]:
    """Iterate over the work, with a progress bar inside ``progress_bars``.

    >>> list(track([1, 2], "folds"))
    [1, 2]
    """
    if not _progress:
        yield from work
        return
    shown = _progress[-1]
    task = shown.add_task(text, total=len(work))
    for piece in work:
        yield piece
        shown.advance(task)
    shown.remove_task(task)


def run_app(app: typer.Typer, name: str) -> None:
    """Run a command; exit with 0, 1 (wrong data or parameters), 2 (wrong usage or unknown name), 130 or 141."""
    _show_warnings_as_lines()
    try:
        with _end_soon_after_interrupt():
            app(prog_name=name)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ReaderGoneError:
        _discard_stdout()
        sys.exit(READER_GONE)
    except UnknownNameError as error:
        note(f"error: {error}")
        sys.exit(2)
    except JuryrankError as error:
        if isinstance(error, OutputError):
            _discard_stdout()
        note(f"error: {error}")
        sys.exit(1)


def _discard_stdout() -> None:
    """Python flushes stdout once more when it ends, which would fail again."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _show_warnings_as_lines() -> None:
    plain = warnings.formatwarning

    def one_line(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if issubclass(category, JuryrankWarning):
            return f"warning: {message}\n"
        return plain(message, category, filename, lineno, line)

    warnings.formatwarning = one_line


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed at the end, also when Ctrl-C ends the process while compiled code runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _folders.append(folder)
        try:
            yield folder
        finally:
            _folders.remove(folder)


@contextmanager
def _end_soon_after_interrupt() -> Iterator[None]:
    """Ctrl-C ends the process also while compiled code runs, which Python does not interrupt."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # polars would install a handler of its own
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_wait_for_interrupt, args=(reader,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        os.close(writer)


def _wait_for_interrupt(reader: int) -> None:
    while number := os.read(reader, 1):
        if number[0] == signal.SIGINT:
            for child in multiprocessing.active_children():
                child.terminate()  # a pool waits for its workers before the process ends
            time.sleep(GRACE)
            _remove_folders()
            os._exit(INTERRUPTED)
    os.close(reader)


def _remove_folders() -> None:
    """The code that still runs may write another file meanwhile, so that one attempt is not always enough."""
    for folder in list(_folders):
        for _ in range(ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
