"""Models of strengths: the probability that one item is ranked above another."""
