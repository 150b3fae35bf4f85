"""Features and labels become a scorer, one learner per file."""
