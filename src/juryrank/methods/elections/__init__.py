"""Rules of elections: experts are voters, lists are ballots, items are candidates."""
