"""Clients of the service: ``Client`` and ``AsyncClient``."""
