"""The parser of requests, for which an offer of another protocol is one more header to ignore.

``Upgrade: h2c``, which the client of OpenJDK sends by default, and ``Upgrade: websocket`` may be ignored (RFC 9110,
7.8). The parser of httptools ends at such a head, as if its body, and all that follows, were in the other protocol.
"""

from __future__ import annotations

from typing import Protocol

import httptools


class Head(Protocol):
    """What has been read of the head of a request; the callbacks of the parser are methods of the same object."""

    url: bytes
    headers: list[tuple[bytes, bytes]]


class Parser(httptools.HttpRequestParser):
    """The callbacks of a head with an offer come twice; ``should_upgrade`` is false when it has no offer any more."""

    def __init__(self, head: Head) -> None:
        super().__init__(head)
        self._head = head
        # As uvicorn: bytes behind the last request of a connection are no error of that request.
        self.set_dangerous_leniencies(lenient_data_after_close=True)

    def feed_data(self, data: bytes | memoryview) -> None:  # type: ignore[override]
        """Read on."""
        rest = data
        while True:
            try:
                super().feed_data(rest)
                return
            except httptools.HttpParserUpgrade as offer:
                if self.get_method() == b"CONNECT":  # what follows is for another server
                    raise httptools.HttpParserError("there are no tunnels here") from None
                rest = memoryview(rest)[offer.args[0] :]
            super().feed_data(self._without_offer())

    def _without_offer(self) -> bytes:
        version = self.get_http_version().encode()
        lines = [b"%b: %b\r\n" % header for header in self._head.headers if header[0] != b"upgrade"]
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.get_method(), self._head.url, version, b"".join(lines))
