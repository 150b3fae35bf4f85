"""``juryrank studio``: a page on this machine to look at experts, judge items and watch the fusion learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.interrupts import deliver_once
from juryrank.cli.judge import SessionOptions, TextOptions, judge_name, share
from juryrank.cli.reading import LabelledReadOptions
from juryrank.cli.terminal import note
from juryrank.errors import MissingExtraError

if TYPE_CHECKING:
    from juryrank.studio.material import Material

LONGEST_TITLE = 80  # characters

Data = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DATA]",
        callback=options.stdin_once,
        help="Files or folders, - for stdin; several are read as one. Without DATA, cooking data is shown.",
    ),
]


def run(
    data: Data = None,
    *,
    session: SessionOptions,
    texts: TextOptions,
    reading: LabelledReadOptions,
    port: Annotated[
        int | None, typer.Option(help="The port; default: 8348, or the next that is free. 0 is any free port.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="The token of the address, 16 characters or more; default: a new one.")
    ] = None,
    allow_host: options.AllowedHosts = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser, or only print its address.")
    ] = True,
    quiet: options.Quiet = False,
) -> None:
    """Open a page on this machine to look at experts, judge items and watch the fusion learn."""
    try:
        from juryrank.studio.judging import JudgingSettings
        from juryrank.studio.run import Address
        from juryrank.studio.run import run as serve
        from juryrank.studio.studio import Studio
    except ImportError as error:
        raise MissingExtraError.of("serve", f"juryrank studio needs {error.name}") from None
    from juryrank.tasks.judge.grades import Grades
    from juryrank.tasks.judge.store import JudgementFile

    address = Address(port, token, browser, tuple(allow_host or ()))
    session.check()
    material = find_material(data or [], session, texts, reading, quiet=quiet)
    settings = JudgingSettings(
        JudgementFile(session.judgements), judge_name(session.judge), Grades.parse(session.grades),
        share(session.overlap),
    )  # fmt: skip
    studio = Studio(material, settings)
    end = f"The studio has ended; judgements are saved in {session.judgements}."
    with deliver_once(lambda: note(end, quiet=quiet)):
        serve(studio, address, lambda url: print(url, flush=True))


def find_material(
    sources: list[Path], session: SessionOptions, texts: TextOptions, reading: LabelledReadOptions, *, quiet: bool
) -> Material:
    """The data and its texts; without data, that of the demo."""
    from juryrank.studio.material import Material, read_demo

    if not sources:
        for name, given in {
            "--labels": reading.labels,
            "--texts": texts.texts,
            "--query-texts": texts.query_texts,
        }.items():
            if given is not None:
                raise typer.BadParameter("it requires DATA", param_hint=name)
        return read_demo()
    data = session.data(sources, reading)
    items, queries = texts.read(data, quiet=quiet)
    title = ", ".join(path.name or str(path) for path in sources)
    return Material(title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…", data, items, queries)
