"""Methods that learn from labels whom to trust."""
