"""Evaluation: ``evaluate`` rankings against labels, ``compare`` methods with significance tests."""

from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate

__all__ = ["compare", "evaluate"]
