"""``python -m studies few-judgements``: which metric orders systems best when few items are judged."""

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
    """Compare orders of systems by few judgements with their order by all, for several metrics."""
    from studies import few_judgements

    present = present_sets(sets, few_judgements.SETS, data, quiet=quiet)
    deliver(lambda: few_judgements.measure_all(present, data), out, "json" if as_json else form, quiet=quiet)
