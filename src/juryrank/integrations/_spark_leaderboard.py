"""``leaderboard`` on Spark: comparisons are counted on the cluster, strengths are computed on the driver."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as sf

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import ConvergenceWarning, DataError, warn_about_data
from juryrank.integrations._spark_queries import demand_spark, quoted, use_one_core
from juryrank.io import read
from juryrank.io.formats.comparisons import FAULTS, WORDS
from juryrank.io.tables.columns import Columns, roles
from juryrank.methods import Aggregator
from juryrank.polars import pl
from juryrank.tasks.leaderboard.board import Leaderboard
from juryrank.tasks.leaderboard.leaderboard import board_of, prepare
from juryrank.tasks.leaderboard.leaderboard import leaderboard as of_one_machine
from juryrank.tasks.leaderboard.pool import FittedModel, pool_queries

SOURCE = "the DataFrame"
AT_ONCE = 64  # resamples whose counts a task holds
# P(a Poisson number of mean 1 is at most k), for k = 0, 1, …: the weight of a unit is the number of these below a
# uniform number. The last is within 1e-16 of 1.
POISSON = np.cumsum(np.exp(-1.0) / np.cumprod([1.0, *range(1, 19)]))


def leaderboard(
    df: Any,
    method: str | Aggregator = "bradley-terry",
    *,
    columns: Columns = None,
    bootstrap: int = 1000,
    interval: str = "bootstrap",
    by: str = "list",
    level: float = 0.95,
    seed: int = 0,
    elo: bool = False,
    judges: bool = True,
) -> Leaderboard:
    """Items from best to worst by comparisons in a DataFrame, with the columns that ``juryrank.read`` takes.

    They are left, right and winner, or winner and loser, and perhaps tie, expert, query and weight; ``columns`` maps
    these to other names. Equal comparisons are counted on the cluster; the driver has one row for each pair and result,
    and each expert with ``judges=True``. The other options and the result are those of ``juryrank.leaderboard``.

    The unit that is resampled by the bootstrap is the comparison with ``by="list"``: the Poisson weights of equal
    comparisons add up to a Poisson number, which is drawn on the driver from the counts and ``seed``. With
    ``by="expert"`` or ``by="query"`` all comparisons of an expert or a query have one Poisson weight of mean 1, which
    is computed on the cluster from the hash of the name, the number of the resample and ``seed``. Neither depends on
    partitions.
    """
    options: dict[str, Any] = {"interval": interval, "by": by, "bootstrap": bootstrap, "level": level, "elo": elo}
    model = prepare(method, **options)
    demand_spark(df, "comparisons")
    found = roles(df.columns, columns, SOURCE, WORDS)
    if by != "list" and by not in found:
        raise DataError(f"{SOURCE}: by={by!r} needs a column {by!r}; use columns={{{by!r}: 'HEADER'}}")
    on_cluster = by != "list" and interval == "bootstrap"
    used = {word for word in ("expert", "query") if (by == word and not on_cluster) or (word == "expert" and judges)}
    content = [word for word in found if word not in {"expert", "query", "weight"} - used]
    counted = _count(_standard(df, found), content)
    given = _dataset(counted)
    if not on_cluster:
        return of_one_machine(given, model, seed=seed, judges=judges, **options)
    plain = [word for word in content if word not in ("expert", "query")]
    resample = partial(_resampled, _standard(df, found), plain, by, bootstrap, seed)
    return board_of(model, given.rankings, None, resample, interval=interval, level=level, elo=elo, judges=judges)


def _standard(df: Any, found: dict[str, str]) -> Any:
    """The columns under standard names, as text; the weight is a number, 1 where there is none."""
    names = [sf.col(quoted(header)).cast("string").alias(word) for word, header in found.items() if word != "weight"]
    if "weight" not in found:
        return df.select(*names, sf.lit(1.0).alias("weight"))
    return df.select(*names, sf.coalesce(sf.col(quoted(found["weight"])).cast("double"), sf.lit(1.0)).alias("weight"))


def _count(rows: Any, content: Sequence[str]) -> pl.DataFrame:
    """The distinct comparisons: total weight, rows, and the hash of each; in an order of their own."""
    weight = sf.col("weight")
    wrong = sf.isnan(weight) | (weight < 0) | (weight == float("inf"))
    totals = (
        sf.sum(weight).alias("weight"),
        sf.count(sf.lit(1)).alias("rows"),
        sf.sum(wrong.cast("long")).alias("wrong"),
    )
    counted = rows.groupBy(*content).agg(*totals).withColumn("key", _key(content))
    frame = pl.DataFrame(pl.from_arrow(counted.toArrow())).sort(content, nulls_last=True)
    if not frame.height:
        raise DataError(f"{SOURCE} has no rows, so there is nothing to compare")
    if bad := int(frame["wrong"].sum()):
        raise DataError(f"{SOURCE}: weights of comparisons must be finite numbers >= 0, and {bad} are not")
    return frame


def _key(content: Sequence[str]) -> Any:
    return sf.xxhash64(*(sf.coalesce(sf.col(word), sf.lit("\0")) for word in content))


def _dataset(counted: pl.DataFrame) -> Any:
    """The Dataset of the counted comparisons; a warning counts the rows that are skipped, not the distinct ones."""
    words = [name for name in counted.columns if name in WORDS]
    options: dict[str, Any] = {"format": "comparisons", "columns": {word: word for word in words}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = read(counted.select(words), **options)
        except DataError as error:
            raise DataError(str(error).replace("the table", SOURCE)) from None
        rows = (
            read(counted.with_columns(weight=pl.col("rows").cast(pl.Float64)).select(words), **options).rankings
            if caught
            else None
        )
    if rows is not None:
        why = [fault for fault in FAULTS if any(fault in str(one.message) for one in caught)]
        count, of = int(counted["rows"].sum() - rows.list_weight.sum()), int(counted["rows"].sum())
        warn_about_data(f"{SOURCE}: {count} of {of} comparisons skipped: those {' or '.join(why)}")
    return data


def _resampled(rows: Any, content: Sequence[str], by: str, bootstrap: int, seed: int, fit: FittedModel) -> Floats:
    """The scores of each resample, from the weights of comparisons that the cluster adds up."""
    counted = _count(rows, content)
    data = _dataset(counted.with_columns(expert=pl.int_range(pl.len()).cast(pl.String)))
    lists = pool_queries(data.rankings)
    if lists.items.tolist() != fit.rankings.items.tolist():
        raise DataError(f"{SOURCE} has changed while it was read; cache it first")
    at = np.array([int(name) for name in lists.experts])[lists.list_expert]  # the comparison of each list
    weights = _resampled_weights(rows, content, by, bootstrap, seed, counted["key"].to_numpy())[:, at]
    return np.array([_scores(fit.model, lists, weight) for weight in weights])


def _scores(model: Aggregator, lists: Rankings, weight: Floats) -> Floats:
    drawn = replace(lists, list_weight=np.ascontiguousarray(weight))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return (copy(model).fit(drawn) if model.learned() else model).predict(drawn, warn_unknown=False).scores


def _resampled_weights(
    rows: Any, content: Sequence[str], by: str, bootstrap: int, seed: int, keys: NDArray[np.int64]
) -> Floats:
    """The weight of each comparison (by its hash) in each resample, [n_resamples, n_comparisons]."""
    unit = sf.xxhash64(sf.coalesce(sf.col(by), sf.lit("\0")), sf.lit(seed)).alias("unit")
    by_unit = rows.groupBy(_key(content).alias("key"), unit).agg(sf.sum("weight").alias("weight"))
    drawn = by_unit.mapInArrow(partial(_draw, bootstrap), "resample int, key long, weight double")
    table = drawn.groupBy("resample", "key").agg(sf.sum("weight").alias("weight")).toArrow()
    order = np.argsort(keys)
    column = order[np.searchsorted(keys, table["key"].to_numpy(), sorter=order)]
    out = np.zeros((bootstrap, len(keys)))
    out[table["resample"].to_numpy(), column] = table["weight"].to_numpy()
    return out


def _draw(bootstrap: int, batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """The weights of comparisons in each resample, added up in this partition."""
    use_one_core()
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held)
    keys, code = np.unique(table["key"].to_numpy(), return_inverse=True)
    unit, weight = table["unit"].to_numpy().view(np.uint64), table["weight"].to_numpy()
    for start in range(0, bootstrap, AT_ONCE):
        drawn = np.arange(start, min(start + AT_ONCE, bootstrap))
        sums = np.array([np.bincount(code, weight * poisson_weights(unit, int(k)), len(keys)) for k in drawn])
        at, column = np.nonzero(sums)
        yield pa.RecordBatch.from_arrays(
            [pa.array(drawn[at].astype(np.int32)), pa.array(keys[column]), pa.array(sums[at, column])],
            ["resample", "key", "weight"],
        )


def poisson_weights(unit: NDArray[np.uint64], resample: int) -> NDArray[np.int64]:
    """A Poisson number of mean 1 for each unit, which depends on its hash and the resample only (splitmix64)."""
    x = unit + np.uint64((resample + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    uniform = ((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return np.searchsorted(POISSON, uniform, side="right")
