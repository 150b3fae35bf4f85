"""Ranking files that are larger than memory: they are read, ranked and written query by query."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.ties import TieBreak
from juryrank.errors import DataError, warn_about_data
from juryrank.forks import require_threads
from juryrank.io.by_query import QueryFiles
from juryrank.io.experts import resolve_aliases
from juryrank.io.files import Writable, deliver
from juryrank.io.limits import size_text
from juryrank.io.streamed_output import output_for
from juryrank.kernels.jit import threads
from juryrank.methods import Aggregator
from juryrank.progress import track

WHOLE = 1 << 62  # more items than a query has
INDEX = 2  # times its size: the memory of an index and of its construction, as measured
LEAST = 1 << 22  # bytes of a batch, below which overhead dominates


def rank_files(
    paths: Sequence[str | os.PathLike[str]],
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
    files = QueryFiles([Path(path) for path in paths], format, options or {})
    room = memory - INDEX * files.nbytes
    if room <= 0:
        raise DataError(
            f"the index of {len(files.queries)} queries takes {size_text(INDEX * files.nbytes)}, more than "
            f"the memory limit of {size_text(memory)}; give at least {size_text(2 * INDEX * files.nbytes)}"
        )
    at_once = concurrent_batches()
    size = max(room // (at_once + 1), LEAST)
    return rank_batches(files, model, out, size=size, top=top, tag=tag, tie_break=tie_break, seed=seed)


def concurrent_batches() -> int:
    """The number of batches at a time: while some wait for the interpreter, others compute."""
    return 1 if threads() == 1 else threads() + 1


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
        consensus = (here if here.is_fitted else copy(here).fit(data)).predict(data)
        if tie_break != "none":
            consensus = consensus.break_ties(tie_break, seed=seed)
        return output.part(consensus), data.rankings

    items, experts, batches = 0, set[str](), files.batches(min(size, files.most))

    def parts() -> Iterator[Any]:
        nonlocal items
        for part, rankings in _in_order(rank, track(batches, "queries"), concurrent_batches()):
            yield part
            items += int(np.minimum(rankings.query_size, top or WHOLE).sum())
            experts.update(rankings.experts)

    deliver(output.chunks(parts()), target)
    if message := model.unknown_weights(experts):
        warn_about_data(message)
    return len(files.queries), items


def _check_method(model: Aggregator) -> None:
    """A DataError for a method that looks at more than one query at a time."""
    if (model.learns and not model.is_fitted) or model.needs_features:
        raise DataError(
            f"{model.name} learns from all queries at once or needs item features, so it cannot rank query by query; "
            "fit it on a part of the data and give the model, or rank without a memory limit"
        )


def _in_order(
    work: Callable[[range], tuple[Any, Rankings]], batches: Any, at_once: int
) -> Iterator[tuple[Any, Rankings]]:
    """Results in the order of the batches, computed ``at_once`` at a time."""
    if at_once == 1:
        yield from map(work, batches)
        return
    with ThreadPoolExecutor(at_once) as pool:
        under_way: deque[Future[tuple[Any, Rankings]]] = deque()
        for batch in batches:
            under_way.append(pool.submit(work, batch))
            if len(under_way) > at_once:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _target(out: str | os.PathLike[str] | Writable) -> Path | Writable:
    return Path(out) if isinstance(out, str | os.PathLike) else out
