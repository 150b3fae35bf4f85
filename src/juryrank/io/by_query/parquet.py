"""A Parquet table that is read query by query; the layout is decided once for the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from juryrank.errors import DataError
from juryrank.io.by_query.entry_blocks import Entries, EntryBlocks, block_bounds
from juryrank.io.by_query.query_file import Extents, QueryFile, Stretches, merge_extents
from juryrank.io.formats.comparisons import is_comparisons
from juryrank.io.parquet_footer import row_group_starts
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.sources import no_lists_message
from juryrank.io.tables import frames
from juryrank.io.tables.columns import NUMBERS, are_whole, demand_names, name_texts, number_values
from juryrank.io.tables.entries import split_rows, standard_rows
from juryrank.io.tables.layout import ORDERED, Layout, layout
from juryrank.lazy_polars import pl


@dataclass
class TableFile(QueryFile):
    """A Parquet table; places are rows."""

    advice = "sort it by its column of queries, as polars' scan_parquet, sort and sink_parquet do beyond memory"
    weight = 500
    most = 1 << 25  # above it, names no longer fit into the cache of a core
    blocks: EntryBlocks | None = None  # for the fast path
    one_expert = False  # whether every row that names an item is of the same expert

    def __post_init__(self) -> None:
        """Scan the whole table, so that errors in it are reported before the work."""
        with self._reading():
            frame = pl.scan_parquet(self.path, glob=False, hive_partitioning=False)
            self.height = int(frame.select(pl.len()).collect().item())
            self.layout = self._layout(frame)
            names = {h: d for h, d in frame.collect_schema().items() if h in self._name_headers()}
            for header, dtype in names.items():
                demand_names(dtype, header, frames.row_errors(str(self.path)))
            whole = frame.select(are_whole(h, d).alias(h) for h, d in names.items()).collect().row(0, named=True)
            texts = {h: name_texts(h, d, whole=whole[h]).alias(h) for h, d in names.items()}
            self.frame = frame.with_columns(texts.values())
            self.raw = frame.with_columns(texts[h] for h, d in names.items() if d != pl.String)
            self._settle_entries()

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

    def _settle_entries(self) -> None:
        """Find the experts, the columns of entries, and whether all entries have scores."""
        found, schema = self.layout.headers, self.frame.collect_schema()
        self.columns = frozenset([*self.layout.ordered, *(word for word in ("weight", "list") if word in found)])
        if self.layout.experts:
            some = [number_values(h, schema[h]).is_not_null().any().alias(h) for h in self.layout.experts]
            found_some = self.frame.select(some).collect().row(0, named=True)
            self.experts = {header for header, some_value in found_some.items() if some_value}
            self.lacks_scores = self.layout.values == "rank" and bool(self.experts)
            return
        values = {word: number_values(found[word], schema[found[word]]) for word in self.layout.ordered}
        entries = self.frame.filter(pl.any_horizontal(value.is_not_null() for value in values.values()))
        if "expert" in found:
            expert = pl.col(found["expert"])
            entries = entries.filter(expert.is_not_null())
            self.experts = set(entries.select(expert.unique()).collect().to_series().to_list())
            unnamed = int(self.frame.select(expert.null_count()).collect().item())
            self.one_expert = len(self.experts) == 1 and not unnamed
        elif entries.select(pl.len() > 0).collect().item():
            self.tag = Source(self.path, b"").stem
            self.experts = {self.tag}
        lacking = values["score"].is_null().any() if "score" in values else pl.len() > 0
        self.lacks_scores = bool(entries.select(lacking).collect().item())

    def chunks(self) -> Sequence[int]:
        return range(0, self.height, max(1, self.chunk // 8))

    def stretches_in(self, chunk: int) -> Stretches:
        with self._reading():
            column = self.frame.select(self.layout.headers["query"]).slice(chunk, max(1, self.chunk // 8)).collect()
        runs = column.to_series().rle().struct.unnest()
        stop = chunk + np.cumsum(runs["len"].to_numpy().astype(np.int64))
        start, query = np.append(chunk, stop[:-1])[: len(stop)], runs["value"]
        if query.null_count():  # blank rows are skipped; others need a query
            unnamed = query.is_null().to_numpy()
            self._named_rows(list(zip(start[unnamed].tolist(), stop[unnamed].tolist(), strict=True)))
            query, start, stop = query.drop_nulls(), start[~unnamed], stop[~unnamed]
        return Stretches(query, start, stop)

    def rows(self, extents: Extents) -> Rows:
        return split_rows(
            self._named_rows(extents), self.layout, name=str(self.path), expert=Source(self.path, b"").stem
        )

    def prepare_blocks(self, most: int) -> None:
        """Read entries in blocks of about ``most`` rows, unless the table has more than plain entries."""
        found, schema = self.layout.headers, self.frame.collect_schema()
        words = ["item", *self.layout.ordered, *(["expert"] if "expert" in found and not self.one_expert else [])]
        numeric = all(schema[found[word]].is_numeric() for word in self.layout.ordered if word in found)
        if self.layout.experts or not numeric or not found.keys() <= {"query", "item", "expert", *ORDERED}:
            return
        raw = self.raw.select(pl.col(found[word]).alias(word) for word in words)

        def decode(start: int, stop: int) -> Entries | None:
            with self._reading():
                return Entries.of(raw.slice(start, stop - start).collect(), next(iter(self.experts), ""))

        groups = row_group_starts(self.path)
        if groups is None or groups[-1] != self.height:
            groups = [0, self.height]
        self.blocks = EntryBlocks(block_bounds(groups, most), decode)

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
