"""What learned methods share: labelled queries, targets, columns and solvers."""
