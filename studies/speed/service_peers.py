"""What ``juryrank serve`` is compared with: an ASGI application that returns its body, and LangChain behind FastAPI."""

from collections.abc import Awaitable, Callable
from typing import Any

Message = dict[str, Any]
N_LISTS = 3


async def echo(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Any]) -> None:
    """The least that an answer takes: the body as it came."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def ensemble() -> Any:
    """``EnsembleRetriever.rank_fusion`` of lists that are sent as JSON, as Documents."""
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    app = FastAPI()
    unused = [RunnableLambda(lambda query: []) for _ in range(N_LISTS)]  # the lists come with the request
    retriever = EnsembleRetriever(retrievers=unused, weights=[1.0] * N_LISTS)

    async def fuse(request: Request) -> JSONResponse:
        lists = (await request.json())["lists"]
        documents = [[Document(page_content=item) for item in listed] for listed in lists.values()]
        fused = retriever.weighted_reciprocal_rank(documents)
        return JSONResponse({"items": [{"id": document.page_content} for document in fused]})

    app.add_api_route("/v1/fuse", fuse, methods=["POST"])
    return app
