"""The file of a plan: it replaces nothing in which people have entered something."""

from __future__ import annotations

import json
from pathlib import Path

from juryrank.errors import DataError
from juryrank.lazy_polars import pl
from juryrank.report import counted

PLAN = ("query", "item", "why")
IN_PLANS = {*PLAN, "query_text", "text", "label"}
IN_JSON = {"budget", "judged", "left", "queries", "plan"}
WHY = r"^(place \d+ of RRF|uncertain: .+ of RRF)$"
SHOWN = 6  # names of columns in a message


def demand_unused_plan(out: Path) -> None:
    """A DataError if a plan would replace anything but an empty file or a plan in which nobody has entered anything."""
    if not out.is_file() or not out.stat().st_size:
        return
    try:
        frame = _table(out)
        columns = ", ".join(map(repr, frame.columns[:SHOWN])) + (" …" if frame.width > SHOWN else "")
        found = f"{counted(frame.height, 'row')} with the columns {columns}"
    except (DataError, ValueError, TypeError, pl.exceptions.PolarsError):
        frame, found = pl.DataFrame(), "no table that can be read"
    if set(PLAN) <= set(frame.columns) <= IN_PLANS:
        words = frame.cast(pl.String)
        labels = words.get_column("label", default=pl.Series([], dtype=pl.String)).drop_nulls().str.strip_chars()
        if filled := int((labels != "").sum()):
            found = f"a plan with {counted(filled, 'label')}"
        elif words["why"].str.contains(WHY).fill_null(value=False).all():
            return
    raise DataError(
        f"{out}: the plan would replace this file ({found}), and only a plan without labels is replaced; "
        "give another name to --out, or move the file"
    )


def _table(path: Path) -> pl.DataFrame:
    """The rows of a table, or of a plan in JSON."""
    from juryrank.io.files import load
    from juryrank.io.source import ending_of
    from juryrank.io.tables.frames import frame_of

    source = load(path)
    if ending_of(path) != ".json":
        return frame_of(source)
    found = json.loads(source.data)
    if not isinstance(found, dict) or set(found) != IN_JSON:
        raise DataError(f"{path}: not a plan")
    return pl.DataFrame(found["plan"] or {key: [] for key in PLAN}, infer_schema_length=None)
