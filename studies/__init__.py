"""Experiments and benchmarks of juryrank, outside the package: ``python -m studies``."""

from pathlib import Path

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"  # beside the project: datasets that may not be copied
