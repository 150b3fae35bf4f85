"""The table that every format is read into: rows with names, before names become integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.data.entries import rank_by_score
from juryrank.data.long_table import from_long
from juryrank.data.names import sort_naturally
from juryrank.errors import DataError, warn_about_data
from juryrank.io.dataset_frames import slot_frame
from juryrank.polars import pl

SLOT = ["query", "item"]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of one source: entries, items that need a slot, labels and features, any of which may be absent."""

    name: str  # of the source in messages
    entries: pl.DataFrame | None = None  # query, item, expert, rank and/or score; weight, list
    candidates: pl.DataFrame | None = None  # query, item
    labels: pl.DataFrame | None = None  # query, item, label
    features: pl.DataFrame | None = None  # query, item, one column per feature
    keep_order: bool = False  # slots are in the order of candidates
    one_expert: bool = False  # the whole file is of one expert
    aliases: Mapping[str, str] = field(default_factory=dict)  # name of a file -> the one expert in it
    seats: Mapping[str, int] = field(default_factory=dict)  # query -> seats, where a file says so

    def build(self) -> Dataset:
        """The Dataset of these rows; without entries and candidates, labelled items get slots."""
        entries = _no_entries() if self.entries is None else with_ranks(self.entries)
        candidates = self.candidates
        if self.entries is None and candidates is None and self.labels is not None:
            candidates = self.labels.select(SLOT)
        data = from_long(
            entries, candidates=candidates, labels=self.labels, keep_order=self.keep_order, source=self.name
        )
        data = replace(data, aliases=self.aliases, seats=self.seats)
        if self.features is None:
            return data
        names = sort_naturally(
            pl.Series([c for c in self.features.columns if c not in SLOT], dtype=pl.String)
        ).to_list()
        if not names:
            return data
        columns = [self.features[name].cast(pl.Float64).to_numpy() for name in names]  # pl.col("*") would mean all
        values = np.column_stack(columns)
        matrix = align_features(data.rankings, self.features, values, self.name)
        return replace(data, features=matrix, feature_names=tuple(names))

    def with_query(self, name: str) -> Rows:
        """The same rows, of one query of another name."""
        frames = {key: frame for key in ("entries", "candidates") if (frame := getattr(self, key)) is not None}
        renamed = {key: frame.with_columns(query=pl.lit(name)) for key, frame in frames.items()}
        return replace(self, **renamed, seats={name: next(iter(self.seats.values()))})

    def with_expert(self, name: str) -> Rows:
        """The same rows, of an expert of another name; without a name they are unchanged."""
        if self.entries is None or not name:
            return self
        return replace(self, entries=self.entries.with_columns(expert=pl.lit(name)))


def _no_entries() -> pl.DataFrame:
    return pl.DataFrame(schema={"query": pl.String, "item": pl.String, "expert": pl.String, "rank": pl.Float64})


def concat(parts: Sequence[Rows], name: str) -> Rows:
    """The rows of several sources as one."""
    if len(parts) == 1:
        return parts[0]

    def rows(column: str) -> pl.DataFrame | None:
        frames = [frame for part in parts if (frame := getattr(part, column)) is not None]
        return pl.concat(frames, how="diagonal") if frames else None

    return Rows(
        name=name,
        entries=rows("entries"),
        candidates=rows("candidates"),
        labels=rows("labels"),
        features=None if (features := rows("features")) is None else features.fill_null(0.0),
        keep_order=any(part.keep_order for part in parts),
        aliases={stem: expert for part in parts for stem, expert in part.aliases.items()},
        seats={query: seats for part in parts for query, seats in part.seats.items()},
    )


def align_features(rankings: Rankings, slots: pl.DataFrame, values: Floats, source: str) -> Floats:
    """The rows of ``values`` (of ``slots``) for the slots of ``rankings``; NaN, with a warning, where there is none.

    Without a column query, the rows of ``slots`` are for all queries.
    """
    keys = [key for key in SLOT if key in slots.columns]
    rows = slots.select(keys).with_row_index("row").unique(keys, keep="first")
    if again := slots.height - rows.height:
        message = f"{source}: {again} rows of features repeat an item; the first is used"
        warn_about_data(message)
    row = slot_frame(rankings).join(rows, on=keys, how="left", maintain_order="left")["row"]
    if missing := row.null_count():
        message = f"{source}: {missing} of {rankings.n_slots} items have no features; their rows are NaN"
        warn_about_data(message)
    found: Floats = np.vstack([values, np.full((1, values.shape[1]), np.nan)])[row.fill_null(len(values)).to_numpy()]
    return found


def warn_of_contradictions(entries: pl.DataFrame, source: str, obeyed: str) -> None:
    """Warn when ranks and scores of a list order it differently; ties contradict nothing."""
    keys = [c for c in ("query", "expert", "list") if c in entries.columns]
    same_list = pl.all_horizontal(pl.col(k) == pl.col(k).shift(-1) for k in keys)
    falls = same_list & (pl.col("rank").shift(-1) < pl.col("rank"))
    rises = same_list & (pl.col("score").shift(-1) > pl.col("score"))
    entries = entries.drop_nulls(["rank", "score"])
    if not entries.select((falls | rises).any() | (same_list.sum() + pl.struct(keys).n_unique() != pl.len())).item():
        return
    report_contradictions(entries.sort([*keys, -pl.col("score"), "rank"]).select(falls.sum()).item(), source, obeyed)


def report_contradictions(count: int, source: str, obeyed: str) -> None:
    """Warn of pairs of neighbours in a list that ranks and scores order differently, if there are any."""
    if count:
        warn_about_data(f"{source}: ranks and scores disagree on {count} neighbouring entries; the {obeyed} are used")


def as_float(texts: pl.Series) -> pl.Series:
    """The texts as float64; null where a text is not a number."""
    return texts.cast(pl.Float64, strict=False)


def first_true(wrong: pl.Series) -> int | None:
    """Position of the first true value, if any."""
    found = wrong.fill_null(False).arg_max() if wrong.any() else None
    return None if found is None else int(found)


def with_ranks(entries: pl.DataFrame, *, by_rank: bool | None = None) -> pl.DataFrame:
    """Entries with ranks or scores throughout: if only some lists have scores (``by_rank``), ranks are used for all."""
    if "weight" in entries.columns:
        entries = entries.with_columns(pl.col("weight").fill_null(1.0))
    if "list" in entries.columns:
        entries = entries.with_columns(pl.col("list").fill_null(""))
    ranked, scored = ("rank" in entries.columns, "score" in entries.columns)
    if not ranked and not scored:
        raise DataError("entries need a rank or a score")
    if not (ranked and scored):
        return entries
    if entries["rank"].is_null().any():
        keys: list[str] = [c for c in ("query", "expert", "list") if c in entries.columns]
        entries = entries.with_columns(pl.coalesce("rank", rank_by_score(entries, keys)).alias("rank"))
    if by_rank is None:
        by_rank = entries["score"].is_null().any()
    return entries.drop("score") if by_rank else entries
