"""``python -m studies curves``: how many labelled queries a learned method needs."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet


def run(
    methods: Annotated[
        str, typer.Option("--methods", metavar="METHOD,…", help="Learned methods, also as jury:prior=equal.")
    ] = "jury",
    sets: Sets = None,
    data: Data = SHARED_DATA,
    draws: Annotated[int, typer.Option("--draws", min=2, help="Draws of training queries.")] = 10,
    judged: Annotated[
        int | None, typer.Option("--judged", min=1, help="Use the labels of the first items of RRF only.")
    ] = None,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the gain over RRF after learning from 1, 2, 5, 10 and 20 labelled queries."""
    from studies import learning_curves

    present = present_sets(sets, learning_curves.SETS, data, quiet=quiet)
    deliver(
        lambda: learning_curves.measure_all(methods, present, data, draws=draws, judged=judged),
        out,
        "json" if as_json else form,
        quiet=quiet,
    )
