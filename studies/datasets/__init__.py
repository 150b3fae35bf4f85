"""Public data sets known by name: where they come from, under which licence, and which files they have."""

import json
from dataclasses import dataclass
from importlib.resources import files

from juryrank.errors import UnknownNameError


@dataclass(frozen=True)
class DataSet:
    """A folder of files; ``address`` is where they can be fetched from, where the licence lets a program do it."""

    name: str
    what: str
    home: str
    licence: str
    papers: tuple[str, ...]
    files: dict[str, str]  # name -> SHA-256 of the text, compressed or not; empty where it is not known
    address: str


def data_sets() -> dict[str, DataSet]:
    """All data sets by name."""
    found = json.loads((files(__package__) / "catalogue.json").read_text(encoding="utf-8"))
    return {each["name"]: DataSet(**{**each, "papers": tuple(each["papers"])}) for each in found}


def data_set(name: str) -> DataSet:
    """One data set; an error names the nearest one where there is none of this name."""
    known = data_sets()
    if name not in known:
        raise UnknownNameError.of("data set", name, known)
    return known[name]
