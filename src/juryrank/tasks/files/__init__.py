"""Fitting, evaluating, comparing and converting files that are larger than memory, in batches of queries."""

from juryrank.tasks.files.compare_files import compare_files
from juryrank.tasks.files.convert_files import convert_files
from juryrank.tasks.files.evaluate_files import evaluate_files
from juryrank.tasks.files.fit_files import fit_files

__all__ = ["compare_files", "convert_files", "evaluate_files", "fit_files"]
