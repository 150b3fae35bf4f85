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
    """The parts, where files that share a tag are named after the file instead, with a warning."""
    tags = [_only_expert(part) for part in parts]
    shared = {tag for tag, n in Counter(tag for tag in tags if tag is not None).items() if n > 1}
    if not shared:
        return list(parts)
    names = [source.stem if tag in shared else tag for source, tag in zip(sources, tags, strict=True)]
    again = {name for name, n in Counter(names).items() if n > 1}
    names = [str(s.path) if name in again else name for s, name in zip(sources, names, strict=True)]
    count = sum(tag in shared for tag in tags)
    message = f"{count} files share the expert {sorted(shared)[0]!r} or another; they are named after the files"
    warnings.warn(message, DataWarning, stacklevel=4)
    return [
        part if tag not in shared or part.entries is None
        else replace(part, entries=part.entries.with_columns(expert=pl.lit(name)))
        for part, tag, name in zip(parts, tags, names, strict=True)
    ]  # fmt: skip


def _only_expert(part: Long) -> str | None:
    if part.entries is None or not part.entries.height or "score" not in part.entries.columns:
        return None
    first = part.entries["expert"][0]
    return str(first) if (part.entries["expert"] == first).all() else None
