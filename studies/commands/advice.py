"""``python -m studies advice``: what the advice on judging says, against what more judgements truly add."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet


def run(
    sets: Sets = None,
    draws: Annotated[int, typer.Option("--draws", min=2, help="Random splits of the queries.")] = 10,
    data: Data = SHARED_DATA,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how far the advice on judging is right, on four collections with judgements of the judging plan."""
    from studies import advice, judging

    present = present_sets(sets, judging.SETS, data, quiet=quiet)
    deliver(lambda: advice.measure_all(present, data, draws=draws), out, "json" if as_json else form, quiet=quiet)
