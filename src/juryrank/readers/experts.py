"""Experts of several files, told apart when two files use one name."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from juryrank.errors import DataWarning
from juryrank.readers.long import Long
from juryrank.readers.source import Source


def named_apart(parts: Sequence[Long], sources: Sequence[Source]) -> list[Long]:
    """The parts, where files of one expert each that share its name and a query are named after the files instead.

    Files of one expert about different queries stay one expert.
    """
    tags = [_expert(part) for part in parts]
    shared = {tag for tag, n in Counter(tag for tag in tags if tag).items() if n > 1 and _overlap(tag, tags, parts)}
    if not shared:
        return list(parts)
    names = [source.stem if tag in shared else tag for source, tag in zip(sources, tags, strict=True)]
    again = {name for name, n in Counter(names).items() if n > 1}
    names = [str(s.path) if name in again else name for s, name in zip(sources, names, strict=True)]
    count = sum(tag in shared for tag in tags)
    message = (
        f"{count} files share the expert {min(shared)!r}{' or another' * (len(shared) > 1)}; they are named by file"
    )
    warnings.warn(message, DataWarning, stacklevel=4)
    return [
        part if part.entries is None or tag not in shared
        else replace(part, entries=part.entries.with_columns(expert=pl.lit(name)))
        for part, tag, name in zip(parts, tags, names, strict=True)
    ]  # fmt: skip


def _expert(part: Long) -> str:
    """The one expert of a file, or nothing."""
    if not part.one_expert or part.entries is None or not part.entries.height:
        return ""
    return str(part.entries["expert"][0])


def _overlap(tag: str, tags: Sequence[str], parts: Sequence[Long]) -> bool:
    """Whether a query stands in several files of an expert."""
    queries = [
        p.entries["query"].unique() for p, t in zip(parts, tags, strict=True) if t == tag and p.entries is not None
    ]
    together = pl.concat(queries)
    return together.n_unique() < len(together)
