"""polars, imported when one of its names is first used: small TREC runs are fused without it, in half the time."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
else:

    class _Polars:
        """Stands for the module: looks a name up there on its first use."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("polars"), name)
            setattr(self, name, value)
            return value

    pl = _Polars()

__all__ = ["is_imported", "pl"]


def is_imported() -> bool:
    """Whether polars is imported already, so that using it costs nothing more."""
    return "polars" in sys.modules
