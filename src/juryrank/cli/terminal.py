"""Output to the terminal: results on stdout; notes, warnings and progress bars on stderr."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from juryrank.cli.interrupts import before_end
from juryrank.cli.messages import on_command_line
from juryrank.errors import JuryrankWarning
from juryrank.progress import show_progress, show_remarks

if TYPE_CHECKING:
    from rich.console import Console

    from juryrank.report import Report

Show = Callable[[Sequence[Any], str], Iterable[Any]]

_quiet = [False]
PIPED_WIDTH = 200  # without a terminal, so that tables are not cut
FORCE_COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE")  # variables by which rich takes a pipe for a terminal


def console() -> Console:
    """The console for results."""
    from rich.console import Console

    return Console(width=console_width(), highlight=False)


def console_width() -> int:
    """The width of results: that of the terminal, or of COLUMNS."""
    columns = os.environ.get("COLUMNS", "")
    if not (sys.stdout.isatty() or (columns.isdecimal() and int(columns) > 0)):  # 0 means unknown
        return PIPED_WIDTH
    from shutil import get_terminal_size

    return get_terminal_size().columns


def print_report(report: Report) -> None:
    """Write a report to stdout; in colours, for which rich is imported, if that is a terminal."""
    if sys.stdout.isatty() or any(name in os.environ for name in FORCE_COLOURS):
        console().print(report, crop=False)
    else:
        sys.stdout.write("".join(f"{line}\n" for _, line in report.lines(console_width())))


def use_utf8() -> None:
    """Write UTF-8 whatever the locale; characters that cannot be encoded are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write_stdout(text: str) -> None:
    """Write text to stdout exactly as to a file; on a terminal, control characters are escaped."""
    from juryrank.io.files import stdout

    stdout().write(text.encode("utf-8", "backslashreplace"))


def print_error(error: object) -> None:
    """Write an error as one line to stderr."""
    _write_line(f"error: {on_command_line(str(error))}")


def note(text: str, *, quiet: bool) -> None:
    """Write a note as one line to stderr."""
    if not quiet:
        _write_line(text)


def set_quiet(quiet: bool) -> bool:
    """Store the value of ``--quiet`` for messages from inside the library."""
    _quiet[0] = quiet
    return quiet


@contextmanager
def show_library_remarks() -> Iterator[None]:
    """Within this context, messages of the library are lines on stderr, unless ``--quiet`` is given."""
    set_quiet(False)
    with show_remarks(lambda text: note(text, quiet=_quiet[0])):
        yield


def _write_line(line: str) -> None:
    """Write a line to stderr; an error while writing must not stop the results."""
    if not line.isprintable():
        from juryrank.report import escape_controls

        line = escape_controls(line)
    with suppress(OSError):
        print(line, file=sys.stderr)


def show_warnings_as_lines() -> None:
    """Show warnings of juryrank as one line each, without the location in the code."""
    plain = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, JuryrankWarning):
            _write_line(f"warning: {on_command_line(str(message))}")
        else:
            plain(message, category, filename, lineno, file, line)

    warnings.showwarning = show


@contextmanager
def bars(*, quiet: bool) -> Iterator[Show]:
    """Within this context, long work shows a progress bar on stderr, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda work, text: work
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:

        def show(work: Sequence[Any], text: str) -> Iterable[Any]:
            task = shown.add_task(text, total=len(work))
            for piece in work:
                yield piece
                shown.advance(task)
            shown.remove_task(task)

        with show_progress(show), before_end(shown.stop):  # stop() also restores the cursor
            yield show
