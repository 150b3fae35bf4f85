"""``python -m studies judges``: labels from the grades of several judges, against the truth."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.study import Data, Out, deliver


def run(
    data: Data = SHARED_DATA,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Repetitions of what is random.")] = 10,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
) -> None:
    """Compare labels from the grades of several judges with gold labels, and models learned from them."""
    from studies import judges

    deliver(lambda: judges.measure(data, draws), out, "json" if as_json else form, quiet=True)
