"""Evaluation: ``evaluate`` rankings against labels, ``compare`` methods with significance tests, ``verdict``."""

from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate
from juryrank.evaluation.verdict import verdict

__all__ = ["compare", "evaluate", "verdict"]
