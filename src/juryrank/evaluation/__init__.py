"""How good rankings are: ``evaluate`` one result, ``compare`` methods with tests of significance."""

from juryrank.evaluation.compare import compare
from juryrank.evaluation.evaluate import evaluate

__all__ = ["compare", "evaluate"]
