"""juryrank combines rankings: many experts rank the same items, juryrank returns one ranking.

Everything is imported when it is first used, so that ``import juryrank`` stays light.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import juryrank.forks  # noqa: F401 (must know of every fork)

if TYPE_CHECKING:
    from juryrank._leaderboard import leaderboard
    from juryrank.data import Consensus, Dataset, Labels, Rankings
    from juryrank.errors import DataWarning, JuryrankError
    from juryrank.evaluation.compare import compare
    from juryrank.evaluation.evaluate import evaluate
    from juryrank.fuse import fuse
    from juryrank.io import read, write
    from juryrank.methods import METHODS, method
    from juryrank.metrics import METRICS, parse_metric
    from juryrank.models import load, save

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "METRICS",
    "Consensus",
    "DataWarning",
    "Dataset",
    "JuryrankError",
    "Labels",
    "Rankings",
    "compare",
    "evaluate",
    "fuse",
    "leaderboard",
    "load",
    "method",
    "parse_metric",
    "read",
    "save",
    "write",
]

_HOME = {
    "METHODS": "methods",
    "METRICS": "metrics",
    "Consensus": "data",
    "DataWarning": "errors",
    "Dataset": "data",
    "JuryrankError": "errors",
    "Labels": "data",
    "Rankings": "data",
    "compare": "evaluation",
    "evaluate": "evaluation",
    "fuse": "fuse",
    "leaderboard": "_leaderboard",
    "load": "models",
    "method": "methods",
    "parse_metric": "metrics",
    "read": "io",
    "save": "models",
    "write": "io",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'juryrank' has no attribute {name!r}")
    value = getattr(import_module(f"juryrank.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        # Importing the file evaluate.py must not hide the function evaluate.
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
