"""Crowds: one label per task from the answers of many workers, with probabilities and the reliability of workers."""

from juryrank.tasks.crowd.crowd import crowd
from juryrank.tasks.crowd.result import CrowdLabels

__all__ = ["CrowdLabels", "crowd"]
