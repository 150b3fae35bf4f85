"""Clients of the service: ``Client`` and ``AsyncClient``."""

from juryrank.client.clients import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
