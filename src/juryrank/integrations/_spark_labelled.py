"""Rows of a Spark DataFrame beside the labels of the same queries, and what the executors say about them.

Work on whole queries answers with one text of JSON per chunk of rows: its result, and the warnings and errors that it
met. Counts in warnings of the same kind are added up, so that the user reads them once, as on one machine.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf
from pyspark.sql.types import NumericType

from juryrank.data import Dataset, Labels, Rankings
from juryrank.data.label_matching import QueryCounts, report_unmatched_queries, unmatched_items
from juryrank.data.long_table import labels_from_rows
from juryrank.data.names import natural_key
from juryrank.errors import DataError, DataWarning, JuryrankError, warn_about_data
from juryrank.integrations._spark_queries import dataset_of, demand_columns, demand_spark, map_whole_queries, quoted
from juryrank.kernels.ragged import parents
from juryrank.models import pack, unpack
from juryrank.polars import pl

TEXTS, NUMBERS = ("query", "item", "expert", "list"), ("rank", "score", "weight", "label", "label_weight")
IS_LABEL = "is_label"  # whether a row comes from the DataFrame of labels
SAMPLES = 1000  # names without a match that a chunk reports
REPLY = "reply string"
NUMBER = re.compile(r"(?<![\w.'\"@])\d+(?![\w'\"@]|\.\d)")  # a count in a message, not a part of a name

Part = Callable[[pa.Table], Any]


def labelled_rows(df: Any, labels: Any, wanted: Sequence[str], also: Sequence[str] = ()) -> Any:
    """The rows of ``df`` and those of ``labels`` as one DataFrame, with names as text and numbers as double.

    ``wanted`` columns must exist, those in ``also`` may. Without ``labels`` they are in the column label of ``df``.
    """
    own = () if labels is not None else ("label",)
    rows = standard_columns(df, (*wanted, *own), (*also, *(("label_weight",) if own else ())), "the DataFrame")
    rows = rows.withColumn(IS_LABEL, sf.lit(False))
    if labels is None:
        return rows
    judged = standard_columns(labels, ("query", "item", "label"), ("label_weight",), "the DataFrame of labels")
    return rows.unionByName(judged.withColumn(IS_LABEL, sf.lit(True)), allowMissingColumns=True)


def standard_columns(df: Any, wanted: Sequence[str], also: Sequence[str], source: str) -> Any:
    """These columns of a DataFrame; a DataError for one that is missing, or is no number."""
    demand_spark(df, source)
    demand_columns(df, {name: name for name in wanted})
    chosen = []
    for name in dict.fromkeys((*wanted, *(name for name in also if name in df.columns))):
        if name in NUMBERS and not isinstance(df.schema[name].dataType, NumericType):
            kind = df.schema[name].dataType.simpleString()
            raise DataError(f"{source}: the column {name!r} must have numbers, and it has {kind}; cast it to double")
        chosen.append(sf.col(quoted(name)).cast("string" if name in TEXTS else "double").alias(name))
    return df.select(*chosen)


@dataclass(frozen=True)
class Replies:
    """What all chunks answered."""

    results: list[Any]

    @classmethod
    def of(
        cls,
        rows: Any,
        part: Part,
        add_up: Callable[[list[Any]], Any] | None = None,
        *,
        key: str = "query",
        again: bool = False,
    ) -> Replies:
        """Run ``part`` on whole queries, or on all rows with the same ``key``; ``again`` if it is not the first pass.

        ``add_up`` makes one result of those of a partition, on the executor.

        Errors of executors are raised, and warnings given, with the counts of all chunks added up.
        """
        replies = map_whole_queries(rows, partial(_reply, part), REPLY, query=key)
        if add_up is not None:
            replies = replies.mapInArrow(partial(_added_up, add_up), REPLY)
        found = [unpack(json.loads(row.reply)) for row in replies.collect()]
        if faults := total_messages(text for one in found for text in one["faults"]):
            raise DataError(faults[0])
        for text in () if again else total_messages(text for one in found for text in one["warnings"]):
            warn_about_data(text)
        return cls([one["result"] for one in found if one["result"] is not None])


def _reply(part: Part, table: pa.Table) -> pa.Table:
    """The answer of one chunk; an error that the user can fix is a part of it."""
    faults, result = null_names(table), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not faults:
            try:
                result = part(table)
            except JuryrankError as error:
                faults = [str(error)]
    met = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    return _as_table({"result": result, "warnings": met, "faults": faults})


def _added_up(add_up: Callable[[list[Any]], Any], batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """One answer for all chunks of a partition."""
    found = [unpack(json.loads(text)) for batch in batches for text in batch.column(0).to_pylist()]
    if found:
        results = [one["result"] for one in found if one["result"] is not None]
        messages = {key: [text for one in found for text in one[key]] for key in ("warnings", "faults")}
        yield from _as_table({"result": add_up(results) if results else None, **messages}).to_batches()


def _as_table(reply: dict[str, Any]) -> pa.Table:
    return pa.table({"reply": pa.array([json.dumps(pack(reply))], pa.string())})


def null_names(table: pa.Table) -> list[str]:
    """Complaints about rows without a query or an item."""
    counts = {name: table[name].null_count for name in ("query", "item")}
    return [f"the DataFrame: {count} rows have no {name}; drop them" for name, count in counts.items() if count]


def total_messages(texts: Iterable[str]) -> list[str]:
    """Messages of the same kind as one, with their numbers added up; sorted, so that the order of arrival is nothing.

    >>> total_messages(["2 of 5 rows are dropped", "1 of 4 rows are dropped", "'q7' is empty"])
    ["'q7' is empty", '3 of 9 rows are dropped']
    """
    totals: dict[str, list[int]] = {}
    for text in texts:
        numbers, kind = (
            list(map(int, NUMBER.findall(text))),
            NUMBER.sub("{}", text.replace("{", "{{").replace("}", "}}")),
        )
        before = totals.get(kind, [0] * len(numbers))
        totals[kind] = [a + b for a, b in zip(before, numbers, strict=True)]
    return [kind.format(*totals[kind]) for kind in sorted(totals)]


def split_labels(table: pa.Table) -> tuple[pa.Table, pl.DataFrame]:
    """The rows of the data and, as a frame, the labels, which may be in the same rows."""
    frame = pl.DataFrame(pl.from_arrow(table))
    named = [name for name in ("query", "item", "label", "label_weight") if name in frame.columns]
    own = not frame[IS_LABEL].any() and "label" in frame.columns
    labels = (frame if own else frame.filter(pl.col(IS_LABEL))).select(named).drop_nulls("label").unique()
    kept = frame.filter(~pl.col(IS_LABEL)).drop(IS_LABEL, "label", "label_weight", strict=False)
    return kept.to_arrow(), labels


def labelled_data(table: pa.Table) -> tuple[Dataset, dict[str, Any]]:
    """The Dataset of the rows of whole queries, and how its labels match; those that match nothing are left out."""
    entries, judged = split_labels(table)
    rankings, labels = dataset_of(entries).rankings, labels_from_rows(judged)
    return Dataset(rankings=rankings, labels=labels), match_of(rankings, labels)


def match_of(rankings: Rankings, labels: Labels) -> dict[str, Any]:
    """How the labels of some whole queries match the lists: counts, and names without a match."""
    listed = {query for query, size in zip(rankings.queries, rankings.query_size, strict=True) if size}
    labelled = set(labels.queries)
    here = listed & labelled
    known = ~np.isnan(labels.by_slot(rankings))
    matched = np.bincount(parents(rankings.slot_ptr)[known], minlength=len(rankings)).tolist()
    empty = sum(query in here and not n for query, n in zip(rankings.queries, matched, strict=True))
    return {
        "counts": [len(listed), len(labelled), len(here), empty],
        "ours": sorted(listed - here, key=natural_key)[:SAMPLES],
        "lost": sorted(labelled - here, key=natural_key)[:SAMPLES],
        "items": unmatched_items(labels, rankings)[0] if empty else "",
        "entries": rankings.n_entries,
    }


def check_match(matches: Sequence[dict[str, Any]], *, data: str = "the DataFrame", items: bool = True) -> None:
    """As ``check_match`` of ``juryrank.data``, from the reports of all chunks."""
    listed, labelled, shared, empty = (sum(column) for column in zip(*(one["counts"] for one in matches), strict=True))
    if not listed or (items and not sum(one["entries"] for one in matches)):
        raise DataError(f"{data} has no lists: no row has a query, an item, an expert and a rank or score")
    if not labelled:
        raise DataError("no row has a label; give labels with the columns query, item and label")
    if shared < min(listed, labelled):
        ours, lost = (
            sorted((name for one in matches for name in one[side]), key=natural_key)[:SAMPLES]
            for side in ("ours", "lost")
        )
        report_unmatched_queries(QueryCounts(listed, labelled, shared), ours, lost, data=data)
    if items and 2 * empty > shared:
        names = min(one["items"] for one in matches if one["items"])
        if empty == shared:
            raise DataError(f"no ranked item is judged in any of the {shared} queries with labels; {names}")
        warn_about_data(f"in {empty} of the {shared} queries with labels no ranked item is judged; {names}")
