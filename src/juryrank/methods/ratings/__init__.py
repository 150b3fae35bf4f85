"""Ratings that are updated after every list."""
