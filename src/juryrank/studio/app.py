"""The application of the studio: its page, and behind ``/studio/api`` what the page shows."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from juryrank.errors import JuryrankError, UnknownNameError
from juryrank.server.answers import HeadAsGet, allowed_methods
from juryrank.server.logs import log
from juryrank.server.problems import CONTENT_TYPE, Problem, unexpected
from juryrank.server.sites import Sites
from juryrank.studio.assessment import Assessment
from juryrank.studio.comparison_view import METRICS, ComparisonView
from juryrank.studio.deployment import MODEL, Deployment
from juryrank.studio.overview import Overview
from juryrank.studio.queries_view import QueriesView
from juryrank.studio.query_view import QueryView
from juryrank.studio.security import Gate
from juryrank.studio.studio import Studio

API = "/studio/api"
STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 1 << 16
LONGEST_PAGE = 1000  # rows

encode = msgspec.json.Encoder(enc_hook=str).encode


class Answered(msgspec.Struct, forbid_unknown_fields=True):
    """An answer of a judge: a grade, or that the item is skipped."""

    judge: str
    query: str
    item: str
    grade: float | None = None
    skip: bool = False


class Undone(msgspec.Struct, forbid_unknown_fields=True):
    """Which judge takes the last answer back."""

    judge: str


def create_app(studio: Studio, token: str, port: int, sites: Sites) -> Gate:
    """The ASGI application."""
    mimetypes.add_type("text/javascript", ".js")  # some systems say otherwise, and browsers would refuse it
    routes = FastAPI(title="juryrank studio", docs_url=None, redoc_url=None, openapi_url=None)
    assessment = Assessment(studio)
    add_judging_routes(routes, studio, assessment)
    add_query_routes(routes, studio)
    add_result_routes(routes, studio, assessment)
    add_page(routes)
    routes.add_exception_handler(Problem, _answer_problem)
    routes.add_exception_handler(JuryrankError, _answer_mistake)
    routes.add_exception_handler(HTTPException, _answer_http_error)
    routes.add_exception_handler(Exception, _answer_fault)
    return Gate(HeadAsGet(routes), token, port, sites)


def add_judging_routes(routes: FastAPI, studio: Studio, assessment: Assessment) -> None:
    """The state, and the questions to judges and their answers."""

    @routes.get(f"{API}/state")
    async def show_state() -> Response:
        return await reply(studio.state)

    @routes.get(f"{API}/judge/next")
    async def ask(judge: str = "", query: str = "", item: str = "") -> Response:
        shown = (query, item) if item else None
        return await reply(studio.next, judge or studio.judging.settings.judge, shown)

    def answer(given: Answered) -> dict[str, Any]:
        saved = studio.answer(given.judge, given.query, given.item, given.grade)
        return {**saved, "refit": {**saved["refit"], **assessment.after_answer(studio.now)}}

    @routes.post(f"{API}/judge")
    async def save_answer(request: Request) -> Response:
        given: Answered = await read(request, Answered)
        if given.skip == (given.grade is not None):
            raise Problem(422, 'an answer has either "grade" or "skip": true')
        if given.grade is not None and not given.grade.is_integer():
            raise Problem(422, f"a grade must be a whole number, got {given.grade:g}")
        return await reply(answer, given)

    @routes.post(f"{API}/judge/undo")
    async def undo(request: Request) -> Response:
        given: Undone = await read(request, Undone)
        return await reply(studio.undo, given.judge)


def add_query_routes(routes: FastAPI, studio: Studio) -> None:
    """The list of queries, and one query."""
    queries, query = QueriesView(studio), QueryView(studio)

    @routes.get(f"{API}/queries")
    async def list_queries(offset: str = "0", limit: str = "50", search: str = "", sort: str = "id") -> Response:
        window = number("offset", offset), number("limit", limit, LONGEST_PAGE)
        return await reply(queries.page, studio.now, *window, search, sort)

    @routes.get(f"{API}/query")
    async def show_query(id: str = "", method: str = "rrf", offset: str = "0", limit: str = "50") -> Response:  # noqa: A002
        window = number("offset", offset), number("limit", limit, LONGEST_PAGE)
        return await reply(query.window, studio.now, id, method, *window)


def add_result_routes(routes: FastAPI, studio: Studio, assessment: Assessment) -> None:
    """What was learned: the overview, the comparison, and the files of the model and the labels."""
    overview, comparison = Overview(studio, assessment), ComparisonView(studio, assessment)
    deployment = Deployment(studio, assessment)

    @routes.get(f"{API}/overview")
    async def show_overview() -> Response:
        return await reply(overview.show)

    @routes.get(f"{API}/compare")
    async def show_comparison(metric: str = METRICS[0]) -> Response:
        return await reply(comparison.table, metric)

    @routes.get(f"{API}/compare/queries")
    async def show_differences(one: str = "", other: str = "", metric: str = METRICS[0]) -> Response:
        return await reply(comparison.queries, one, other, metric)

    @routes.get(f"{API}/deploy")
    async def show_targets() -> Response:
        return await reply(deployment.show)

    @routes.get(f"{API}/deploy/file")
    async def give_file(target: str = "") -> Response:
        return await attach(deployment.file, target)

    @routes.get(f"{API}/export/model")
    async def give_model() -> Response:
        return await attach(deployment.file, MODEL)

    @routes.get(f"{API}/export/qrels")
    async def give_labels(format: str = "qrels") -> Response:  # noqa: A002
        return await attach(deployment.qrels, format == "csv")


def add_page(routes: FastAPI) -> None:
    """The page itself."""

    @routes.get("/")
    async def show_page() -> Response:
        return FileResponse(STATIC / "index.html")

    routes.mount("/studio/static", StaticFiles(directory=STATIC))


async def reply(call: Callable[..., Any], *args: Any) -> Response:
    """What the call returns, as JSON; it runs in a thread, so that other requests do not wait for it."""

    def encoded() -> bytes:
        return encode(call(*args))

    return Response(await asyncio.to_thread(encoded), media_type="application/json")


async def attach(call: Callable[..., tuple[str, bytes]], *args: Any) -> Response:
    """A file to be saved."""
    name, content = await asyncio.to_thread(call, *args)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type="text/plain; charset=utf-8")


async def read(request: Request, kind: type[Any]) -> Any:
    """The body as an object of that kind."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Problem(413, f"the body may have {LARGEST_BODY} bytes")
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(422, f"the body cannot be used: {error}") from None


def number(name: str, text: str, most: int = 10**9) -> int:
    """A whole number of an address."""
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise Problem(422, f"{name} must be a whole number from 0 to {most}, got {text[:50]!r}")
    return int(text)


async def _answer_problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return Response(problem.body(""), problem.status, problem.headers, CONTENT_TYPE.decode())


async def _answer_mistake(request: Request, error: Exception) -> Response:
    return await _answer_problem(request, Problem(404 if isinstance(error, UnknownNameError) else 422, str(error)))


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = f"{request.method} {request.url.path!r:.200}: {error.detail}"
    headers = dict(error.headers or {})
    if error.status_code == 405:  # the framework's own Allow has the methods of one route
        headers = {"allow": allowed_methods(request.app.routes, request.scope)}
    return await _answer_problem(request, Problem(error.status_code, detail, headers=headers))


async def _answer_fault(request: Request, error: Exception) -> Response:
    log.error("a request failed: %s", request.url.path, exc_info=error)
    return await _answer_problem(request, unexpected())
