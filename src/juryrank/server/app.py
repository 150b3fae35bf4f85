"""The application: the front, and behind it the routes for models, feedback and health."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from juryrank import __version__
from juryrank.errors import JuryrankError, UnknownNameError
from juryrank.server import telemetry
from juryrank.server.answers import HeadAsGet, allowed_methods
from juryrank.server.api_document import complete_document
from juryrank.server.feedback import Feedback, add_feedback_routes
from juryrank.server.front import Front
from juryrank.server.fusing import Fusing, ModelInUse, install_warnings
from juryrank.server.model_pages import describe, summarise
from juryrank.server.problems import CONTENT_TYPE, Problem, problem_of, unexpected
from juryrank.server.refit_routes import Refits, add_refit_routes
from juryrank.server.registry import Registry, Served
from juryrank.server.settings import Settings
from juryrank.server.store_address import address_of, make_store
from juryrank.server.tracing import with_spans
from juryrank.server.writer import Writer

encode = msgspec.json.Encoder(enc_hook=str).encode


def create_app(settings: Settings, metrics: telemetry.Metrics | None = None) -> Any:
    """The ASGI application of one worker."""
    install_warnings()
    registry = Registry(settings.models, keep=settings.versions, largest=settings.max_model)
    metrics = telemetry.Metrics() if metrics is None else metrics
    fusing = Fusing(registry, settings)
    address = address_of(settings)
    writer = None if address is None else Writer(make_store(address, settings.store_seconds))
    refits = Refits(settings, registry)
    routes = FastAPI(
        title="juryrank", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        description="Combines rankings by learned models and consensus methods.",
        lifespan=background(writer, refits, settings), redirect_slashes=False,
    )  # fmt: skip
    routes.state.registry, routes.state.metrics, routes.state.settings = registry, metrics, settings
    add_model_routes(routes, registry)
    add_feedback_routes(routes, Feedback(registry, fusing, settings), writer, metrics)
    add_refit_routes(routes, refits, registry)
    add_health_routes(routes, registry, metrics, settings.default_model)
    routes.add_exception_handler(Problem, _answer_problem)
    routes.add_exception_handler(HTTPException, _answer_http_error)
    routes.add_exception_handler(ClientDisconnect, _answer_nobody)
    routes.add_exception_handler(Exception, _answer_fault)
    complete_document(routes)
    app: Any = with_spans(Front(HeadAsGet(routes), fusing, metrics, settings))
    if settings.cors:
        app = CORSMiddleware(
            app, allow_origins=list(settings.cors), allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["authorization", "content-type", "idempotency-key", "x-api-key", "x-request-id"],
        )  # fmt: skip
    return app


def background(writer: Writer | None, refits: Refits, settings: Settings) -> Callable[[FastAPI], Any]:
    """What runs beside requests: refits by the clock; at the end, feedback that was accepted is stored."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        scheduled = writer is not None and settings.refit_hours > 0
        task = asyncio.create_task(refits.run_on_schedule()) if scheduled else None
        yield
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        if writer is not None:
            await asyncio.to_thread(writer.close)

    return lifespan


def add_model_routes(routes: FastAPI, registry: Registry) -> None:
    """Models: list, describe, upload, remove, roll back."""

    @routes.get("/v1/models", summary="List the models")
    async def list_models() -> Response:
        faults = registry.faults()
        return answer({"models": [summarise(registry, name, faults.get(name)) for name in registry.names()]})

    @routes.get("/v1/models/{name}", summary="What a model has learned, and its versions")
    async def show_model(name: str) -> Response:
        return answer(with_problems(describe, registry, name, registry.faults().get(name)))

    @routes.put("/v1/models/{name}", summary="Upload a model, which is in use from then on")
    async def put_model(name: str, request: Request) -> Response:
        body = await request.body()
        served = await asyncio.to_thread(with_problems, registry.put, name, body)
        request.state.model = ModelInUse(name, served.version)  # for the log
        return answer({"name": name, "version": served.version}, 201)

    @routes.delete("/v1/models/{name}", summary="Remove a model from use", status_code=204)
    async def delete_model(name: str) -> Response:
        await asyncio.to_thread(with_problems, registry.delete, name)
        return Response(status_code=204)

    @routes.post("/v1/models/{name}/rollback", summary="Put an earlier version in use again")
    async def roll_back(name: str, request: Request) -> Response:
        wanted = _optional(await request.body(), "version")
        served: Served = await asyncio.to_thread(with_problems, registry.roll_back, name, wanted)
        request.state.model = ModelInUse(name, served.version)
        return answer({"name": name, "version": served.version})


def add_health_routes(
    routes: FastAPI, registry: Registry, metrics: telemetry.Metrics, default_model: str | None
) -> None:
    """Whether the service is alive and ready, and its metrics."""

    @routes.get("/healthz", summary="Whether the process is alive")
    async def health() -> Response:
        return answer({"status": "ok", "version": __version__})

    @routes.get("/readyz", summary="Whether models can be used")
    async def ready() -> Response:
        names, faults = registry.names(), registry.faults()
        usable = [name for name in names if registry.is_usable(name)]
        missing = (names and not usable) or (default_model is not None and default_model not in usable)
        state = {
            "status": "unavailable" if missing else "degraded" if faults else "ok",
            "usable_models": usable,
            "damaged_models": faults,
        }
        return answer(state, 503 if missing else 200)

    @routes.get("/metrics", summary="Metrics in the format of Prometheus")
    async def show_metrics() -> Response:
        return Response(metrics.text(damaged_models=len(registry.faults())), media_type=telemetry.CONTENT_TYPE)


def answer(content: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(encode(content), status, media_type="application/json")


def with_problems(call: Callable[..., Any], *args: Any) -> Any:
    """The result of a call; errors that the caller can mend are problems."""
    try:
        return call(*args)
    except UnknownNameError as error:
        raise Problem(404, str(error)) from None
    except JuryrankError as error:
        raise problem_of(error) from None


def _optional(body: bytes, name: str) -> str | None:
    """The text of that name in a body that may be empty."""
    if not body.strip():
        return None
    try:
        found = msgspec.json.decode(body, type=dict[str, str | None])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(422, f'the body may be empty or {{"{name}": "…"}}: {error}') from None
    if unknown := found.keys() - {name}:
        raise Problem(422, f'the body may be empty or {{"{name}": "…"}}; unknown: {", ".join(sorted(unknown)):.80}')
    return found.get(name)


async def _answer_problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    body = problem.body(request.scope.get("state", {}).get("request_id", ""))
    return Response(body, problem.status, problem.headers, CONTENT_TYPE.decode())


async def _answer_http_error(request: Request, error: Exception) -> Response:
    """What the framework refuses: paths that do not exist, methods that are not allowed."""
    assert isinstance(error, HTTPException)
    detail = f"{request.method} {request.url.path!r:.200}: {error.detail}; GET /openapi.json lists all routes"
    headers = dict(error.headers or {})
    if error.status_code == 405:  # the framework's own Allow has the methods of one route
        headers = {"allow": allowed_methods(request.app.routes, request.scope)}
    return await _answer_problem(request, Problem(error.status_code, detail, headers=headers))


async def _answer_nobody(request: Request, error: Exception) -> Response:
    """The client is gone; the status is for the log and the metrics."""
    return Response(status_code=499)


async def _answer_fault(request: Request, error: Exception) -> Response:
    """A fault of ours, which the front writes to the log."""
    return await _answer_problem(request, unexpected())
