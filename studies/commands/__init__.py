"""The commands of ``python -m studies``, one per file."""
