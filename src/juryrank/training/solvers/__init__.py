"""Solvers: columns and gains in, coefficients out."""
