"""``python -m studies clicks``: learning from simulated clicks."""

from __future__ import annotations

from typing import Annotated

import typer

from juryrank.errors import UnknownNameError
from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet, split_names


def run(
    sets: Sets = None,
    users: Annotated[str | None, typer.Option("--users", metavar="NAME,…", help="Users; by default all.")] = None,
    sessions: Annotated[str, typer.Option("--sessions", metavar="N,…", help="Sessions for each query.")] = "30",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How often folds and clicks are drawn.")] = 3,
    with_references: Annotated[
        bool, typer.Option("--references", help="Also labels of a known user, and true labels of the shown items.")
    ] = False,
    data: Data = SHARED_DATA,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how much of the gain of true labels simulated clicks give."""
    from studies import clicks

    wanted = list(clicks.SETS) if sets is None else split_names(sets)
    people = list(clicks.USERS) if users is None else split_names(users)
    for kind, names, known in (("dataset", wanted, clicks.SETS), ("user", people, clicks.USERS)):
        for name in names:
            if name not in known:
                raise UnknownNameError.of(kind, name, known)
    counts = split_names(sessions)
    if not counts or not all(count.isdecimal() and int(count) for count in counts):
        raise typer.BadParameter(f"expected counts such as 1,30, got {sessions!r}", param_hint="--sessions")
    deliver(
        lambda: clicks.measure_all(
            wanted, people, [int(count) for count in counts], seeds, data, with_references=with_references
        ),
        out,
        "json" if as_json else form,
        quiet=quiet,
    )
