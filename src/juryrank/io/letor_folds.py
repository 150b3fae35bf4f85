"""A folder of LETOR folds: ``Fold1 … FoldN``, each with train, vali and test; every query is read once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from juryrank.data import Fold
from juryrank.errors import DataError, warn_about_data
from juryrank.io.files import load
from juryrank.io.formats import format_of
from juryrank.io.formats.svmlight import LineFormat, lines_of
from juryrank.io.rows import Rows, concat
from juryrank.io.source import Source
from juryrank.polars import pl

PARTS = ("test", "vali", "train")  # the tests of all folds together usually have every query, so they go first
FOLD = re.compile(r"fold\D?(\d+)$", re.IGNORECASE)


def fold_folders(folder: Path) -> list[Path]:
    """The fold folders in a folder, in the order of their numbers."""
    if not os.path.isdir(folder):
        return []
    numbered = [(int(m[1]), p) for p in folder.iterdir() if p.is_dir() and (m := FOLD.match(p.name))]
    return [path for _, path in sorted(numbered)]


def read_folds(folders: Sequence[Path], format_name: str | None) -> tuple[Rows, dict[tuple[str, str], list[str]]]:
    """The rows of all queries, and the queries of each part of each fold."""
    parts: list[Rows] = []
    line_format: LineFormat | None = None
    sizes: dict[str, int] = {}
    members: dict[tuple[str, str], list[str]] = {}
    differing: set[str] = set()
    for part in PARTS:
        for folder in folders:
            source = load(_part_file(folder, part))
            line_format = line_format or _line_format(source, format_name)
            lines = lines_of(source)
            counts = dict(lines.group_by("query").len().iter_rows())
            members[folder.name, part] = list(counts)
            differing |= {q for q, n in counts.items() if sizes.get(q, n) != n}
            new = lines.filter(~pl.col("query").is_in(list(sizes)))
            sizes |= counts
            if new.height:
                with source.reading():
                    parts.append(line_format.read_lines(source, new))
    if differing:
        message = f"{folders[0].parent}: {len(differing)} queries have different numbers of items in different folds"
        warn_about_data(message)
    return concat(parts, str(folders[0].parent)), members


def _line_format(source: Source, format_name: str | None) -> LineFormat:
    found = format_of(source, format_name)
    if not isinstance(found, LineFormat):
        raise source.error(1, "LETOR lines in a folder of folds")
    return found


def fold_positions(queries: tuple[str, ...], members: Mapping[tuple[str, str], list[str]]) -> tuple[Fold, ...]:
    """The folds as positions among ``queries``."""
    place = {query: n for n, query in enumerate(queries)}
    chosen = {key: tuple(sorted(place[query] for query in names)) for key, names in members.items()}
    names = list(dict.fromkeys(name for name, _ in members))
    return tuple(Fold(name, chosen[name, "train"], chosen[name, "vali"], chosen[name, "test"]) for name in names)


def _part_file(folder: Path, part: str) -> Path:
    names = {"vali": ("vali", "valid", "validation")}.get(part, (part,))
    for name in names:
        for ending in (".txt", ".txt.gz", ".txt.zst"):
            if (path := folder / f"{name}{ending}").is_file():
                return path
    raise DataError(f"{folder}: a fold has train.txt, vali.txt and test.txt (or .txt.gz); {part}.txt is missing")
