"""Spans of OpenTelemetry: one for each request, where the SDK is installed and configured."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from juryrank.server.paths import route_of


def with_spans(app: Any) -> Any:
    """The application with a span around each request; itself, where nobody collects spans."""
    try:
        from opentelemetry import trace
    except ImportError:
        return app
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return app  # installed, and not configured
    return Traced(app, trace.get_tracer("juryrank"))


class Traced:
    """An application whose requests are spans, as a part of the caller's trace where there is one."""

    def __init__(self, app: Any, tracer: Any) -> None:
        self._app, self._tracer = app, tracer

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request."""
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, Status, StatusCode

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        method, route = scope["method"], route_of(scope["path"])
        attributes = {"http.request.method": method, "http.route": route}
        with self._tracer.start_as_current_span(
            f"{method} {route}", context=extract(headers), kind=SpanKind.SERVER, attributes=attributes
        ) as span:

            async def send_and_note(message: MutableMapping[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if request_id := dict(message["headers"]).get(b"x-request-id"):
                        span.set_attribute("juryrank.request_id", request_id.decode())
                    if message["status"] >= 500:
                        span.set_status(Status(StatusCode.ERROR))
                await send(message)

            await self._app(scope, receive, send_and_note)
