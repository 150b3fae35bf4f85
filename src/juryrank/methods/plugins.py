"""Methods from outside the package: registered classes, Python files, and entry points of installed packages."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib import import_module
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from juryrank.errors import JuryrankWarning, PluginError, warn_user

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path
    from types import ModuleType

    from juryrank.methods.base import Aggregator

GROUP = "juryrank.methods"  # of entry points: name of the method = module:Class
C = TypeVar("C", bound=type)
BASE = "juryrank.methods.Aggregator"
FILE_MODULE = "juryrank_plugin_"  # what the modules of files are called
NAME = r"[a-z0-9]+(-[a-z0-9]+)*"


class Plugins:
    """Classes of methods by name that are not built in."""

    def __init__(self, built_in: Collection[str]) -> None:
        self.built_in = built_in
        self.registered: dict[str, type[Aggregator]] = {}

    def register(self, cls: C) -> C:
        """Add a method of your own to the catalogue; also as a decorator of its class."""
        self._register(cls, getattr(cls, "__qualname__", repr(cls)))
        return cls

    def load_file(self, path: str | os.PathLike[str]) -> list[str]:
        """Run a Python file and register the methods that it defines; returns their names."""
        from pathlib import Path

        module = _run(Path(path))
        classes = list(_methods_of(module))
        if not classes:
            raise PluginError(f"{path}: no method in it; a method is a class that inherits from {BASE}")
        checked = {self._check(cls, f"{path}: {cls.__qualname__}"): cls for cls in classes}
        if len(checked) < len(classes):
            names = [cls.name for cls in classes]
            raise PluginError(f"{path}: two methods have the name {max(names, key=names.count)!r}; rename one")
        self.registered.update(checked)  # all of them or, after an error, none
        return list(checked)

    def names(self) -> list[str]:
        """The names of all methods from outside, without loading those of packages."""
        for point in _entry_points(tuple(sys.path)):
            if point.name in self.built_in:
                message = f"the method {point.name!r} of {_package(point)} is ignored: that name is built in"
                warn_user(message, JuryrankWarning)
        return sorted({*self.registered, *self._entry_points()})

    def __len__(self) -> int:
        return len({*self.registered, *self._entry_points()})

    def __contains__(self, name: object) -> bool:
        return name in self.registered or name in self._entry_points()

    def __getitem__(self, name: str) -> type[Aggregator]:
        if name not in self.registered:
            self._load_entry_point(name, self._entry_points()[name])
        return self.registered[name]

    def _register(self, cls: Any, source: str) -> None:
        self.registered[self._check(cls, source)] = cls

    def _check(self, cls: Any, source: str) -> str:
        """The name under which a class can be registered; a PluginError if it cannot."""
        name = _checked_name(cls, source)
        if name in self.built_in:
            raise PluginError(f"{source}: the name {name!r} is that of a built-in method; choose another")
        other = self.registered.get(name, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):  # else it was run again
            raise PluginError(f"{source}: the name {name!r} is that of {_place(other)} already; choose another")
        return name

    def _entry_points(self) -> dict[str, list[EntryPoint]]:
        """Entry points of installed packages by name; of a name that is built in, the built-in method stays."""
        found: dict[str, list[EntryPoint]] = {}
        for point in (point for point in _entry_points(tuple(sys.path)) if point.name not in self.built_in):
            known = found.setdefault(point.name, [])
            if point.value not in [other.value for other in known]:
                known.append(point)
        return found

    def _load_entry_point(self, name: str, points: list[EntryPoint]) -> None:
        if len(points) > 1:
            packages = " and ".join(sorted(map(_package, points)))
            raise PluginError(f"several packages have a method {name!r}: {packages}; uninstall all but one")
        source = f"the method {name!r} of {_package(points[0])}"
        try:
            cls = points[0].load()
        except Exception as error:
            raise PluginError(f"{source} cannot be loaded: {type(error).__name__}: {error}") from error
        if _checked_name(cls, source) != name:
            raise PluginError(f"{source} has another name in its class: {cls.name!r}; the two must be equal")
        self._register(cls, source)


@lru_cache(maxsize=1)  # all installed packages are looked at: 15 ms where there are 244
def _entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of methods in the folders that modules are imported from."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


def missing_method(name: object) -> str:
    """The part of a message about a saved method that is neither built in nor provided by a plugin."""
    advice = "give --plugin FILE or install the package that provides it"
    return f"method {shortened(name)}, which this installation does not have; {advice}"


def _base() -> type[Aggregator]:
    base: type[Aggregator] = import_module("juryrank.methods.base").Aggregator
    return base


def _package(point: EntryPoint) -> str:
    return f"the package {point.dist.name}" if point.dist else f"the entry point {point.value}"


def _place(cls: type) -> str:
    """Where a class is defined: the file of a plugin, else its module."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return f"{file if file and cls.__module__.startswith(FILE_MODULE) else cls.__module__}: {cls.__qualname__}"


def _checked_name(cls: Any, source: str) -> str:
    """The name of a method; a PluginError for what is no method."""
    if not (isinstance(cls, type) and issubclass(cls, _base())):
        raise PluginError(f"{source}: a method must be a class that inherits from {BASE}")
    name = getattr(cls, "name", None)
    if name is None:
        raise PluginError(f'{source}: the class has no name; write name = "…", as --method takes it')
    if not (isinstance(name, str) and re.fullmatch(NAME, name)):
        raise PluginError(f"{source}: a name consists of lower-case letters, digits and single hyphens, got {name!r}")
    if undeclared := [key for key, value in vars(cls).items() if type(value).__name__ == "Field"]:
        raise PluginError(
            f"{source}: {undeclared[0]} is not a parameter yet; add @dataclass(kw_only=True) to the class"
        )
    return name


def _methods_of(module: ModuleType) -> Iterator[type[Aggregator]]:
    """The methods that a module defines, without the base classes that it shares between them."""
    base = _base()
    own = [cls for cls in vars(module).values() if isinstance(cls, type) and cls.__module__ == module.__name__]
    for cls in own:
        shared = getattr(cls, "name", None) is None and any(issubclass(other, cls) for other in own if other is not cls)
        if issubclass(cls, base) and not shared and not cls.__name__.startswith("_"):
            yield cls


def _run(path: Path) -> ModuleType:
    """The module that a Python file makes."""
    from importlib.util import module_from_spec, spec_from_file_location

    if not os.path.isfile(path):
        found = "not a file" if os.path.exists(path) else "no such file"
        raise PluginError(f"{path}: {found}; a plugin is a Python file with methods")
    place = path.resolve()
    name = f"{FILE_MODULE}{crc32(os.fsencode(place)):08x}_{place.stem}"
    spec = spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path}: a plugin is a Python file, with the ending .py")
    module = sys.modules[name] = module_from_spec(spec)  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise PluginError(f"{path}{_line_of(error, place)}: {type(error).__name__}: {error}") from error
    return module


def _line_of(error: BaseException, path: Path) -> str:
    """``:7`` where line 7 of the file raised the error."""
    lines = [error.lineno] if isinstance(error, SyntaxError) and error.filename == str(path) else []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f":{lines[-1]}" if lines else ""
