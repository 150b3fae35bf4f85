"""Fitting, evaluating, comparing and converting files that are larger than memory, in batches of queries."""

from juryrank.beyond_memory.fit_files import fit_files

__all__ = ["fit_files"]
