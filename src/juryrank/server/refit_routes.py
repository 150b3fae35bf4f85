"""``/v1/models/{name}/refit`` and refits on a schedule; the work is done by a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from juryrank.server.logs import log
from juryrank.server.problems import Problem, unexpected
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings, dump
from juryrank.server.store_address import address_of, make_store, no_store

MOST_REPORTS = 20
ONE_THREAD = ("JURYRANK_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
LOWER_PRIORITY = 10  # than the workers, as nice counts
COMMAND = f"import os; os.nice({LOWER_PRIORITY}); from juryrank.server.refit import main; main()"


class RefitRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Whether the new version comes into use: true, false, or by a rule."""

    promote: bool | str | None = None

    @property
    def rule(self) -> str:
        """never, always or gain."""
        found = {None: "never", False: "never", True: "always", "never": "never", "gain": "gain"}.get(self.promote)
        if found is None:
            raise Problem(422, f'promote must be true, false or "gain", got {self.promote!r:.80}')
        return found


class Refits:
    """Starts refits, for requests and by the clock."""

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self._settings, self._registry = settings, registry

    async def run(self, name: str, promote: str, *, only_new: bool = False) -> dict[str, Any]:
        """The report of a refit, by another process; if this task is cancelled, that process ends."""
        self.demand_store()
        request = {"settings": dump(self._settings), "model": name, "promote": promote, "only_new": only_new}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
        )  # fmt: skip
        try:
            content, _ = await process.communicate(msgspec.json.encode(request))
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
        ended: dict[str, Any] = {"status": 500, "detail": f"its process ended with {process.returncode}"}
        answer: dict[str, Any] = msgspec.json.decode(content) if content else ended
        if answer["status"] == 500:
            log.error("the refit of model %s failed: %s", name, answer["detail"])
            raise unexpected()
        if answer["status"] != 200:
            raise Problem(answer["status"], answer["detail"], headers=answer.get("headers"))
        report: dict[str, Any] = answer["report"]
        if report:
            log.info("refit of model %s: %s", name, summarise(report))
        return report

    def demand_store(self) -> str:
        """The address of the store; a Problem for the demo."""
        if (address := address_of(self._settings)) is None:
            raise no_store()
        return address

    def reports(self, name: str) -> list[dict[str, Any]]:
        """The reports of the last refits of a model, newest first."""
        with make_store(self.demand_store(), self._settings.store_seconds) as store:
            return [{"recorded": time, **msgspec.json.decode(text)} for time, text in store.reports(name, MOST_REPORTS)]

    async def run_on_schedule(self) -> None:
        """Refit all models again and again; of several workers the first does it, and others find nothing new."""
        while True:
            await asyncio.sleep(self._settings.refit_hours * 3600)  # by a clock that never jumps
            for name in self._registry.names():
                try:
                    await self.run(name, self._settings.promote, only_new=True)
                except Problem as problem:
                    level = log.debug if problem.status in (409, 422) else log.error
                    level("model %s is not refitted: %s", name, problem.detail)
                except Exception:
                    log.exception("the refit of model %s failed", name)


def summarise(report: dict[str, Any]) -> str:
    """The report as one line, without names of queries or items."""
    held_out, gain = report["held_out"], ""
    if held_out["gain"] is not None:
        interval = f"{held_out['low']:+.4f} to {held_out['high']:+.4f}"
        gain = f", {held_out['metric']} {held_out['gain']:+.4f} ({interval}) on {held_out['queries']} new queries"
    unused = "; ".join(f"{reason} ({count})" for reason, count in report["not_used"].items())
    unused = f", not used: {unused}" if unused and report["candidate"] is not None else ""
    done = "promoted" if report["promoted"] else "not promoted"
    return f"learned from {report['learned_queries']} queries{gain}{unused}; {done}: {report['reason']}"


def add_refit_routes(routes: FastAPI, refits: Refits, registry: Registry) -> None:
    """Refit a model, and what its refits found."""

    @routes.post("/v1/models/{name}/refit", summary="Learn from feedback, and compare with the version in use")
    async def refit_model(name: str, request: Request) -> Response:
        body = await request.body()
        try:
            wanted = msgspec.json.decode(body, type=RefitRequest) if body.strip() else RefitRequest()
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Problem(422, f'the body may be empty or {{"promote": true, false or "gain"}}: {error}') from None
        report = await refits.run(_known(registry, name), wanted.rule)
        return Response(msgspec.json.encode(report), media_type="application/json")

    @routes.get("/v1/models/{name}/refit", summary="What the last refits of a model found")
    async def show_refits(name: str) -> Response:
        found = await asyncio.to_thread(refits.reports, _known(registry, name))
        return Response(msgspec.json.encode({"refits": found}), media_type="application/json")


def _known(registry: Registry, name: str) -> str:
    if name not in (names := registry.names()):
        raise Problem(404, f"no model {name!r:.80}; known: {', '.join(names[:10])}")
    return name
