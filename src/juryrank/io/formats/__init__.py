"""The catalogue of formats, and which of them a file is, or should become."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from juryrank.data import Consensus, Dataset
from juryrank.errors import DataError, UnknownNameError
from juryrank.io.formats import comparisons, letor, letor_features, preflib, ratings, table, trec_qrels, trec_run
from juryrank.io.source import Source, unpacked_name
from juryrank.io.tables import headerless
from juryrank.io.tables.columns import Columns

FORMATS: dict[str, ModuleType] = {  # in the order in which they are tried
    "preflib": preflib,
    "letor": letor,
    "letor-features": letor_features,
    "ratings": ratings,
    "trec-run": trec_run,
    "trec-qrels": trec_qrels,
    "comparisons": comparisons,
    "table": table,
}


def named(name: str) -> ModuleType:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownNameError.of("format", name, FORMATS)
    return FORMATS[name]


def format_of(source: Source, name: str | None = None, columns: Columns = None) -> ModuleType:
    """The format of that name, or the first one that the content looks like; numbers of columns are of a table."""
    if name is not None:
        return named(name)
    if comparisons.named_in(columns) and not headerless.by_number(columns):
        return comparisons
    found = table if headerless.by_number(columns) else recognised(source) or (table if columns else None)
    if found is not None:
        return found
    if source.data.lstrip().startswith(b"["):
        raise source.error(1, "one JSON object per line, as pandas writes with orient='records', lines=True")
    if headerless.looks_bare(source):
        raise headerless.unclear(source)
    raise source.error(1, f"one of the formats {', '.join(FORMATS)} (or say which: format=…)")


def recognised(source: Source) -> ModuleType | None:
    """The first format that the content looks like, if any."""
    return next((module for module in FORMATS.values() if module.sniff(source)), None)


def of_data(path: Path) -> bool:
    """Whether the ending of a file is one of a format."""
    ending = Path(unpacked_name(path)).suffix.lower()
    return any(ending in module.ENDINGS for module in FORMATS.values())


def format_for(thing: Dataset | Consensus, path: Path, name: str | None = None) -> ModuleType:
    """The format of that name, or of the ending of ``path``; no ending (or .txt, for a consensus) is a TREC run."""
    module = named(name) if name is not None else _by_ending(path, plain_is_run=isinstance(thing, Consensus))
    if isinstance(thing, Consensus) and module not in (trec_run, table):
        raise DataError(f"{path}: a consensus is written as a TREC run or a table, not as {name_of(module)}")
    return module


def _by_ending(path: Path, *, plain_is_run: bool) -> ModuleType:
    ending = Path(unpacked_name(path)).suffix.lower()
    if not ending or (ending == ".txt" and plain_is_run):
        return trec_run
    for module in FORMATS.values():
        if ending in module.ENDINGS:
            return module
    known = ", ".join(e for module in FORMATS.values() for e in module.ENDINGS)
    raise DataError(f"{path}: no format has the ending {ending!r} ({known}); or say write(…, format=…)")


def name_of(module: ModuleType | None) -> str:
    """What a format is called."""
    return next(name for name, known in FORMATS.items() if known is module)
