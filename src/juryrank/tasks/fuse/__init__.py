"""One query after another: ``Fuser`` prepares a method once, ``fuse`` is the same in one call; exploration."""

from juryrank.tasks.fuse.exploration import Exploration
from juryrank.tasks.fuse.fuse import fuse
from juryrank.tasks.fuse.fuser import Fuser

__all__ = ["Exploration", "Fuser", "fuse"]
