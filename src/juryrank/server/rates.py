"""Limits of requests per key: a bucket of tokens for each, filled at the rate of the limit."""

from __future__ import annotations

import time
from collections.abc import Callable

BURST_SECONDS = 2.0  # of unused requests that may be made at once
MOST_BUCKETS = 10_000


class RateLimit:
    """At most ``rate`` requests per second for each caller; 0 is no limit. The clock must never go back."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, max(1.0, rate * BURST_SECONDS), clock
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens, and when they were counted

    def wait(self, caller: str) -> float:
        """0 if the request may be made now, else the seconds until then."""
        if not self._rate:
            return 0.0
        now = self._clock()
        tokens, counted = self._buckets.get(caller, (self._burst, now))
        tokens = min(self._burst, tokens + (now - counted) * self._rate)
        if len(self._buckets) >= MOST_BUCKETS and caller not in self._buckets:
            self._buckets.clear()
        allowed = tokens >= 1.0
        self._buckets[caller] = (tokens - 1.0 if allowed else tokens, now)
        return 0.0 if allowed else (1.0 - tokens) / self._rate
