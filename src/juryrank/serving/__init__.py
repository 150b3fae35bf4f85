"""One query after another: ``Fuser`` prepares a method once, ``fuse`` is the same in one call; exploration."""

from juryrank.serving.cache import fuse
from juryrank.serving.exploration import Exploration
from juryrank.serving.fuser import Fuser

__all__ = ["Exploration", "Fuser", "fuse"]
