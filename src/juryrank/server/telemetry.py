"""What is measured: metrics for Prometheus.

Counts are numbers in memory that all workers of the service share, one part for each worker, and become metrics when
somebody asks for them. A worker that takes the place of a dead one goes on with its counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from juryrank.server.paths import ROUTES

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BOUNDS = [*map(floatToGoString, SECONDS), "+Inf"]
OUTCOMES = ("stored", "duplicate", "conflict", "failed")
# Where counts are: for each route, the requests of every status, those of every bucket of durations, and the sum of
# the durations; after all routes, the others.
STATUSES = 600
ROUTE_SIZE = STATUSES + len(BOUNDS) + 1
STARTS = {route: ROUTE_SIZE * number for number, route in enumerate(ROUTES)}
ITEMS = ROUTE_SIZE * len(ROUTES)
WARNINGS = ITEMS + 1
FEEDBACK = {outcome: WARNINGS + 1 + number for number, outcome in enumerate(OUTCOMES)}
SIZE = WARNINGS + 1 + len(OUTCOMES)  # numbers of one worker


class Metrics:
    """Counts of a worker; ``text`` has those of all workers.

    ``shared`` is room for ``SIZE`` numbers of each worker, and ``worker`` the number of this one. Only the thread of
    its event loop counts.
    """

    def __init__(self, shared: Any = None, worker: int = 0) -> None:
        memory = bytearray(8 * SIZE) if shared is None else shared
        self._all: memoryview[float] = memoryview(memory).cast("B").cast("d")
        self._own = self._all[SIZE * worker : SIZE * (worker + 1)]

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        own, start = self._own, STARTS[route]
        own[start + status] += 1.0
        start += STATUSES
        own[start + bisect_left(SECONDS, seconds)] += 1.0
        own[start + len(BOUNDS)] += seconds

    def fused(self, entries: int, with_warnings: bool) -> None:
        """Count the entries of a request."""
        self._own[ITEMS] += entries
        if with_warnings:
            self._own[WARNINGS] += 1.0

    def feedback(self, outcome: str, number: int) -> None:
        """Count feedback that was stored, or was there already."""
        self._own[FEEDBACK[outcome]] += number

    def text(self, *, damaged_models: int) -> bytes:
        """All metrics in the format of Prometheus; every worker sees the same models, so that one speaks for all."""
        workers = [self._all[start : start + SIZE].tolist() for start in range(0, len(self._all), SIZE)]
        registry = CollectorRegistry()
        registry.register(_Counts([*map(sum, zip(*workers, strict=True))], damaged_models))
        return generate_latest(registry)


class _Counts(Collector):
    """The counts of all workers as metrics."""

    def __init__(self, counts: list[float], damaged_models: int) -> None:
        self._counts, self._damaged_models = counts, damaged_models

    def collect(self) -> Iterable[Metric]:
        counts = self._counts
        requests = CounterMetricFamily("juryrank_requests", "Requests by route and status", labels=["route", "status"])
        durations = HistogramMetricFamily("juryrank_request_seconds", "Duration of requests", labels=["route"])
        for route, start in STARTS.items():
            for status, number in enumerate(counts[start : start + STATUSES]):
                if number:
                    requests.add_metric([route, str(status)], number)
            *buckets, total = counts[start + STATUSES : start + ROUTE_SIZE]
            if any(buckets):
                durations.add_metric([route], [*zip(BOUNDS, accumulate(buckets), strict=True)], total)
        yield requests
        yield durations
        yield CounterMetricFamily("juryrank_fused_items", "Entries of the lists that were fused", counts[ITEMS])
        yield CounterMetricFamily("juryrank_warnings", "Answers that contain warnings", counts[WARNINGS])
        feedback = CounterMetricFamily("juryrank_feedback", "Feedback by outcome", labels=["outcome"])
        for outcome, place in FEEDBACK.items():
            if counts[place]:
                feedback.add_metric([outcome], counts[place])
        yield feedback
        yield GaugeMetricFamily(
            "juryrank_damaged_models",
            "Models whose file cannot be read; an earlier version may be in use",
            self._damaged_models,
        )
