"""Combinations of scores: normalised scores of the lists, added or otherwise combined."""
