"""The paths of the service, and the routes by which requests are counted."""

from __future__ import annotations

import re

OPEN = frozenset(("/healthz", "/readyz", "/openapi.json"))
FUSION = frozenset(("/v1/fuse", "/v1/explain"))
PATHS = FUSION | OPEN | {"/v1/feedback", "/v1/models", "/metrics"}
MODEL, OTHER = "/v1/models/{name}", "other"
MODEL_ACTIONS = ("/refit", "/rollback")
MODEL_PATH = re.compile(rf"/v1/models/[^/]+({'|'.join(MODEL_ACTIONS)})?")
ROUTES = (*sorted(PATHS), MODEL, *(MODEL + action for action in MODEL_ACTIONS), OTHER)  # all that there are


def route_of(path: str) -> str:
    """The path without names, for metrics and logs: what users send must not become a label."""
    if path in PATHS:
        return path
    if shape := MODEL_PATH.fullmatch(path):
        return MODEL + (shape[1] or "")
    return OTHER
