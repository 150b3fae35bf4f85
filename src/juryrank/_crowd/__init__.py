"""Crowds: one label per task from the answers of many workers, with probabilities and the reliability of workers."""

from juryrank._crowd.crowd import crowd
from juryrank._crowd.result import CrowdLabels

__all__ = ["CrowdLabels", "crowd"]
