"""``juryrank serve`` next to a bare echo on uvicorn, and to LangChain's fusion behind FastAPI: one load, in turns."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import juryrank as jr
from juryrank.errors import DataError
from studies.http_load import Load, Plan, post_request, run_load
from studies.services import HOST, Service, juryrank_service, uvicorn_service
from studies.speed.clock import Effort, Timing
from studies.speed.inputs import Inputs
from studies.speed.peers import load
from studies.speed.single_query import Lists, random_lists
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import Target, at_least, times, timing_text

N_LISTS, LENGTH = 3, 100
ROUNDS, SECONDS = 5, 1.5
MODEL = "learned"
RRF, LEARNED = (f"{what} over HTTP, {N_LISTS}×{LENGTH}" for what in ("rrf", "a learned model"))
SETTINGS = "ours with keys, metrics and access log"
ECHO, ENSEMBLE = "bare echo on uvicorn", "EnsembleRetriever in FastAPI"
PLAIN = "bare echo on uvicorn without extras"  # what `pip install uvicorn` gives: asyncio and h11
PLAIN_OPTIONS = ("--loop", "asyncio", "--http", "h11")
APPS = "studies.speed.service_peers"
CPU_LIMIT, FACTOR = 2.5, 3.0
# At the limit, an echo takes several requests at once and finds the load generator awake, and a slower service does
# neither, so that CPU times are also measured at one rate for both.
RATE = 1000.0
STEADY = f"{RATE:,.0f} requests/s"

Requests = dict[str, tuple[Service, str]]  # the service and the bytes, by name


def measure(inputs: Inputs, effort: Effort) -> Results:
    """A row for each peer and for a learned model."""
    lists = random_lists(N_LISTS, LENGTH)
    options, key = prepare(inputs.folder, lists)
    with ExitStack() as stack:
        ours = stack.enter_context(juryrank_service(inputs.folder, *options))
        echo = stack.enter_context(uvicorn_service(inputs.folder, f"{APPS}:echo"))
        plain = stack.enter_context(uvicorn_service(inputs.folder, f"{APPS}:echo", *PLAIN_OPTIONS))
        rrf = request_of({"lists": lists, "method": "rrf"}, key)
        requests = {
            RRF: (ours, rrf), LEARNED: (ours, request_of({"lists": lists, "model": MODEL}, key)), ECHO: (echo, rrf),
            PLAIN: (plain, rrf),
        }  # fmt: skip
        same = False
        if load("langchain_classic") is not None:
            ensemble = stack.enter_context(uvicorn_service(inputs.folder, f"{APPS}:ensemble", "--factory"))
            requests[ENSEMBLE] = ensemble, rrf
            body = {"lists": lists, "method": "rrf", "params": {"dialect": "langchain"}}
            same = ids(ours, body, key) == ids(ensemble, body, key)
        full = in_turns(requests, effort)
        steady = in_turns({name: requests[name] for name in (RRF, LEARNED, ECHO)}, effort, RATE)
    rows = rows_of(full, steady, same)
    return rows, targets_of(rows)


def prepare(folder: Path, lists: Lists) -> tuple[list[str], str]:
    """The options of the service, with a folder of one learned model, and a key."""
    models, keys = folder / "models", folder / "keys.json"
    models.mkdir()
    labels = {"q": {item: int(item in listed[: LENGTH // 2]) for listed in lists.values() for item in listed}}
    model = jr.fit({name: {"q": listed} for name, listed in lists.items()}, "ridge", labels=labels)
    jr.save(model, models / f"{MODEL}.json")
    command = [sys.executable, "-m", "juryrank", "serve", "--keys", str(keys), "--create-key", "bench"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [str(models), "--keys", str(keys)], done.stdout.strip()


def request_of(body: Mapping[str, Any], key: str) -> str:
    """A request as the load generator sends it."""
    return post_request("/v1/fuse", json.dumps(body).encode(), authorization=f"Bearer {key}")


def ids(service: Service, body: Mapping[str, Any], key: str) -> list[str]:
    """The ids that a service answers, best first."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    url = f"http://{HOST}:{service.port}/v1/fuse"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
        return [item["id"] for item in json.load(answer)["items"]]


def in_turns(requests: Requests, effort: Effort, rate: float | None = None) -> dict[str, Timing]:
    """Seconds and CPU seconds of the service for one request: medians over rounds, in which all take turns.

    Without a rate, as many requests as possible are made, and seconds are one through their number per second; with a
    rate, seconds are the latency.
    """
    seconds = SECONDS / 3 if effort is Effort.QUICK else SECONDS
    rounds = effort.repetitions(ROUNDS)
    loads: dict[str, list[Load]] = {name: [] for name in requests}
    for _ in range(rounds):
        for name, (service, request) in requests.items():
            plan = Plan(HOST, service.port, request, seconds=seconds, rate=rate, processes=service.processes)
            found = run_load(plan)
            if found.errors:
                raise DataError(f"{name}: {found.errors} of {found.requests} requests failed: {found.error[:200]}")
            loads[name].append(found)
    return {
        name: Timing(
            None, statistics.median(1 / each.rate if rate is None else each.latencies["p50"] for each in found),
            rounds, statistics.median(each.cpu_per_request for each in found),
        )
        for name, found in loads.items()
    }  # fmt: skip


def rows_of(full: Mapping[str, Timing], steady: Mapping[str, Timing], same: bool) -> list[Row]:
    """Ours beside each peer, by as many requests as possible and by ``RATE`` requests per second."""
    rates = {name: f"{1 / timing.seconds:,.0f}" for name, timing in full.items()}
    rows = []
    for task in (RRF, LEARNED):
        for echo in (ECHO, PLAIN):
            text = f"requests/s: {rates[task]} and {rates[echo]}; {SETTINGS}"
            rows.append(Row(task, echo, full[task], full[echo], text))
        text = f"times are median latencies; {SETTINGS}"
        rows.append(Row(f"{task}, {STEADY}", ECHO, steady[task], steady[ECHO], text))
    if ENSEMBLE not in full:
        return [*rows, skipped_row(RRF, ENSEMBLE, full[RRF])]
    text = f"requests/s: {rates[RRF]} and {rates[ENSEMBLE]}; {'equal' if same else 'other'} order"
    return [*rows, Row(RRF, ENSEMBLE, full[RRF], full[ENSEMBLE], text, same)]


def targets_of(rows: list[Row]) -> list[Target]:
    """At most so much CPU time as a bare echo; throughput against the ensemble."""
    targets = []
    for row in rows:
        if row.peer in (ECHO, PLAIN) and row.theirs is not None and row.cpu_ratio:
            cpu = 1 / row.cpu_ratio
            name = f"server CPU ≤ {CPU_LIMIT:g} × a {row.peer}: {row.task}"
            peer = f"{row.peer}: {timing_text(row.theirs)}"
            clock = times(row.ours.seconds / row.theirs.seconds)
            targets.append(Target(name, clock, cpu <= CPU_LIMIT, times(cpu), cpu <= CPU_LIMIT, peer))
    return targets + at_least("throughput ≥ 3 × that of LangChain's ensemble", rows, [RRF], ENSEMBLE, FACTOR)
