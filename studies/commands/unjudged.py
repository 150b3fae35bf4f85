"""``python -m studies unjudged``: settings of ``unjudged`` with labels of several kinds."""

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
    """Measure the gain of jury over RRF with complete labels, few, and positives only, by setting of ``unjudged``."""
    from studies import judging, unjudged

    present = present_sets(sets, judging.SETS, data, quiet=quiet)
    deliver(lambda: unjudged.measure_all(present, data, draws=draws), out, "json" if as_json else form, quiet=quiet)
