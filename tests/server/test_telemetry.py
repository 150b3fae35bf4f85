"""Counts in shared memory become the metrics that the client library of Prometheus would make of the same requests."""

import multiprocessing
import random
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from juryrank.server.paths import ROUTES, route_of
from juryrank.server.telemetry import OUTCOMES, SECONDS, SIZE, Metrics


def samples(text: bytes) -> dict[Any, float]:
    return {
        (family.name, family.type, family.documentation, sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_metrics_are_those_of_the_client_library() -> None:
    registry = CollectorRegistry()
    requests = Counter("juryrank_requests", "Requests by route and status", ["route", "status"], registry=registry)
    seconds = Histogram(
        "juryrank_request_seconds", "Duration of requests", ["route"], buckets=SECONDS, registry=registry
    )
    items = Counter("juryrank_fused_items", "Entries of the lists that were fused", registry=registry)
    warned = Counter("juryrank_warnings", "Answers that contain warnings", registry=registry)
    feedback = Counter("juryrank_feedback", "Feedback by outcome", ["outcome"], registry=registry)
    shared = multiprocessing.get_context("spawn").RawArray("d", SIZE * 3)
    workers, rng = [Metrics(shared, number) for number in range(3)], random.Random(0)
    for n in range(2000):
        worker, route, status = rng.choice(workers), rng.choice(ROUTES[2:]), rng.choice((200, 404, 499, 500, 599, 0))
        duration = SECONDS[n % len(SECONDS)] if n % 5 == 0 else rng.choice((rng.random() / 64, 2.0**-7, 16.0))
        worker.request(route, status, duration)
        requests.labels(route, str(status)).inc()
        seconds.labels(route).observe(duration)
        worker.fused(n, n % 3 == 0)
        items.inc(n)
        warned.inc(n % 3 == 0)
        if n % 2:
            worker.feedback(outcome := OUTCOMES[n // 2 % 3], n % 4)
            feedback.labels(outcome).inc(n % 4)
    expected = samples(generate_latest(registry))
    for worker in workers:  # each of which speaks for all
        found = samples(worker.text(damaged_models=2))
        assert found.pop(next(each for each in found if each[0] == "juryrank_damaged_models")) == 2
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert abs(found[name] - value) <= 1e-9 * value  # sums of durations are added in another order


def test_a_worker_that_takes_the_place_of_another_goes_on_with_its_counts() -> None:
    shared = multiprocessing.get_context("spawn").RawArray("d", SIZE * 2)
    Metrics(shared, 1).request("/v1/fuse", 200, 0.1)
    Metrics(shared, 1).request("/v1/fuse", 200, 0.1)
    assert b'juryrank_requests_total{route="/v1/fuse",status="200"} 2.0\n' in Metrics(shared, 0).text(damaged_models=0)


def test_every_path_has_a_route_that_can_be_counted() -> None:
    metrics = Metrics()
    paths = ["/v1/fuse", "/v1/models", "/v1/models/a", "/v1/models/a/refit", "/v1/models/a/rollback", "/", "", "/v1/x"]
    for path in paths:
        metrics.request(route_of(path), 404, 0.0)
    found = samples(metrics.text(damaged_models=0))
    assert sum(value for name, value in found.items() if name[3] == "juryrank_requests_total") == len(paths)
