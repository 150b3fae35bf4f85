"""Lists become fixed-length features of items, one family per file.

Every family is a function ``(dataset, experts) -> Floats [n_slots, n_columns]``; ``experts`` are the names whose
columns are wanted, in that order (those of the training data), so that what was learned finds its expert again.
"""
