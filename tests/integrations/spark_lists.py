"""Lists for the tests of Spark, and the comparison of a result of Spark with that of one machine."""

import warnings
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import juryrank
from juryrank.methods import Aggregator

NAMES = {"query": pl.String, "item": pl.String, "expert": pl.String}


def random_entries(
    seed: int, value: str, *, n_queries: int = 12, n_experts: int = 11, odd: bool = True
) -> pl.DataFrame:
    """Lists with ties; with ``odd``, also repeated items, rows in no list, infinite numbers and hostile names."""
    rng = np.random.default_rng(seed)
    rows = 60 * n_queries
    experts = [f"e{k}" for k in range(n_experts)] + (["'; --", "`a`.b", 'größe "x"', "10", "9"] if odd else [])
    items = [f"i{i}" for i in range(25)] + (["%d ' \\", "日本", "10", "9"] if odd else [])
    frame = pl.DataFrame(
        {
            "query": pl.Series([f"q{q}" for q in rng.integers(0, n_queries, rows)]),
            "item": pl.Series([items[i] for i in rng.integers(0, len(items), rows)]),
            "expert": pl.Series([experts[e] for e in rng.integers(0, len(experts), rows)]),
            value: rng.integers(1, 30, rows) / (1.0 if value == "rank" else 7.0),
        }
    )
    if not odd:
        return frame.unique(["query", "item", "expert"], keep="first", maintain_order=True)
    at = pl.int_range(pl.len())
    number = pl.when(at % 41 == 0).then(None).when(at % 43 == 0).then(float("nan")).when(at % 47 == 0)
    return frame.with_columns(
        number.then(float("inf")).otherwise(pl.col(value)).alias(value),
        expert=pl.when(at % 53 == 0).then(None).when(at % 59 == 0).then(pl.lit("")).otherwise(pl.col("expert")),
    )


def entries_of(data: Any, value: str) -> pl.DataFrame:
    """The entries of a Dataset as one row each, with their ranks or scores."""
    r = data.rankings
    lists = np.repeat(np.arange(r.n_lists), r.list_size)
    return pl.DataFrame(
        {
            "query": pl.Series(r.queries, dtype=pl.String).gather(r.list_query[lists]),
            "item": r.names_of(r.slot_item[r.entry_slot]),
            "expert": pl.Series(r.experts, dtype=pl.String).gather(r.list_expert[lists]),
            value: r.entry_rank if value == "rank" else r.entry_score,
        }
    )


def in_spark(session: Any, frame: pl.DataFrame, parts: int = 3) -> Any:
    """The rows as a DataFrame of Spark, in another order and in several partitions."""
    table = frame.sample(fraction=1.0, shuffle=True, seed=5).to_arrow()
    plain = [pa.string() if not pa.types.is_floating(field.type) else field.type for field in table.schema]
    table = table.cast(pa.schema(list(zip(table.column_names, plain, strict=True))))
    return session.createDataFrame(table).repartition(parts)


def on_one_machine(frame: pl.DataFrame, model: Aggregator, top: int | None = None) -> pl.DataFrame:
    """The consensus as ``juryrank.read`` and ``predict`` have it; tied items by name, as the frame has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = juryrank.read(frame)
        fitted = model if model.is_fitted else model.fit(data)
        return fitted.predict(data).to_frame(top)


def assert_same(found: Any, expected: pl.DataFrame) -> None:
    """Same items, same ranks, ties included, and scores to 1e-12."""
    rows = pl.DataFrame(pl.from_arrow(found.toArrow()))
    assert rows.columns == ["query", "item", "score", "rank"]
    rows = rows.sort("query", "rank", "item")
    expected = expected.sort("query", "rank", "item")
    assert rows.select("query", "item", "rank").equals(expected.select("query", "item", "rank"))
    scores, wanted = rows["score"].to_numpy(), expected["score"].to_numpy()
    np.testing.assert_allclose(scores, wanted, rtol=1e-12, atol=1e-12)
