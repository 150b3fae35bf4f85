"""The datasets that a command asks for and that are present."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from juryrank.errors import DataError, UnknownNameError
from studies.console import note, split_names


def present_sets(asked: str | None, known: Iterable[str], folder: Path, *, quiet: bool) -> list[str]:
    """Those of the names, by default all known ones, that are in the folder; a note names the others."""
    known = list(known)
    wanted = known if asked is None else split_names(asked)
    for name in wanted:
        if name not in known:
            raise UnknownNameError.of("dataset", name, known)
    present = [name for name in wanted if (folder / name).is_dir()]
    if not present:
        raise DataError(f"{folder}: contains none of {', '.join(wanted)}; --data names the folder of the datasets")
    for name in sorted(set(wanted) - set(present)):
        note(f"{name}: skipped, not in {folder}", quiet=quiet)
    return present
