"""Public datasets by name: their source, licence and files."""

import json
from dataclasses import dataclass
from importlib.resources import files

from juryrank.errors import UnknownNameError


@dataclass(frozen=True)
class DataSet:
    """A folder of files; ``address`` is where they can be fetched from, if the licence allows automatic downloads."""

    name: str
    what: str
    home: str
    licence: str
    papers: tuple[str, ...]
    files: dict[str, str]  # name -> SHA-256 of the text, uncompressed; empty if not known
    address: str


def data_sets() -> dict[str, DataSet]:
    """All datasets by name."""
    entries = json.loads((files(__package__) / "catalogue.json").read_text(encoding="utf-8"))
    return {each["name"]: DataSet(**{**each, "papers": tuple(each["papers"])}) for each in entries}


def data_set(name: str) -> DataSet:
    """One dataset; the error for an unknown name suggests the nearest one."""
    known = data_sets()
    if name not in known:
        raise UnknownNameError.of("dataset", name, known)
    return known[name]
