"""``python -m studies interleaving``: what exploration costs, and how often the verdicts of interleaving are right."""

from __future__ import annotations

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet


def run(
    sets: Sets = None,
    data: Data = SHARED_DATA,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure exploration and interleaving with simulated users."""
    from studies import interleaving

    present = present_sets(sets, interleaving.SETS, data, quiet=quiet)
    deliver(lambda: interleaving.measure_all(present, data), out, "json" if as_json else form, quiet=quiet)
