"""Clients of the service: ``Client`` and ``AsyncClient``."""

from juryrank.client.calls import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
