"""juryrank combines rankings: many experts rank the same items, juryrank returns one ranking.

Everything is imported when it is first used, so that ``import juryrank`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from juryrank.data import Consensus, Dataset, Labels, Rankings
    from juryrank.methods import METHODS, method

__version__ = "0.1.0"

_HOME = {
    "Consensus": "juryrank.data",
    "Dataset": "juryrank.data",
    "Labels": "juryrank.data",
    "METHODS": "juryrank.methods",
    "Rankings": "juryrank.data",
    "method": "juryrank.methods",
}

__all__ = [  # noqa: PLE0604
    "METHODS",
    "Consensus",
    "Dataset",
    "Labels",
    "Rankings",
    "method",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'juryrank' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
