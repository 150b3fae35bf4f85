"""What learned methods know of an item: columns made of lists and of item features."""
