"""A server on this machine that speaks as much of Elasticsearch and OpenSearch as the tests send, and records it.

It is no substitute for an engine: it ranks by common words and by cosines, and fuses by the documented formula
w / (rank_constant + rank), over lists cut at the documented depth. What it does not know has the status 400.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PRODUCT = {"X-Elastic-Product": "Elasticsearch"}  # the client of Elasticsearch demands it


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: Any  # None, an object, or the list of objects of a body with one on each line


@dataclass
class FakeSearchServer:
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    documents: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)  # by index and id
    pipelines: dict[str, Any] = field(default_factory=dict)
    answers: list[dict[str, Any]] = field(default_factory=list)  # sent before anything is searched

    def respond(self, request: Request) -> dict[str, Any]:
        self.requests.append(request)
        path, _, options = request.path.partition("?")
        parts = path.strip("/").split("/")
        if parts[-1] == "_bulk":
            return self._load(request.body)
        if parts[:2] == ["_search", "pipeline"]:
            self.pipelines[parts[2]] = request.body
            return {"acknowledged": True}
        if parts[-1] == "_search":
            return self._search(parts[0], request.body, dict(re.findall(r"(\w+)=([^&]*)", options)))
        if parts[-1] == "_msearch":
            pairs = zip(request.body[::2], request.body[1::2], strict=True)
            return {"responses": [self._search(head.get("index", parts[0]), body, {}) for head, body in pairs]}
        if parts[-1] == "_refresh" or (request.method == "PUT" and len(parts) == 1):
            return {"acknowledged": True}
        raise ValueError(f"{request.method} {request.path}")

    def _load(self, lines: list[Any]) -> dict[str, Any]:
        items = []
        for action, source in zip(lines[::2], lines[1::2], strict=True):
            where = action["index"]
            self.documents.setdefault(where["_index"], {})[where["_id"]] = source
            items.append({"index": {"_id": where["_id"], "status": 201}})
        return {"errors": False, "items": items}

    def _search(self, index: str, body: dict[str, Any], options: dict[str, str]) -> dict[str, Any]:
        if self.answers:
            return self.answers.pop(0)
        if "retriever" in body:
            if body.get("size", 10) > body["retriever"].get("rrf", {}).get("rank_window_size", 10):
                raise ValueError("rank_window_size must be at least size")
            scores = self._retriever(index, body["retriever"])
        elif "hybrid" in body["query"]:
            scores = self._hybrid(index, body["query"]["hybrid"], self.pipelines[options["search_pipeline"]])
        else:
            scores = self._scores(index, body["query"])
        best = sorted(scores.items(), key=lambda scored: -scored[1])[: body.get("size", 10)]
        hits = [{"_index": index, "_id": i, "_score": s, "_source": self.documents[index][i]} for i, s in best]
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        return {"took": 1, "timed_out": False, "_shards": shards, "hits": {"hits": hits}, "status": 200}

    def _retriever(self, index: str, retriever: dict[str, Any]) -> dict[str, float]:
        if "standard" in retriever:
            return self._scores(index, retriever["standard"]["query"])
        rrf = retriever["rrf"]
        lists = [(part["weight"], self._retriever(index, part["retriever"])) for part in rrf["retrievers"]]
        return fuse(lists, rrf["rank_constant"], rrf["rank_window_size"])

    def _hybrid(self, index: str, hybrid: dict[str, Any], pipeline: dict[str, Any]) -> dict[str, float]:
        (processor,) = pipeline["phase_results_processors"]
        combination = processor["score-ranker-processor"]["combination"]
        weights = combination["parameters"]["weights"]
        if len(hybrid["queries"]) > 5 or len(weights) != len(hybrid["queries"]) or abs(sum(weights) - 1) > 0.01:
            raise ValueError("at most 5 queries, a weight for each, and a sum of 1")
        lists = [(w, self._scores(index, query)) for w, query in zip(weights, hybrid["queries"], strict=True)]
        return fuse(lists, combination["rank_constant"], hybrid["pagination_depth"])

    def _scores(self, index: str, query: dict[str, Any]) -> dict[str, float]:
        ((kind, given),) = query.items()
        if kind == "match":
            ((name, text),) = given.items()
            return by_words(text, {i: source[name] for i, source in self.documents[index].items()})
        if kind != "knn":
            raise ValueError(kind)
        ((name, nested),) = given.items() if "field" not in given else ((given["field"], given),)
        vector = nested["query_vector"] if "query_vector" in nested else nested["vector"]
        scores = {i: cosine(vector, source[name]) for i, source in self.documents[index].items()}
        return dict(sorted(scores.items(), key=lambda scored: -scored[1])[: nested["k"]])


def by_words(text: str, texts: dict[str, str]) -> dict[str, float]:
    """How many of the words a text has, those that few texts have counting more; texts with none are left out."""
    found = {i: set(re.findall(r"\w+", each.lower())) for i, each in texts.items()}
    wanted = set(re.findall(r"\w+", text.lower()))
    rarity = {word: math.log(1 + len(texts) / (1 + sum(word in words for words in found.values()))) for word in wanted}
    scores = {i: sum(rarity[word] for word in sorted(wanted & words)) for i, words in found.items()}
    return {i: score for i, score in scores.items() if score}


def cosine(one: list[float], other: list[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def fuse(lists: list[tuple[float, dict[str, float]]], constant: int, depth: int) -> dict[str, float]:
    """The documented formula of both engines."""
    out: dict[str, float] = {}
    for weight, scores in lists:
        for rank, item in enumerate(sorted(scores, key=lambda i: -scores[i])[:depth], 1):
            out[item] = out.get(item, 0.0) + weight / (constant + rank)
    return out


@contextmanager
def serve_searches() -> Iterator[FakeSearchServer]:
    """A server for the time of the block."""
    fake = FakeSearchServer()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            body: Any = (
                json.loads(raw)
                if raw and not self.path.partition("?")[0].endswith(("_bulk", "_msearch"))
                else ([json.loads(line) for line in raw.splitlines()] or None)
            )
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                status, content = 200, fake.respond(Request(self.command, self.path, headers, body))
            except (KeyError, ValueError) as error:
                status, content = 400, {"error": {"type": "unknown", "reason": str(error)}, "status": 400}
            sent = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(sent)),
                **PRODUCT,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PUT = answer  # noqa: N815

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
