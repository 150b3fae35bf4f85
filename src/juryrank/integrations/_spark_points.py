"""Sums of points as expressions of Spark SQL: nothing of Python runs on the executors.

Every expert is a column of the rows (query, item) before its points are added, so that the sum is in juryrank's order
of experts wherever the entries are, and equals that of one machine to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.errors import MissingExtraError
from juryrank.integrations._spark_entries import unknown_expert
from juryrank.methods import Aggregator
from juryrank.methods.formula import Formula, fast_formula
from juryrank.methods.positional.borda import Borda

try:
    from pyspark.sql import functions as sf
    from pyspark.sql.window import Window
except ImportError as error:
    raise MissingExtraError.of("spark", "juryrank.integrations.spark needs pyspark and pyarrow") from error

MOST_EXPERTS = 128  # columns of one aggregation; with more, generated code is too long for Java's compiler


@dataclass(frozen=True)
class SqlPoints:
    """How a method's points are computed in SQL.

    ``position`` is what the points of an entry depend on: its rank, its place, or the items below it in the list.
    ``points`` gives the points of an expert's list at a position, as a column of the rows (query, item), which have the
    number of items of the query as a column ``items`` if that is needed.
    """

    position: str  # rank, place or below
    points: Callable[[str, Any], Any]
    needs_items: bool = False


def sql_points(model: Aggregator, depth: int) -> SqlPoints | None:
    """The points of a method in SQL; None where Spark SQL cannot compute the same numbers."""
    if type(model) is Borda and model.missing != "mean":
        weights = {name: row["weight"] for name, row in model.expert_weights().items()}
        if model.missing == "ignore":
            return SqlPoints("below", lambda expert, below: sf.lit(weights.get(expert, 1.0)) * below)
        below = lambda expert, place: sf.lit(weights.get(expert, 1.0)) * (sf.col("items") - place)  # noqa: E731
        return SqlPoints("place", below, needs_items=True)
    formula = fast_formula(model)
    if formula is None or formula.points is None:
        return None
    return SqlPoints(formula.depends_on[0], lambda expert, position: _traced(formula, expert, position, depth))


def fuse_by_points(entries: Any, experts: Sequence[str], how: SqlPoints, *, ascending: bool, repartition: bool) -> Any:
    """Query, item and score, from rows of query, item, expert and value; ``ascending`` where small values are best."""
    numbered = entries.select("query", "item", _number(experts).alias("expert"), "value")
    if repartition:
        numbered = numbered.repartition("query")
    positions = _positions(numbered, how.position, ascending=ascending)
    mine = [sf.min(sf.when(sf.col("expert") == k, sf.col("position"))).alias(f"_{k}") for k in range(len(experts))]
    items = positions.groupBy("query", "item").agg(*(mine or [sf.count(sf.lit(1)).alias("_")]))
    if how.needs_items:
        items = items.withColumn("items", sf.count(sf.lit(1)).over(Window.partitionBy("query")).cast("double"))
    score = sf.lit(0.0)
    for k, expert in enumerate(experts):
        score = score + sf.coalesce(how.points(expert, sf.col(f"_{k}")), sf.lit(0.0))
    return items.select("query", "item", score.alias("score"))


def _number(experts: Sequence[str]) -> Any:
    """The number of an expert in juryrank's order, an error for others, null for a row that is in no list."""
    name = sf.col("expert")
    number = sf.when(name.isNull(), sf.lit(None).cast("int"))
    for k, expert in enumerate(experts):
        number = number.when(name == sf.lit(expert), sf.lit(k))
    return number.otherwise(unknown_expert().cast("int"))


def _positions(entries: Any, position: str, *, ascending: bool) -> Any:
    """The rows with a column ``position``: null where a row is in no list."""
    if position == "rank" and ascending:
        return entries.withColumnRenamed("value", "position")
    best = sf.min("value") if ascending else sf.max("value")
    distinct = entries.groupBy("query", "expert", "item").agg(best.alias("value"))
    whole = Window.partitionBy("query", "expert")
    order = whole.orderBy(sf.col("value").asc() if ascending else sf.col("value").desc())
    rank = sf.rank().over(order).cast("double")
    if position != "rank":  # tied entries share the mean of their places, of which the rank is the first
        last = sf.count(sf.lit(1)).over(order.rangeBetween(Window.unboundedPreceding, Window.currentRow))
        rank = (rank + last) / 2.0
    if position == "below":
        rank = sf.count(sf.lit(1)).over(whole) - rank
    return distinct.withColumn("position", sf.when(sf.col("value").isNotNull(), rank))


class _Exact:
    """A column on which a formula computes with + - * / alone: there Spark gives the same numbers as numpy."""

    __array_ufunc__ = None  # numpy leaves its operators to this class, and refuses its functions

    def __init__(self, column: Any) -> None:
        self.column = column

    def __add__(self, other: Any) -> _Exact:
        return _Exact(self.column + _plain(other))

    def __radd__(self, other: Any) -> _Exact:
        return _Exact(_plain(other) + self.column)

    def __sub__(self, other: Any) -> _Exact:
        return _Exact(self.column - _plain(other))

    def __rsub__(self, other: Any) -> _Exact:
        return _Exact(_plain(other) - self.column)

    def __mul__(self, other: Any) -> _Exact:
        return _Exact(self.column * _plain(other))

    def __rmul__(self, other: Any) -> _Exact:
        return _Exact(_plain(other) * self.column)

    def __truediv__(self, other: Any) -> _Exact:
        return _Exact(self.column / _plain(other))

    def __rtruediv__(self, other: Any) -> _Exact:
        return _Exact(_plain(other) / self.column)


def _plain(value: Any) -> Any:
    return value.column if isinstance(value, _Exact) else sf.lit(float(value))


def _traced(formula: Formula, expert: str, position: Any, depth: int) -> Any:
    """The points of an expert's list at a position: the formula itself, or a table of its values."""
    try:
        traced: Any = formula.of(expert, _Exact(position))  # type: ignore[arg-type]
    except TypeError:
        return _table(formula, expert, position, depth)
    return traced.column if isinstance(traced, _Exact) else _table(formula, expert, position, depth)


def _table(formula: Formula, expert: str, position: Any, depth: int) -> Any:
    """The points by position, looked up in a constant array: of whole ranks, or of places, which are halves in ties."""
    steps = 2 if formula.share_ties else 1
    values = formula.of(expert, np.arange(steps, depth * steps + 1) / steps)
    # One text, which Spark parses once for the whole query, instead of an expression for each number.
    array = sf.split(sf.lit(",".join(map(repr, values.tolist()))), ",").cast("array<double>")
    place = position * steps - steps
    found = sf.get(array, sf.when(place == sf.floor(place), place.cast("int")).otherwise(sf.lit(-1)))
    message = sf.format_string(
        f"juryrank: expert '%s' has an entry at rank %s, but points are known for whole ranks up to depth={depth}: "
        "raise depth, or give engine='arrow'",
        sf.lit(expert),
        position,
    )
    return sf.when(position.isNotNull(), sf.coalesce(found, sf.raise_error(message).cast("double")))
