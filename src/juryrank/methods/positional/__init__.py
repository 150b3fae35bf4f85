"""Points by position: an item's score is a sum, mean or median over its ranks."""
