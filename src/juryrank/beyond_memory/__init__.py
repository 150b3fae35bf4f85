"""Fitting, evaluating, comparing and converting files that are larger than memory, in batches of queries."""

from juryrank.beyond_memory.compare_files import compare_files
from juryrank.beyond_memory.convert_files import convert_files
from juryrank.beyond_memory.evaluate_files import evaluate_files
from juryrank.beyond_memory.fit_files import fit_files

__all__ = ["compare_files", "convert_files", "evaluate_files", "fit_files"]
