"""Arithmetic on flat arrays, compiled by Cython; knows NumPy only."""
