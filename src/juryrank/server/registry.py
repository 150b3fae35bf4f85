"""The models of the service: a folder of model files, their versions, and Fusers that are ready to use.

``NAME.json`` is the model in use, and may also be put there by hand. ``.versions/NAME/`` has earlier and present
versions as ``NUMBER-DIGEST.json``. Files are replaced atomically, so that a process that is killed leaves the old
version or the new one. A file that cannot be read leaves the version before in use, and is reported.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from juryrank.errors import DataError, JuryrankError, UnknownNameError
from juryrank.io.files import save
from juryrank.methods import Aggregator
from juryrank.models import from_json
from juryrank.server.logs import log
from juryrank.server.problems import StorageError, UnusableModelError
from juryrank.server.served_fuser import ServedFuser

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
VERSION_FILE = re.compile(r"(\d{6})-([0-9a-f]{12})\.json")
DIGITS = 12  # of the SHA-256 of a model file, its version
DEMO = "demo"
Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Served:
    """A version of a model, ready to use."""

    name: str
    version: str
    model: Aggregator
    fuser: ServedFuser
    size: int
    since: str  # when the file was written


@dataclass(frozen=True)
class Version:
    """A version that is kept."""

    number: int
    version: str
    path: Path
    written: str  # when


def check_name(name: str) -> str:
    """The name, if it can be that of a model."""
    if NAME.fullmatch(name) is None:
        raise DataError(
            "the name of a model has 1 to 64 letters, digits, - or _, and starts with a letter or a digit, "
            f"got {name!r:.80}"
        )
    return name


def make_served(name: str, content: bytes, since: str) -> Served:
    """A model file, ready to use; a DataError says what is wrong with it."""
    try:
        model = from_json(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise DataError(f"{name}: not a juryrank model: it is not text") from None
    return Served(name, digest(content), model, ServedFuser(model), len(content), since)


def digest(content: bytes) -> str:
    """The version of a model file."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def _demo() -> bytes:
    return (files("juryrank") / "demo" / "trec-covid" / "model.json").read_bytes()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


class Registry:
    """The models of a folder; without a folder, the demo model alone, which nothing can replace."""

    def __init__(self, folder: Path | None, *, keep: int = 10, largest: int = 64 << 20) -> None:
        self.folder, self._keep, self._largest = folder, keep, largest
        self._folder = str(folder)  # as text, which every request needs
        self._served: dict[str, tuple[Stamp | None, Served | None, str | None]] = {}
        if folder is None:
            self._served[DEMO] = (None, make_served(DEMO, _demo(), ""), None)
        elif not folder.is_dir():
            raise DataError(f"{folder}: not a folder of models; make it first, or give a model file's folder")

    @property
    def versions_folder(self) -> Path:
        """Where versions are kept."""
        return self._demand_folder() / ".versions"

    def _demand_folder(self) -> Path:
        if self.folder is None:
            raise DataError("the demo service has no folder of models: start it with juryrank serve MODELS")
        return self.folder

    def names(self) -> list[str]:
        """The names of all models."""
        if self.folder is None:
            return sorted(self._served)
        names: list[str] = []
        with (
            suppress(FileNotFoundError),
            os.scandir(self.folder) as found,
        ):  # in less time than glob
            names += [each.name[:-5] for each in found if each.name.endswith(".json") and each.is_file()]
        return sorted(filter(NAME.fullmatch, names))

    def get(self, name: str) -> Served:
        """The version in use; a file that has changed is read, and one that is damaged leaves the version before."""
        known = self._served.get(name)
        stamp = self._stamp(name)
        if known is not None and known[0] == stamp:
            served, fault = known[1], known[2]
        elif stamp is None:
            self._served.pop(name, None)
            raise UnknownNameError.of("model", name, self.names())
        else:
            served, fault = self._load(name, None if known is None else known[1])
            self._served[name] = (stamp, served, fault)
        if served is None:
            raise UnusableModelError(f"model {name!r} cannot be used: {fault}")
        return served

    def is_usable(self, name: str) -> bool:
        """Whether requests can use the model."""
        try:
            self.get(name)
        except JuryrankError:
            return False
        return True

    def content(self, name: str) -> bytes:
        """The model file in use."""
        if self._stamp(name) is None and (self.folder is not None or name not in self._served):
            raise UnknownNameError.of("model", name, self.names())
        return _demo() if self.folder is None else (self.folder / f"{name}.json").read_bytes()

    def _stamp(self, name: str) -> Stamp | None:
        if self.folder is None or (name not in self._served and NAME.fullmatch(name) is None):
            return None
        try:
            found = os.stat(f"{self._folder}/{name}.json")
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _load(self, name: str, before: Served | None) -> tuple[Served | None, str | None]:
        path = self._demand_folder() / f"{name}.json"
        try:
            with path.open("rb") as file:
                content = file.read(self._largest + 1)
                since = _time(os.fstat(file.fileno()).st_mtime)
            if len(content) > self._largest:
                raise DataError(f"{path.name}: a model must have at most {self._largest} bytes")
            return make_served(name, content, since), None
        except (JuryrankError, OSError) as error:
            found = before or self._last_good(name)
            state = "it cannot be used" if found is None else f"version {found.version} is used instead"
            log.error("model %s cannot be read, %s: %s", name, state, error)
            return found, str(error)

    def _last_good(self, name: str) -> Served | None:
        """The newest version that can be read, for a process that starts when the file is damaged."""
        for kept in self.versions(name):
            with suppress(JuryrankError, OSError):
                return make_served(name, kept.path.read_bytes(), kept.written)
        return None

    def faults(self) -> dict[str, str]:
        """The models whose file cannot be read, and why."""
        found = {}
        for name in self.names():
            with suppress(JuryrankError):
                self.get(name)
            if (known := self._served.get(name)) is not None and known[2] is not None:
                found[name] = known[2]
        return found

    def versions(self, name: str) -> list[Version]:
        """The versions that are kept, newest first."""
        if self.folder is None:
            return []
        found = []
        for path in (self.versions_folder / check_name(name)).glob("*.json"):
            if shape := VERSION_FILE.fullmatch(path.name):
                with suppress(OSError):  # removed by another process
                    found.append(Version(int(shape[1]), shape[2], path, _time(path.stat().st_mtime)))
        return sorted(found, key=lambda each: -each.number)

    def put(self, name: str, content: bytes, *, instead_of: str | None = None) -> Served:
        """Check a model file and make it the version in use; the versions that are too old are removed.

        With ``instead_of``, a DataError if another version than that has come into use meanwhile.
        """
        served = make_served(check_name(name), content, _time(datetime.now(UTC).timestamp()))
        with self._writing():
            if instead_of is not None and digest(self.content(name)) != instead_of:
                raise DataError(f"model {name!r} was replaced by another version meanwhile")
            self._keep_current(name)
            self._add_version(name, content)
            save(self._demand_folder() / f"{name}.json", content)
            self._prune(name)
        return served

    def roll_back(self, name: str, version: str | None) -> Served:
        """Put an earlier version in use again: the one that is named, or the one before the present one."""
        check_name(name)
        with self._writing():
            current = self.get(name).version
            self._keep_current(name)
            kept = self.versions(name)
            chosen = next((each for each in kept if each.version == version), None)
            if version is None:
                number = next(each.number for each in kept if each.version == current)
                chosen = next((each for each in kept if each.number < number), None)
            if chosen is None:
                known = ", ".join(each.version for each in kept)
                wanted = "before the present one" if version is None else repr(version)
                raise UnknownNameError(f"model {name!r} has no version {wanted}; kept are {known}")
            content = chosen.path.read_bytes()
            make_served(name, content, "")  # a damaged version is not put in use
            save(self._demand_folder() / f"{name}.json", content)
        return self.get(name)

    def delete(self, name: str) -> None:
        """Remove a model from use; its versions stay, and ``put`` or ``roll_back`` of a copy bring it back."""
        check_name(name)
        with self._writing():
            if self._stamp(name) is None:
                raise UnknownNameError.of("model", name, self.names())
            self._keep_current(name)
            (self._demand_folder() / f"{name}.json").unlink()
        self._served.pop(name, None)

    def _keep_current(self, name: str) -> None:
        """Keep the file in use as a version, if it was put there by hand."""
        try:
            content = (self._demand_folder() / f"{name}.json").read_bytes()
        except FileNotFoundError:
            return
        if digest(content) not in {each.version for each in self.versions(name)}:
            self._add_version(name, content)

    def _add_version(self, name: str, content: bytes) -> None:
        kept = self.versions(name)
        folder = self.versions_folder / name
        folder.mkdir(parents=True, exist_ok=True)
        number = kept[0].number + 1 if kept else 1
        save(folder / f"{number:06}-{digest(content)}.json", content)
        for same in (each for each in kept if each.version == digest(content)):
            same.path.unlink(missing_ok=True)  # it is the newest again

    def _prune(self, name: str) -> None:
        for old in self.versions(name)[self._keep :]:
            old.path.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time, among all workers; the lock ends with the process."""
        folder = self._demand_folder()
        try:
            self.versions_folder.mkdir(exist_ok=True)
            with (self.versions_folder / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                _remove_unfinished(folder)
                yield
        except OSError as error:
            raise StorageError(f"the folder of models cannot be written: {error.strerror or error}", error) from None
        except DataError as error:
            if isinstance(cause := error.__context__, OSError) and not isinstance(error, StorageError):
                raise StorageError(str(error), cause) from None
            raise


def _remove_unfinished(folder: Path) -> None:
    """Remove what killed writers have left; nobody else is writing now."""
    for pattern in (".*.json.*.tmp", ".versions/*/.*.json.*.tmp"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
