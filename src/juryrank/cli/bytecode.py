"""Bytecode of juryrank and of the libraries that commands load: without it, every process compiles them again."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

WHOLE = ("juryrank", "typer", "rich")  # packages whose modules are loaded one by one, when a command needs them
ALSO = ("typer.rich_utils", "scipy.optimize", "statistics", "importlib.readers")  # by some commands only


class Bytecode(NamedTuple):
    """How many modules have bytecode on disk, how many got it now, and folders that could not be written."""

    modules: int
    compiled: int
    not_writable: list[str]


def store_bytecode() -> Bytecode:
    """Store what is missing or stale for all modules of juryrank and all that are loaded, whatever Python is set to."""
    for name in ALSO:
        importlib.import_module(name)
    with bytecode_is_written():
        loaders = [load(path) for path in sorted(source_files())]
    folders = [loader.not_writable for loader in loaders if loader.not_writable is not None]
    return Bytecode(len(loaders) - len(folders), sum(loader.stored for loader in loaders), sorted(set(folders)))


def source_files() -> set[str]:
    """The files of all modules that are loaded, and of whole packages."""
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    loaded = {spec.origin for spec in specs if spec is not None and type(spec.loader) is SourceFileLoader}
    packages = [Path(folder) for name in WHOLE for folder in sys.modules[name].__path__]
    files = loaded | {str(path) for package in packages for path in package.rglob("*.py")}
    return {path for path in files if path is not None and Path(path).is_file()}


@contextmanager
def bytecode_is_written() -> Iterator[None]:
    """Within this context, Python stores bytecode, even with PYTHONDONTWRITEBYTECODE."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


class Loader(SourceFileLoader):
    """Python's loader, which knows what is stale; it says nothing where it cannot write, so this one looks."""

    def __init__(self, path: str) -> None:
        super().__init__(path, path)
        self.stored = False
        self.not_writable: str | None = None  # a folder

    def set_data(self, path: str, data: Any, **options: Any) -> None:
        """Write bytecode, and check that it is there."""
        super().set_data(path, data, **options)
        file = Path(path)
        self.stored = file.is_file() and file.read_bytes() == data
        if not self.stored:
            self.not_writable = str(file.parent)


def load(path: str) -> Loader:
    """Read the bytecode of a file, or compile and store it."""
    loader = Loader(path)
    loader.get_code(path)
    return loader
