"""The input columns of learned methods, computed from lists and from item features."""
