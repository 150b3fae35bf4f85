"""The service under load: latencies of requests that arrive at random times, errors, and memory over time."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from studies.console import note
from studies.http_load import Load, Plan, run_load
from studies.services import HOST, Service, juryrank_service
from studies.speed.clock import bytes_text, seconds_text
from studies.speed.service import LENGTH, N_LISTS, prepare, request_of
from studies.speed.single_query import random_lists
from studies.tables import Report, Table

SHARES = (0.2, 0.5, 0.8)  # of the capacity
CAPACITY_SECONDS, CAPACITY_CONNECTIONS = 5.0, 16
CONNECTIONS = 64  # of the open loop
SAMPLES_PER_SECOND = 2.0
WARM_UP = 0.25  # the share of a phase in which memory may still grow
TOLERANCE = 2 << 20, 0.02  # bytes, and share of the memory, by which it may have grown at the end of a phase
ACCESS_LOG_OFF = "access_log = false\n"  # at these rates, it would fill hundreds of megabytes


@dataclass(frozen=True)
class Phase:
    """One rate of requests."""

    share: float  # of the capacity
    rate: float  # that was asked for
    load: Load
    resident: list[int] = field(repr=False)  # bytes of all processes, over time

    @property
    def rise(self) -> float:
        """The bytes by which a straight line through the memory rises after the warm-up."""
        watched = self.resident[int(WARM_UP * len(self.resident)) :]
        if len(watched) < 3:
            return 0.0
        return float(np.polyfit(np.arange(len(watched)), watched, 1)[0]) * (len(watched) - 1)

    @property
    def grows(self) -> bool:
        """Whether memory rises by more than the tolerance."""
        return self.rise > TOLERANCE[0] + TOLERANCE[1] * max(self.resident, default=0)


@dataclass(frozen=True, repr=False)
class LoadReport(Report):
    """All phases of one run."""

    capacity: Load
    phases: list[Phase]
    workers: int
    machine_load: tuple[float, float]  # before and after, over one minute

    @property
    def faults(self) -> list[str]:
        """What must not be: errors, and memory that grows."""
        found = []
        for phase in self.phases:
            where = f"at {phase.share:.0%} of the capacity"
            if phase.load.errors:
                found.append(f"{phase.load.errors} errors {where}: {phase.load.error[:200]}")
            if phase.grows:
                found.append(f"memory grows by {bytes_text(int(phase.rise))} {where}")
        return found

    def tables(self) -> list[Table]:
        columns = ["load", "requests/s", "requests", "errors", "p50", "p90", "p99", "p99.9", "max", "memory", "rise"]
        rows = [
            [f"{p.share:.0%}", f"{p.rate:,.0f}", f"{p.load.requests:,}", str(p.load.errors),
             *(seconds_text(p.load.latencies.get(name)) for name in ("p50", "p90", "p99", "p99.9", "max")),
             bytes_text(max(p.resident, default=0)), f"{p.rise / 2**20:+.2f} MiB"]
            for p in self.phases
        ]  # fmt: skip
        before, after = self.machine_load
        text = (
            f"{N_LISTS} lists × {LENGTH} by a learned model, workers: {self.workers}, keys and metrics on, access log "
            f"off. Capacity: {self.capacity.rate:,.0f} requests/s over {CAPACITY_CONNECTIONS} connections, with the "
            "load generator on the same machine. Arrivals are a Poisson process, and latencies count from the time a "
            f"request is due. Rise: of a line through the memory of all processes after the first {WARM_UP:.0%} of a "
            f"phase; more than {TOLERANCE[0] >> 20} MiB and {TOLERANCE[1]:.0%} is a fault. {os.cpu_count()} cores, "
            f"load of the machine {before:.1f} before and {after:.1f} at the end."
        )
        return [Table("The service under load", columns, rows, note=text)]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"share": p.share, "rate": p.rate, "requests": p.load.requests, "errors": p.load.errors, **p.load.latencies,
             "memory": max(p.resident, default=0), "rise": p.rise, "grows": p.grows}
            for p in self.phases
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        return {
            "capacity": asdict(self.capacity) | {"rate": self.capacity.rate},
            "workers": self.workers,
            "machine_load": self.machine_load,
            "phases": [row | {"resident": p.resident} for row, p in zip(self.rows(), self.phases, strict=True)],
            "faults": self.faults,
        }


def measure(
    folder: Path, *, seconds: float = 600.0, workers: int = 1, port: int = 0, shares: Sequence[float] = SHARES,
    quiet: bool = True,
) -> LoadReport:  # fmt: skip
    """Start the service in a folder, measure its capacity, and then put it under load for so many seconds in all."""
    lists = random_lists(N_LISTS, LENGTH)
    options, key = prepare(folder, lists)
    (folder / "serve.toml").write_text(ACCESS_LOG_OFF)
    request = request_of({"lists": lists, "model": "learned"}, key)
    before = os.getloadavg()[0]
    with juryrank_service(
        folder, *options, "--config", str(folder / "serve.toml"), "--workers", str(workers), port=port
    ) as service:
        plan = Plan(HOST, service.port, request, CAPACITY_CONNECTIONS, 1000, min(CAPACITY_SECONDS, seconds))
        capacity = run_load(plan)
        note(f"capacity: {capacity.rate:,.0f} requests/s", quiet=quiet)
        phases = []
        for n, share in enumerate(shares):
            rate = share * capacity.rate
            note(f"{share:.0%}: {rate:,.0f} requests/s for {seconds / len(shares):.0f} s …", quiet=quiet)
            phases.append(run_phase(service, request, share, rate, seconds / len(shares), seed=n))
    return LoadReport(capacity, phases, workers, (before, os.getloadavg()[0]))


def run_phase(service: Service, request: str, share: float, rate: float, seconds: float, *, seed: int) -> Phase:
    """Requests at one rate, while the memory is watched."""
    plan = Plan(HOST, service.port, request, CONNECTIONS, seconds=seconds, rate=rate, seed=seed)
    with watched_memory(service) as resident:
        load = run_load(plan)
    return Phase(share, rate, load, resident)


@contextmanager
def watched_memory(service: Service) -> Iterator[list[int]]:
    """The memory of the service over the time of the block."""
    found: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1.0 / SAMPLES_PER_SECOND):
            found.append(service.resident)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()
