"""Code shared by learned methods: labelled queries, targets, columns and solvers."""
