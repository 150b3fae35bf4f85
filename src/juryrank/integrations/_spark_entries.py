"""The entries of a Spark DataFrame under standard names, with the rules of ``juryrank.read`` for a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from juryrank.data.names import sorted_naturally
from juryrank.errors import DataError, MissingExtraError, ParameterError, warn_about_data
from juryrank.integrations._spark_queries import demand_columns, demand_spark, quoted

try:
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st
except ImportError as error:
    raise MissingExtraError.of("spark", "juryrank.integrations.spark needs pyspark and pyarrow") from error

VALUES = ("rank", "score")
UNNAMED = "the DataFrame: query and item must have a name, but are null or empty"
NAME_TYPES = (st.StringType, st.IntegralType)


@dataclass(frozen=True)
class Columns:
    """The columns of a DataFrame by what they mean; ``value`` is a column of ranks or of scores."""

    query: str
    item: str
    expert: str
    value: str
    kind: str  # rank or score

    @classmethod
    def find(cls, df: Any, *, query: str, item: str, expert: str, rank: str | None, score: str | None) -> Columns:
        """The columns that are named and, unless one is named, a column ``rank`` or ``score``; checks their types."""
        demand_spark(df)
        if rank is not None and score is not None:
            raise ParameterError(
                f"lists go by ranks or by scores: give rank={rank!r} or score={score!r}, not both of them"
            )
        given = {word: name for word, name in zip(VALUES, (rank, score), strict=True) if name is not None}
        found = given or {word: word for word in VALUES if word in df.columns}
        if len(found) != 1:
            raise DataError(
                "the DataFrame has a column 'rank' and a column 'score'; choose one: rank='rank' or score='score'"
                if found
                else f"the DataFrame needs a column 'rank' or 'score', or give rank= or score=; {_columns_of(df)}"
            )
        ((kind, value),) = found.items()
        names = {"query": query, "item": item, "expert": expert}
        demand_columns(df, {**names, kind: value})
        if len({query, item, expert, value}) < 4:
            raise ParameterError(
                f"query, item, expert and {kind} are four columns, got {query}, {item}, {expert}, {value}"
            )
        for word, name in names.items():
            _demand_type(df, word, name, NAME_TYPES, "names must be text or whole numbers")
        _demand_type(df, kind, value, (st.NumericType,), "it must be a number")
        return cls(query, item, expert, value, kind)

    def named_entries(self, df: Any) -> Any:
        """The rows as query, item (of their own types), expert (text) and value (double).

        As in ``juryrank.read``, a row without an expert or a number is an item that no list ranks (expert and value are
        null), and an entry with an infinite number is dropped. A row without a query or item, or with a rank of 0 or
        less, is an error when Spark comes to it.
        """
        expert, value = sf.col(quoted(self.expert)).cast("string"), sf.col(quoted(self.value)).cast("double")
        item = sf.col(quoted(self.item))
        is_entry = (expert != "") & value.isNotNull() & ~sf.isnan(value)
        # The query stays as it is, so that Spark still knows by what the DataFrame is partitioned.
        rows = df.select(
            sf.col(quoted(self.query)).alias("query"),
            sf.when(self._is_unnamed(), sf.raise_error(sf.lit(UNNAMED))).otherwise(item).alias("item"),
            sf.when(is_entry, expert).alias("expert"),
            sf.when(is_entry, value).alias("value"),
        ).where(sf.col("value").isNull() | (sf.abs("value") != float("inf")))
        if self.kind == "score":
            return rows
        text = "the DataFrame: ranks start at 1 (1 is best), got %s; is it a score?"
        wrong = sf.raise_error(sf.format_string(text, sf.col("value"))).cast("double")
        return rows.withColumn("value", sf.when(sf.col("value") <= 0, wrong).otherwise(sf.col("value")))

    def experts_of(self, df: Any) -> list[str]:
        """The experts in juryrank's order, found in one pass; warns of what is dropped, with counts."""
        expert, value = sf.col(quoted(self.expert)).cast("string"), sf.col(quoted(self.value)).cast("double")
        infinite = sf.abs(value) == float("inf")
        number = value.isNotNull() & ~sf.isnan(value)
        rows = (
            df.groupBy(expert.alias("expert"))
            .agg(
                sf.count_if(number & ~infinite).alias("entries"),
                sf.count_if(infinite).alias("infinite"),
                sf.count_if(self._is_unnamed()).alias("unnamed"),
                sf.min(sf.when(number & ~infinite, value)).alias("least"),
            )
            .collect()
        )
        if count := sum(row.unnamed for row in rows):
            raise DataError(f"{UNNAMED}: {count} rows")
        named = [row for row in rows if row.expert]
        least = min((row.least for row in named if row.least is not None), default=1.0)
        if self.kind == "rank" and least <= 0:
            raise DataError(f"the DataFrame: ranks start at 1 (1 is best), got {least}; is it a score?")
        if count := sum(row.infinite for row in named):
            warn_about_data(f"the DataFrame: {count} entries without a {self.kind} are dropped")
        return sorted_naturally(row.expert for row in named if row.entries)

    def _is_unnamed(self) -> Any:
        """Whether a row has no name for its query or item."""
        names = [sf.col(quoted(name)) for name in (self.query, self.item)]
        query, item = (name.isNull() | (name.cast("string") == "") for name in names)
        return query | item


def checked_experts(experts: Sequence[str]) -> list[str]:
    """Given names of experts in juryrank's order; a ParameterError where they are not different names."""
    names: Collection[Any] = () if isinstance(experts, str) else experts
    if len(set(names)) < len(names) or not names or not all(isinstance(name, str) and name for name in names):
        raise ParameterError(f"experts must be different names, or None to find them in the DataFrame, got {experts!r}")
    return sorted_naturally(names)


def unknown_expert() -> Any:
    """The error for a row of an expert that is not one of those that were given, as a column of text."""
    text = "the DataFrame: expert '%s' is not one of the experts that were given; add it to experts"
    return sf.raise_error(sf.format_string(text, sf.col("expert"))).cast("string")


def summarise(
    df: Any,
    *,
    query: str = "query",
    item: str = "item",
    expert: str = "expert",
    rank: str | None = None,
    score: str | None = None,
) -> dict[str, int]:
    """Counts over all rows, in one job with a shuffle: what ``fuse`` keeps and drops, and the sizes that limit it.

    ``entries`` are the rows that count, ``repeated`` those that repeat an item of their list (the best is kept),
    ``infinite`` those that are dropped, ``without_number`` those without an expert or a number (such an item is ranked,
    but in no list). ``largest_query`` is the most rows of a query, ``longest_list`` the most items of a list.
    """
    columns = Columns.find(df, query=query, item=item, expert=expert, rank=rank, score=score)
    rows = columns.named_entries(df)
    ranked = sf.col("value").isNotNull().cast("long")
    lists = (
        rows.groupBy("query", "expert", "item")
        .agg(sf.count(sf.lit(1)).alias("rows"), sf.sum(ranked).alias("ranked"))
        .groupBy("query", "expert")
        .agg(
            sf.sum("rows").alias("rows"),
            sf.sum("ranked").alias("ranked"),
            sf.count_if(sf.col("ranked") > 0).alias("items"),
        )
    )
    totals = (
        lists.groupBy("query")
        .agg(
            sf.sum("rows").alias("rows"),
            sf.sum("ranked").alias("ranked"),
            sf.sum("items").alias("items"),
            sf.max("items").alias("longest"),
        )
        .agg(
            sf.count(sf.lit(1)).alias("queries"),
            sf.sum("rows").alias("rows"),
            sf.sum("ranked").alias("ranked"),
            sf.sum("items").alias("items"),
            sf.max("rows").alias("largest"),
            sf.max("longest").alias("longest"),
        )
        .first()
    )
    n = {name: value or 0 for name, value in totals.asDict().items()}
    return {
        "queries": n["queries"],
        "entries": n["items"],
        "repeated": n["ranked"] - n["items"],
        "without_number": n["rows"] - n["ranked"],
        "infinite": df.count() - n["rows"],
        "largest_query": n["largest"],
        "longest_list": n["longest"],
    }


def _columns_of(df: Any) -> str:
    return f"columns are {', '.join(df.columns)}"


def _demand_type(df: Any, word: str, name: str, types: tuple[type, ...], rule: str) -> None:
    found = df.schema[name].dataType
    if not isinstance(found, types):
        raise DataError(
            f"the DataFrame: column {name!r} of the {word} is {found.simpleString()}, but {rule}; cast the column"
        )
