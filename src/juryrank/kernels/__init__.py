"""Arithmetic on flat arrays; knows numpy and numba only."""
