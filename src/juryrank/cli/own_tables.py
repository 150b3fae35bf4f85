"""Tables that replace only earlier ones of their kind, so that nothing is lost that people have entered."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

from juryrank.errors import DataError
from juryrank.polars import pl
from juryrank.report import counted

PLAN = ("query", "item", "why")
IN_PLANS = {*PLAN, "query_text", "text", "label"}
IN_JSON = {"budget", "judged", "left", "queries", "plan"}
WHY = r"^(place \d+ of RRF|uncertain: .+ of RRF)$"
SHOWN = 6  # names of columns in a message
ADVICE = "give another name, or move the file"


def demand_own_table(out: Path, columns: Collection[str], more: Collection[str] = ()) -> None:
    """A DataError if a result would replace anything but an empty file or a table with its columns, and ``more``."""
    if _has_content(out):
        frame, found = _look_at(out)
        if not set(columns) <= set(frame.columns) <= {*columns, *more}:
            needed = ", ".join(columns)
            raise DataError(
                f"{out}: the result would replace this file ({found}), and only a table with just the columns {needed} "
                f"is replaced; {ADVICE}"
            )


def demand_unused_plan(out: Path) -> None:
    """A DataError if a plan would replace anything but an empty file or a plan in which nobody has entered anything."""
    if not _has_content(out):
        return
    frame, found = _look_at(out)
    if set(PLAN) <= set(frame.columns) <= IN_PLANS:
        words = frame.cast(pl.String)
        labels = words.get_column("label", default=pl.Series([], dtype=pl.String)).drop_nulls().str.strip_chars()
        if filled := int((labels != "").sum()):
            found = f"a plan with {counted(filled, 'label')}"
        elif words["why"].str.contains(WHY).fill_null(value=False).all():
            return
    raise DataError(
        f"{out}: the plan would replace this file ({found}), and only a plan without labels is replaced; {ADVICE}"
    )


def _has_content(path: Path) -> bool:
    return os.path.isfile(path) and bool(path.stat().st_size)


def _look_at(path: Path) -> tuple[pl.DataFrame, str]:
    """The table in a file, without columns if it is none, and what it is in words."""
    try:
        frame = _table(path)
    except (DataError, ValueError, TypeError, pl.exceptions.PolarsError):
        return pl.DataFrame(), "no table that can be read"
    columns = ", ".join(map(repr, frame.columns[:SHOWN])) + (" …" if frame.width > SHOWN else "")
    return frame, f"{counted(frame.height, 'row')} with the columns {columns}"


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
