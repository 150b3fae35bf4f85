"""Models and lists for tests of the service."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import juryrank
from conftest import random_dataset
from juryrank.models import save, to_json
from juryrank.server.keys import create_key
from server.processes import PATIENCE

DEMO = Path(juryrank.__file__).parent / "demo" / "trec-covid"
EXPERTS = ("e0", "e1", "e2", "e3", "e4")  # of random_dataset
SCOPES = ("fuse", "feedback", "admin")


def write_model(path: Path, *, seed: int = 0, method: str = "jury", n_queries: int = 20) -> bytes:
    """A model that has learned from random lists, as a file."""
    save(juryrank.fit(random_dataset(seed, n_queries=n_queries), method), path)
    return path.read_bytes()


def learned_model(seed: int = 0, method: str = "jury") -> Any:
    """The same model."""
    return juryrank.fit(random_dataset(seed, n_queries=20), method)


def model_content(seed: int, *, size: int = 0) -> bytes:
    """The file of that model, of at least that size."""
    return to_json(learned_model(seed)).encode().ljust(size)


def random_lists(seed: int, *, size: int = 8, experts: tuple[str, ...] = EXPERTS) -> dict[str, list[str]]:
    """Lists in order."""
    rng = random.Random(seed)
    items = [f"i{n}" for n in range(2 * size)]
    return {expert: rng.sample(items, size) for expert in experts}


def scored(lists: dict[str, list[str]], seed: int = 0) -> dict[str, dict[str, float]]:
    """The same lists as scores that fall."""
    rng = random.Random(seed)
    return {
        expert: {item: float(len(items) - n) + rng.random() / 2 for n, item in enumerate(items)}
        for expert, items in lists.items()
    }


def make_keys(path: Path) -> dict[str, str]:
    """A key for each scope, in a file."""
    return {scope: create_key(path, f"key of {scope}", (scope,)) for scope in SCOPES}


def bearer(key: str) -> dict[str, str]:
    """The header for a key."""
    return {"Authorization": f"Bearer {key}"}


def wait_until(holds: Callable[[], object], seconds: float = PATIENCE, *, pause: float = 0.05) -> None:
    """Wait until something holds; the limit is for what never comes, not for what comes late."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(pause)
