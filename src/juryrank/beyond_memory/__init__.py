"""Fitting, evaluating, comparing and converting files that are larger than memory, in batches of queries."""

from juryrank.beyond_memory.evaluate_files import evaluate_files
from juryrank.beyond_memory.fit_files import fit_files

__all__ = ["evaluate_files", "fit_files"]
