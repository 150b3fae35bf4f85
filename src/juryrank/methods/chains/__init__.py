"""Markov chains over the items of a query."""
