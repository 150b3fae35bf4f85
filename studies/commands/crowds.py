"""``python -m studies crowds``: labels from the answers of a crowd, against the truth and next to crowd-kit."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.study import Data, Out, deliver


def run(
    data: Data = SHARED_DATA,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Number of simulated crowds.")] = 10,
    slow: Annotated[bool, typer.Option("--slow", help="Also GLAD of crowd-kit, which takes minutes.")] = False,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
) -> None:
    """Compare labels from the answers of crowds with known labels, by our methods and those of crowd-kit."""
    from studies import crowds

    deliver(lambda: crowds.measure(data, draws, slow=slow), out, "json" if as_json else form, quiet=True)
