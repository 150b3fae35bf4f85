"""What the user sees: results on stdout, everything else on stderr."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TextIO

from juryrank.cli.interrupts import before_end
from juryrank.cli.messages import on_command_line
from juryrank.errors import JuryrankWarning
from juryrank.progress import heard, watched

if TYPE_CHECKING:
    from rich.console import Console

Show = Callable[[Sequence[Any], str], Iterable[Any]]

_quiet = [False]
PIPED_WIDTH = 200  # without a terminal nobody scrolls, and a cut table is lost


def console() -> Console:
    """Where results are drawn."""
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    known = sys.stdout.isatty() or (columns.isdecimal() and int(columns) > 0)  # 0 is set where nobody knows
    return Console(width=get_terminal_size().columns if known else PIPED_WIDTH, highlight=False)


def speak_utf8() -> None:
    """From now on text goes out as UTF-8, whatever the locale; what cannot be text is shown as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def put(text: str) -> None:
    """Text on stdout as it would be in a file; a terminal obeys nothing that is in a name."""
    from juryrank.io.files import stdout

    stdout().write(text.encode("utf-8", "backslashreplace"))


def complain(error: object) -> None:
    """One line about what went wrong."""
    _say(f"error: {on_command_line(str(error))}")


def note(text: str, *, quiet: bool) -> None:
    """One line about what was done."""
    if not quiet:
        _say(text)


def hush(quiet: bool) -> bool:
    """What ``--quiet`` says, kept for remarks from inside the library."""
    _quiet[0] = quiet
    return quiet


@contextmanager
def remarks() -> Iterator[None]:
    """While this lasts, remarks of the library are lines on stderr, unless ``--quiet`` is given."""
    hush(False)
    with heard(lambda text: note(text, quiet=_quiet[0])):
        yield


def _say(line: str) -> None:
    """A line on stderr; where that cannot be written, results are still worth having."""
    from juryrank.report import visible

    with suppress(OSError):
        print(visible(line), file=sys.stderr)


def show_warnings_as_lines() -> None:
    """From now on warnings of juryrank are one line each, without the place in the code."""
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
            _say(f"warning: {on_command_line(str(message))}")
        else:
            plain(message, category, filename, lineno, file, line)

    warnings.showwarning = show


@contextmanager
def bars(*, quiet: bool) -> Iterator[Show]:
    """While this lasts, long work is shown on stderr, one bar for each; none where nobody would see them."""
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

        with watched(show), before_end(shown.stop):  # which also shows the cursor again
            yield show
