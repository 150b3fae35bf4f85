"""Clicks: interaction logs, position bias, labels from clicks, and interleaving."""
