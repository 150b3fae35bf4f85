"""Orders of items from all their pairwise majorities, or nearest to the lists by a distance of orders."""
