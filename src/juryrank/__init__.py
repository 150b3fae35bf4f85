"""juryrank combines rankings: many experts rank the same items, juryrank returns one ranking.

Everything is imported when it is first used, so that ``import juryrank`` stays light.
"""

from importlib import import_module
from typing import Any

import juryrank.polars  # noqa: F401 (must know of every fork)
from juryrank._public import MODULES

__version__ = "0.1.0"

__all__ = sorted(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module 'juryrank' has no attribute {name!r}")
    value = getattr(import_module(f"juryrank.{MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
