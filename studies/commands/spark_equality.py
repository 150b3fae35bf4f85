"""``python -m studies spark-equality``: results of Spark next to those of one machine."""

from __future__ import annotations

from typing import Annotated

import typer

from juryrank.errors import DataError, UnknownNameError
from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet, split_names, temporary_folder

Master = Annotated[
    str,
    typer.Option(
        "--master", help="local[2], the address of a standalone cluster (spark://HOST:PORT), or connect for Connect."
    ),
]


def run(
    data: Data = SHARED_DATA,
    sets: Sets = None,
    master: Master = "local[2]",
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fuse, fit and evaluate whole data sets on Spark and on one machine; exit code 1 if results differ."""
    from studies import spark_equality
    from studies.spark_equality import NAMES, RANDOM
    from studies.spark_equality import SETS as REAL

    asked = list(NAMES) if sets is None else split_names(sets)
    for name in asked:
        if name not in NAMES:
            raise UnknownNameError.of("dataset", name, NAMES)
    real = [name for name in asked if name in REAL]
    chosen = present_sets(",".join(real), REAL, data, quiet=quiet) if real else []
    chosen += [RANDOM] if RANDOM in asked else []
    with temporary_folder() as folder:
        report = deliver(
            lambda: spark_equality.measure(folder, data, chosen, master, quiet=quiet),
            out, "json" if as_json else form, quiet=quiet,
        )  # fmt: skip
    if different := [f"{one.data}: {one.what}" for one in report.findings if not one.equal]:
        raise DataError(f"results differ from those of one machine: {', '.join(different)}")
