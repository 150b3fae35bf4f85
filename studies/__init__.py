"""Experiments and benchmarks of juryrank, outside the package: ``python -m studies``."""
