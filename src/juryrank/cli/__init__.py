"""The command line: thin wrappers of the library, one command per file."""

import sys
from typing import Annotated

import typer

from juryrank import __version__
from juryrank.cli import interrupts
from juryrank.cli.commands import Group
from juryrank.cli.plugins import Plugins
from juryrank.cli.stdout import READER_GONE, ReaderGoneError, guard_stdout
from juryrank.cli.terminal import print_error, show_library_remarks, show_warnings_as_lines, use_utf8
from juryrank.errors import JuryrankError, UnknownNameError

app = typer.Typer(
    cls=Group,
    help="Combine the rankings of several experts into one ranking.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"juryrank {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    plugin: Plugins = None,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    run_app(app, "juryrank")  # also for ``python -m juryrank``: completion depends on the name


def run_app(app: typer.Typer, name: str) -> None:
    """Run commands; exit with 0, 1 (data or parameters are wrong), 2 (wrong usage or unknown name) or 130."""
    guard_stdout()
    show_warnings_as_lines()
    use_utf8()
    try:
        try:
            with interrupts.end_on_interrupt(), show_library_remarks():
                app(prog_name=name)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(interrupts.INTERRUPTED)
    except ReaderGoneError:
        sys.exit(READER_GONE)
    except UnknownNameError as error:
        print_error(error)
        sys.exit(2)
    except JuryrankError as error:
        print_error(error)
        sys.exit(1)
