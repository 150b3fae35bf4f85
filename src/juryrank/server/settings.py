"""The settings of the service: defaults, a TOML file, and options of the command line, checked together."""

from __future__ import annotations

import ipaddress
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from juryrank.errors import DataError, ParameterError, unknown_names
from juryrank.server.logs import LEVELS
from juryrank.server.sites import check_hosts

PORT = 8347
RULES = ("never", "gain")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that the service can be told; ``docs/serve.md`` has a table of them."""

    models: Path | None = None  # folder of models; None: the demo model alone
    default_model: str | None = None  # for requests that name neither a model nor a method
    host: str = "127.0.0.1"
    port: int = PORT
    workers: int = 1
    keys: Path | None = None  # file of API keys; None: no keys are asked for
    insecure: bool = False  # allows a public address without keys
    allow_hosts: tuple[str, ...] = ()  # names of the service, beside localhost and the address
    cors: tuple[str, ...] = ()  # origins that browsers may call from
    store: str | None = None  # of feedback: path of an SQLite file or a postgresql:// URL; None: beside the models
    store_seconds: float = 5.0  # in which a lock of the store must be free
    versions: int = 10  # of each model that are kept for rollback
    max_body: int = 8 << 20  # bytes of a request
    max_model: int = 64 << 20  # bytes of a model that is uploaded
    max_held: int = 256 << 20  # bytes of large requests that a worker is reading; more are refused
    max_experts: int = 100  # of one query
    max_items: int = 100_000  # entries of one request, over all lists
    max_queries: int = 1000  # of one batch
    rate: float = 0.0  # requests per second and key, over all workers; 0: no limit
    concurrency: int = 1000  # requests that a worker has under way; more are refused
    body_seconds: float = 10.0  # in which the body of a request must have arrived
    shutdown_seconds: float = 30.0  # in which requests under way may end
    refit_hours: float = 0.0  # 0: only when asked
    promote: str = "never"  # after a scheduled refit: never, or gain (the interval of the gain is above 0)
    access_log: bool = True
    log_level: str = "info"

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            value = getattr(self, name)
            whole = isinstance(LEAST[name], int)
            right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
            if not right or not least <= value < math.inf:
                kind = "whole number" if whole else "number"
                raise ParameterError(f"{name} must be a {kind} >= {least}, got {value!r}")
        check_hosts(self.allow_hosts)
        if self.port > 65535:
            raise ParameterError(f"port must be at most 65535, got {self.port}")
        for name, known in (("promote", RULES), ("log_level", tuple(LEVELS))):
            if (chosen := getattr(self, name)) not in known:
                raise ParameterError(f"{name} must be one of {', '.join(known)}, got {chosen!r}")

    @property
    def is_public(self) -> bool:
        """Whether other machines can reach the address."""
        if self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True  # a name that could be anything

    def demand_safe(self) -> None:
        """An error for a public address without keys."""
        if self.is_public and self.keys is None and not self.insecure:
            raise ParameterError(
                f"{self.host} can be reached from other machines, and no keys are asked for: give --keys FILE "
                "(juryrank serve --create-key NAME makes one), or --insecure if a proxy in front checks who calls"
            )


LEAST: dict[str, float] = {
    "port": 0, "workers": 1, "versions": 1, "max_body": 1, "max_model": 1, "max_held": 1, "max_experts": 1,
    "max_items": 1, "max_queries": 1, "rate": 0.0, "concurrency": 1, "body_seconds": 0.001, "shutdown_seconds": 0.0,
    "refit_hours": 0.0, "store_seconds": 0.0,
}  # fmt: skip
PATHS = ("models", "keys")
LISTS = {
    "allow_hosts": 'names such as "fusion.example.org"',
    "cors": 'origins such as "https://example.org"',
}


def dump(settings: Settings) -> str:
    """The settings as text, for another process."""
    return json.dumps(
        {name: str(value) if isinstance(value, Path) else value for name, value in asdict(settings).items()}
    )


def parse(text: str) -> Settings:
    """The settings in a text of ``dump``."""
    found = json.loads(text)
    paths = {name: Path(found[name]) for name in PATHS if found[name] is not None}
    lists = {name: tuple(found[name]) for name in LISTS}
    return Settings(**{**found, **paths, **lists})


def read_settings(config: Path | None, given: Mapping[str, Any]) -> Settings:
    """The settings of a TOML file, with those that are given on the command line in their place."""
    try:
        found = Settings() if config is None else Settings(**_read(config))
    except ParameterError as error:
        raise ParameterError(f"{config}: {error}") from None
    return replace(found, **{name: value for name, value in given.items() if value is not None})


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a TOML file: {error}") from None
    known = {each.name: each.default for each in fields(Settings)}
    if unknown := found.keys() - known.keys():
        raise DataError(f"{path}: no setting {unknown_names(unknown, known)}")
    return {name: _value(path, name, value, known[name]) for name, value in found.items()}


def _value(path: Path, name: str, value: Any, default: Any) -> Any:
    """A value of the file; paths are relative to it."""
    texts = name in PATHS or default is None or isinstance(default, str)
    if texts and not isinstance(value, str):
        raise DataError(f"{path}: {name} must be a text, got {value!r}")
    if isinstance(default, bool) and not isinstance(value, bool):
        raise DataError(f"{path}: {name} must be true or false, got {value!r}")
    if name in LISTS:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise DataError(f"{path}: {name} must be a list of {LISTS[name]}, got {value!r}")
        return tuple(value)
    if name in PATHS:
        return path.parent / value
    if name == "store" and "://" not in value:
        return str(path.parent / value)
    return value
