"""Frames of pandas as frames of polars, also where pyarrow is not installed."""

from __future__ import annotations

from typing import Any

from juryrank.polars import pl


def polars_frame(thing: Any) -> pl.DataFrame:
    """A polars frame from anything that has an Arrow stream, for which pandas needs pyarrow."""
    if isinstance(thing, pl.DataFrame):
        return thing
    try:
        return pl.DataFrame(thing)
    except ImportError:
        if not _is_pandas(thing):
            raise
        return pl.DataFrame([_series(str(name), column) for name, column in thing.items()])


def _is_pandas(thing: Any) -> bool:
    """Whether a thing is a DataFrame of pandas, which is not imported for this."""
    return any(c.__name__ == "DataFrame" and c.__module__.partition(".")[0] == "pandas" for c in type(thing).__mro__)


def _series(name: str, column: Any) -> pl.Series:
    """A column, null where a value is missing."""
    kind = column.dtype.kind
    if kind in "iufbM" and not hasattr(column.dtype, "na_value"):
        return pl.Series(name, column.to_numpy())
    known = column.notna().tolist()
    values = [value if here else None for value, here in zip(column.astype(object).tolist(), known, strict=True)]
    if str(column.dtype) in ("str", "string"):
        return pl.Series(name, values, dtype=pl.String)
    return pl.Series(name, values, dtype={"i": pl.Int64, "u": pl.UInt64, "f": pl.Float64, "b": pl.Boolean}.get(kind))
