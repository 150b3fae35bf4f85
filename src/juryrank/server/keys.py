"""API keys: made once, kept as hashes, compared in constant time, with scopes and a limit of requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from juryrank.errors import DataError, ParameterError
from juryrank.io.files import save

SCOPES = ("fuse", "feedback", "admin")
SHAPE = re.compile(r"jr_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
RELOAD_SECONDS = 1.0  # after which a changed file is noticed
BURST_SECONDS = 2.0  # of unused requests that may be made at once
MOST_BUCKETS = 10_000


@dataclass(frozen=True)
class Key:
    """What is known of a key. The secret has 256 random bits, so that a plain SHA-256 of it cannot be guessed."""

    id: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    created: str


def create_key(path: Path, name: str, scopes: tuple[str, ...]) -> str:
    """A new key, whose hash is added to the file; the key itself is shown only now."""
    if not name or not name.isprintable() or len(name) > 100:
        raise ParameterError(f"the name of a key must have 1 to 100 printable characters, got {name!r}")
    if unknown := set(scopes) - set(SCOPES):
        raise ParameterError(f"scopes are {', '.join(SCOPES)}, got {', '.join(sorted(unknown))}")
    if not scopes:
        raise ParameterError(f"a key needs a scope: {', '.join(SCOPES)}")
    known = read_keys(path) if path.exists() else {}
    if any(key.name == name for key in known.values()):
        raise ParameterError(f"{path}: there is a key named {name!r} already; remove it first, or choose another name")
    identity, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = Key(identity, name, _hash(secret), tuple(scope for scope in SCOPES if scope in scopes), now)
    _write(path, [*known.values(), new])
    return f"jr_{identity}_{secret}"


def remove_key(path: Path, name: str) -> None:
    """Remove the key of that name; the running service refuses it within a second."""
    known = read_keys(path)
    if name not in (names := [key.name for key in known.values()]):
        raise ParameterError(f"{path}: no key is named {name!r}; there are {', '.join(names) or 'none'}")
    _write(path, [key for key in known.values() if key.name != name])


def _write(path: Path, keys: list[Key]) -> None:
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # saving keeps these permissions
    save(path, (json.dumps({"keys": [asdict(key) for key in keys]}, indent=1) + "\n").encode())


def read_keys(path: Path) -> dict[str, Key]:
    """The keys of a file by their id."""
    try:
        content = json.loads(path.read_text(encoding="utf-8") or '{"keys": []}')
        keys = [Key(**{**each, "scopes": tuple(each["scopes"])}) for each in content["keys"]]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DataError(f"{path}: not a file of keys; juryrank serve --create-key makes one") from None
    return {key.id: key for key in keys}


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class KeyRing:
    """The keys of a file, read again when it changes; a file that cannot be read leaves the keys as they were."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._stamp, self._next = self._stat(), clock() + RELOAD_SECONDS
        self._keys = read_keys(path)  # after the stamp, so that a change meanwhile is noticed
        self._found: dict[str, tuple[str, Key]] = {}  # by id, with their text, which takes less time than a hash

    def find(self, text: str) -> Key | None:
        """The key, if it is known."""
        if (now := self._clock()) > self._next:
            self._next = now + RELOAD_SECONDS
            self._reload()
        if (found := self._found.get(text[3:15])) and text.isascii() and hmac.compare_digest(text, found[0]):
            return found[1]
        if (shape := SHAPE.fullmatch(text)) is None or (key := self._keys.get(shape[1])) is None:
            return None
        if not hmac.compare_digest(_hash(shape[2]), key.hash):
            return None
        self._found[key.id] = text, key
        return key

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _reload(self) -> None:
        stamp = self._stat()
        if stamp is None or stamp == self._stamp:
            return
        with suppress(DataError):  # half edited by hand, perhaps; the next look is in a second
            self._keys, self._stamp, self._found = read_keys(self._path), stamp, {}


class RateLimit:
    """At most ``rate`` requests per second for each caller; 0 is no limit. The clock must never go back.

    Each caller has a bucket of tokens, which is filled at this rate.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, max(1.0, rate * BURST_SECONDS), clock
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens, and when they were counted

    def wait(self, caller: str) -> float:
        """0 if the request may be made now, else the seconds until then."""
        if not self._rate:
            return 0.0
        now = self._clock()
        tokens, counted = self._buckets.get(caller, (self._burst, now))
        tokens = min(self._burst, tokens + (now - counted) * self._rate)
        if len(self._buckets) >= MOST_BUCKETS and caller not in self._buckets:
            self._buckets.clear()
        allowed = tokens >= 1.0
        self._buckets[caller] = (tokens - 1.0 if allowed else tokens, now)
        return 0.0 if allowed else (1.0 - tokens) / self._rate
