"""``python -m studies verdict``: whether the verdict of a learned model is right."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet


def run(
    method: Annotated[str, typer.Option("--method", help="The learned method.")] = "jury",
    sets: Sets = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Random subsets of each dataset.")] = 50,
    data: Data = SHARED_DATA,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Follow the verdict on random subsets of experts and labelled queries, and test its intervals."""
    from studies import verdict

    present = present_sets(sets, verdict.SETS, data, quiet=quiet)
    deliver(lambda: verdict.measure_all(present, data, draws, method), out, "json" if as_json else form, quiet=quiet)
