"""Labels from several people, and how far they agree."""
