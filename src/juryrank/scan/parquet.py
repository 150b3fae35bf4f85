"""A Parquet table that is read query by query; the layout is decided once for the whole table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from juryrank.errors import DataError
from juryrank.io.formats.comparisons import is_comparisons
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.sources import no_lists_message
from juryrank.io.tables import frames
from juryrank.io.tables.columns import NUMBERS, are_whole, demand_names, name_texts, number_values
from juryrank.io.tables.entries import split_rows, standard_rows
from juryrank.io.tables.layout import ORDERED, Layout, layout
from juryrank.polars import pl
from juryrank.scan.entry_blocks import Entries, EntryBlocks, block_bounds
from juryrank.scan.parquet_footer import row_group_starts
from juryrank.scan.query_file import Extents, QueryFile, Stretches, merge_extents

QUERY = "\0query"  # no header of an expert is equal to it


@dataclass
class TableFile(QueryFile):
    """A Parquet table; places are rows."""

    advice = "sort it by its column of queries, as polars' scan_parquet, sort and sink_parquet do beyond memory"
    weight = 500
    most = 1 << 25  # above it, names no longer fit into the cache of a core
    blocks: EntryBlocks | None = None  # for the fast path
    unnamed = False  # whether a row has no expert

    def __post_init__(self) -> None:
        """Decide the layout of the whole table."""
        with self._reading():
            frame = pl.scan_parquet(self.path, glob=False, hive_partitioning=False)
            self.height = int(frame.select(pl.len()).collect().item())
            groups = row_group_starts(self.path)
            self.groups = groups if groups and groups[-1] == self.height else [0, self.height]
            self.layout = self._layout(frame)
            names = {h: d for h, d in frame.collect_schema().items() if h in self._name_headers()}
            for header, dtype in names.items():
                demand_names(dtype, header, frames.row_errors(str(self.path)))
            whole = frame.select(are_whole(h, d).alias(h) for h, d in names.items()).collect().row(0, named=True)
            texts = {h: name_texts(h, d, whole=whole[h]).alias(h) for h, d in names.items()}
            self.frame = frame.with_columns(texts.values())
            self.raw = frame.with_columns(texts[h] for h, d in names.items() if d != pl.String)
            self.index = self.frame.select(self._index_columns())
        found = self.layout.headers
        self.columns = frozenset([*self.layout.ordered, *(word for word in ("weight", "list") if word in found)])

    def _layout(self, frame: pl.LazyFrame) -> Layout:
        headers = list(frame.collect_schema())
        if is_comparisons(headers, self.options.get("columns")):
            raise DataError(f"{self.path}: comparisons cannot be read query by query; rank without a memory limit")
        found = layout(frame, **self.options, name=str(self.path))
        if "query" not in found.headers:
            raise DataError(f"{self.path}: a table that is read query by query needs a column 'query'")
        if not found.ordered:
            raise DataError(no_lists_message(str(self.path)))
        return found

    def _name_headers(self) -> list[str]:
        return [header for word, header in self.layout.headers.items() if word not in NUMBERS]

    def _index_columns(self) -> list[pl.Expr]:
        """What is read to find the queries, the experts, and entries without a score."""
        found, schema = self.layout.headers, self.frame.collect_schema()
        headers = self.layout.experts or [found[word] for word in self.layout.ordered]
        value = {h: number_values(h, schema[h]) for h in headers}
        if self.layout.experts:
            return [pl.col(found["query"]).alias(QUERY), *(v.is_not_null().alias(h) for h, v in value.items())]
        is_entry = pl.any_horizontal(v.is_not_null() for v in value.values())
        lacking = value[found["score"]].is_null() if "score" in found else pl.lit(True)
        expert = [pl.col(found["expert"]).alias("expert")] if "expert" in found else []
        return [pl.col(found["query"]).alias(QUERY), *expert, is_entry.alias("entry"), lacking.alias("lacking")]

    def chunks(self) -> Sequence[int]:
        self.bounds = block_bounds(self.groups, max(1, self.chunk // 8))
        return self.bounds[:-1]

    def stretches_in(self, chunk: int) -> Stretches:
        with self._reading():
            rows = self.index.slice(chunk, self.bounds[bisect_right(self.bounds, chunk)] - chunk).collect()
        self._note_entries(rows.drop(QUERY))
        runs = rows[QUERY].rle().struct.unnest()
        stop = chunk + np.cumsum(runs["len"].to_numpy().astype(np.int64))
        start, query = np.append(chunk, stop[:-1])[: len(stop)], runs["value"]
        if query.null_count():  # blank rows are skipped; others need a query
            unnamed = query.is_null().to_numpy()
            self._named_rows(list(zip(start[unnamed].tolist(), stop[unnamed].tolist(), strict=True)))
            query, start, stop = query.drop_nulls(), start[~unnamed], stop[~unnamed]
        return Stretches(query, start, stop)

    def _note_entries(self, rows: pl.DataFrame) -> None:
        """Add the experts of some rows; ``rows`` are the columns of ``_index_columns`` without the query."""
        if self.layout.experts:
            self.experts.update(column.name for column in rows if column.any())
            return
        if "expert" in rows.columns:
            if rows["expert"].null_count():
                self.unnamed = True
            rows = rows.filter(pl.col("entry") & pl.col("expert").is_not_null())
            self.experts.update(rows["expert"].unique().to_list())
        elif rows["entry"].any():
            self.experts.add(Source(self.path, b"").stem)
        if rows.select((pl.col("entry") & pl.col("lacking")).any()).item():
            self.lacks_scores = True  # never set back, since several threads are here

    def settle_experts(self) -> None:
        """Decide what depends on all rows, once all chunks have been scanned."""
        if self.layout.experts:
            self.lacks_scores = self.layout.values == "rank" and bool(self.experts)
        elif "expert" not in self.layout.headers:
            self.tag = next(iter(self.experts), "")

    def rows(self, extents: Extents) -> Rows:
        return split_rows(
            self._named_rows(extents), self.layout, name=str(self.path), expert=Source(self.path, b"").stem
        )

    def prepare_blocks(self, most: int) -> None:
        """Read entries in blocks of about ``most`` rows, unless the table has more than plain entries."""
        found, schema = self.layout.headers, self.frame.collect_schema()
        one_expert = "expert" not in found or (len(self.experts) == 1 and not self.unnamed)
        words = ["item", *self.layout.ordered, *([] if one_expert else ["expert"])]
        numeric = all(schema[found[word]].is_numeric() for word in self.layout.ordered if word in found)
        if self.layout.experts or not numeric or not found.keys() <= {"query", "item", "expert", *ORDERED}:
            return
        raw = self.raw.select(pl.col(found[word]).alias(word) for word in words)
        if self.layout.distances:
            raw = raw.with_columns(-pl.col("score").cast(pl.Float64))

        def decode(start: int, stop: int) -> Entries | None:
            with self._reading():
                return Entries.of(raw.slice(start, stop - start).collect(), next(iter(self.experts), ""))

        self.blocks = EntryBlocks(block_bounds(self.groups, most), decode)

    def _named_rows(self, extents: Extents) -> pl.DataFrame:
        places = merge_extents(extents)
        with self._reading():
            rows = pl.concat([self.frame.slice(start, stop - start) for start, stop in places]).collect()

        def fail(row: int, expected: str) -> DataError:
            for start, stop in places:
                if row < stop - start:
                    return frames.row_errors(str(self.path))(start + row, expected)
                row -= stop - start
            return frames.row_errors(str(self.path))(row, expected)

        return standard_rows(rows, self.layout, fail)

    def _reading(self) -> AbstractContextManager[None]:
        return Source(self.path, b"").reading()
