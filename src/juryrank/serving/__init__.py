"""One query after another: ``Fuser`` prepares a method once, ``fuse`` is the same in one call."""

from juryrank.serving.cache import fuse
from juryrank.serving.fuser import Fuser

__all__ = ["Fuser", "fuse"]
