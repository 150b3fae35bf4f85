"""What is measured: metrics for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # in which several workers count together
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of this worker; ``text`` has those of all workers."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        shared: dict[str, Any] = {"registry": self._registry}
        self._requests = Counter("juryrank_requests", "Requests by route and status", ["route", "status"], **shared)
        self._seconds = Histogram(
            "juryrank_request_seconds", "Duration of requests", ["route"], buckets=SECONDS, **shared
        )
        self._items = Counter("juryrank_fused_items", "Entries of the lists that were fused", **shared)
        self._warnings = Counter("juryrank_warnings", "Answers that contain warnings", **shared)
        self._feedback = Counter("juryrank_feedback", "Feedback by outcome", ["outcome"], **shared)
        self._by_route: dict[tuple[str, int], tuple[Any, Any]] = {}

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; the children of metrics are looked up once."""
        known = self._by_route.get((route, status))
        if known is None:
            known = self._requests.labels(route, str(status)), self._seconds.labels(route)
            self._by_route[route, status] = known
        known[0].inc()
        known[1].observe(seconds)

    def fused(self, entries: int, with_warnings: bool) -> None:
        """Count the entries of a request."""
        self._items.inc(entries)
        if with_warnings:
            self._warnings.inc()

    def feedback(self, outcome: str, number: int) -> None:
        """Count feedback that was stored, or was there already."""
        self._feedback.labels(outcome).inc(number)

    def text(self, *, damaged_models: int) -> bytes:
        """All metrics in the format of Prometheus; every worker sees the same models, so that one speaks for all."""
        registry = self._registry
        if FOLDER in os.environ:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry) + generate_latest(_gauge(damaged_models))


def _gauge(damaged_models: int) -> CollectorRegistry:
    """What is looked up when it is asked for, and not added up over workers."""
    registry = CollectorRegistry()
    registry.register(_Damaged(damaged_models))
    return registry


class _Damaged(Collector):
    def __init__(self, number: int) -> None:
        self._number = number

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "juryrank_damaged_models",
            "Models whose file cannot be read; an earlier version may be in use",
            self._number,
        )
