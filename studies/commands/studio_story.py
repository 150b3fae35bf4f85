"""``python -m studies studio-story``: the story of docs/studio.md, from two runs to a deployed model."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.study import Data, Out, deliver
from studies.console import Quiet


def run(
    runs: Annotated[
        str, typer.Option("--runs", metavar="NAME,…", help="Runs of TREC-COVID round 1.")
    ] = "sab20.1.meta.docs,CSIROmedNIR",
    most: Annotated[int, typer.Option("--most", min=10, help="Judgements that are made.")] = 200,
    data: Data = SHARED_DATA,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge through the studio with simulated judgements, and evaluate the model on held-out topics."""
    from studies import studio_story

    chosen = tuple(filter(None, map(str.strip, runs.split(","))))
    deliver(lambda: studio_story.tell(chosen, data, most), out, "json" if as_json else form, quiet=quiet)
