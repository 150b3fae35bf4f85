"""What people come for; each task knows the library, none knows another."""
