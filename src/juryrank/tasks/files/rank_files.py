"""Ranking files that are larger than memory: they are read, ranked and written query by query."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.ties import TieBreak
from juryrank.errors import DataError, warn_about_data
from juryrank.io.experts import resolve_aliases
from juryrank.io.files import Writable, deliver
from juryrank.methods import Aggregator
from juryrank.polars import require_threads
from juryrank.progress import track
from juryrank.scan import QueryFiles
from juryrank.scan.memory import batch_size, in_order
from juryrank.scan.streamed_output import output_for

WHOLE = 1 << 62  # more items than a query has


def rank_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    model: Aggregator,
    out: str | os.PathLike[str] | Writable,
    *,
    memory: int,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
    top: int | None = None,
    tag: str | None = None,
    tie_break: TieBreak = "none",
    seed: int = 0,
) -> tuple[int, int]:
    """Rank the lists in TREC runs or Parquet tables into a TREC run or a Parquet table, using about ``memory`` bytes.

    Returns the numbers of queries and of items. The output is the same as of ``predict`` on all data. Methods that
    learn must be fitted before, and cannot use item features. ``memory`` does not include the program itself, and a
    query is never split. For each query, ``top`` items are written (by default all); a run has the tag ``tag``, by
    default "juryrank". ``out`` is a path (.run, .trec or .txt, optionally with .gz or .zst; or .parquet) or an open
    binary file, which gets a TREC run; writing is atomic. ``tie_break`` and ``seed`` are as in
    ``Consensus.break_ties``; without them, tied items share a rank.
    """
    require_threads("rank_files")
    _check_method(model)
    output_for(_target(out), top, tag)  # an error before the work
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = QueryFiles([Path(path) for path in given], format, options or {})
    size = batch_size(files, memory)
    return rank_batches(files, model, out, size=size, top=top, tag=tag, tie_break=tie_break, seed=seed)


def rank_batches(
    files: QueryFiles,
    model: Aggregator,
    out: str | os.PathLike[str] | Writable,
    *,
    size: int,
    top: int | None = None,
    tag: str | None = None,
    tie_break: TieBreak = "none",
    seed: int = 0,
) -> tuple[int, int]:
    """As ``rank_files``, in batches of about ``size`` bytes."""
    if weights := getattr(model, "weights", None):
        model = copy(model).set_params(weights=resolve_aliases(weights, files.aliases))

    target = _target(out)
    output = output_for(target, top, tag)

    def rank(queries: range) -> tuple[Any, Rankings]:
        data = files.read(queries)
        here = model.for_experts(data.experts)  # an expert may have no lists in one batch and some in the next
        consensus = (here if here.is_fitted else copy(here).fit(data)).predict(data, warn_unknown=False)
        if tie_break != "none":
            consensus = consensus.break_ties(tie_break, seed=seed)
        return output.part(consensus), data.rankings

    items, experts, batches = 0, set[str](), files.batches(min(size, files.most))

    def parts() -> Iterator[Any]:
        nonlocal items
        for part, rankings in in_order(rank, track(batches, "queries")):
            yield part
            items += int(np.minimum(rankings.query_size, top or WHOLE).sum())
            experts.update(rankings.experts)
        model.demand_a_weight(experts)  # an error before the file is there

    deliver(output.chunks(parts()), target)
    for message in filter(None, (model.unknown_weights(experts), model.unseen_experts(experts))):
        warn_about_data(message)
    return len(files.queries), items


def _check_method(model: Aggregator) -> None:
    """A DataError for a method that looks at more than one query at a time."""
    if (model.learns and not model.is_fitted) or model.needs_features:
        raise DataError(
            f"{model.name} learns from all queries at once or needs item features, so it cannot rank query by query; "
            "fit it on a part of the data and give the model, or rank without a memory limit"
        )


def _target(out: str | os.PathLike[str] | Writable) -> Path | Writable:
    return Path(out) if isinstance(out, str | os.PathLike) else out
