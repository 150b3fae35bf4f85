"""Requests whose lists are not decoded have, byte for byte, the answers of those that are decoded."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from juryrank.kernels import library
from juryrank.server.bodies import Bodies
from juryrank.server.fusing import Fusing, fuser_of, install_warnings, room
from juryrank.server.problems import Problem
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings

LIMITS = Settings(max_items=60, max_experts=4)


@pytest.fixture(scope="module")
def fusing() -> Iterator[Fusing]:
    with pytest.MonkeyPatch.context() as patch:
        import warnings

        patch.setattr(warnings, "showwarning", warnings.showwarning)
        with warnings.catch_warnings():
            install_warnings()
            yield Fusing(Registry(None), LIMITS)


def outcome(fusing: Fusing, request: dict[str, Any]) -> Any:
    """The answer, or what is wrong."""
    try:
        return fusing.answer(json.dumps(request, ensure_ascii=False).encode())
    except Problem as problem:
        return problem.status, problem.detail


def requests() -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(0)
    for n in range(300):
        names = [f"d{k}" for k in range(30)] if n % 2 else [str(k) for k in random.integers(0, 10**6, 30)]
        names = [*dict.fromkeys(names)]
        experts = ["bm25", "dense", "splade", "e4"][: int(random.integers(1, 5))]
        lists = {e: random.permutation(names)[: int(random.integers(0, 20))].tolist() for e in experts}
        request: dict[str, Any] = {"lists": lists, "method": ["rrf", "dowdall", "borda", "combsum"][n % 4]}
        if n % 3 == 0:
            request["top"] = int(random.integers(1, 12))
        yield request
    for odd in (["a", "a"], ["é"], ["\n"], [1, 2], {"a": 1.0}, [["a", 2.0]], "a", None, [None], [[]], ["a"] * 70):
        yield {"lists": {"bm25": odd, "dense": ["a", "b"]}, "method": "rrf"}
    one = {"bm25": ["a", "b"], "dense": ["b"]}
    yield {"lists": one}  # by the demo model, which warns of the experts
    yield {"lists": one, "model": "demo"}
    yield {"lists": one, "model": "absent"}
    yield {"lists": one, "model": "demo", "method": "rrf"}
    yield {"lists": one, "method": "bordo"}
    yield {"lists": one, "method": "kemeny"}
    yield {"lists": one, "method": "rrf", "top": 0}
    yield {"lists": {}, "method": "rrf"}
    yield {"lists": {f"e{n}": ["a"] for n in range(5)}, "method": "rrf"}
    yield {"lists": {"e" * 300: ["a"]}, "method": "rrf"}
    yield {"lists": {"a": [f"d{n}" for n in range(61)]}, "method": "rrf"}
    yield {"lists": {"a": [f"d{n}" for n in range(60)]}, "method": "rrf"}


def test_answers_and_problems_are_those_of_requests_that_are_decoded(fusing: Fusing) -> None:
    for request in requests():
        # A request with this field is decoded.
        assert outcome(fusing, request) == outcome(fusing, {**request, "explain": False}), request


@pytest.mark.skipif(library.open_library() is None, reason="no library; `make kernels` builds it")
def test_plain_lists_are_not_decoded(fusing: Fusing) -> None:
    found = fuser_of("rrf", b"{}").fuse_text({"bm25": b'["a","b"]', "dense": b'["b"]'}, None, room())
    assert found == (b'[{"id":"b","score":%r},{"id":"a","score":%r}]' % (1 / 62 + 1 / 61, 1 / 61), 3)


class TestBodies:
    """A body that is there is read without a timer, and one that is not within its time."""

    headers: dict[bytes, bytes] = {}

    @staticmethod
    def receiver(*messages: dict[str, Any], pause: float = 0.0) -> Any:
        rest = iter(messages)

        async def receive() -> dict[str, Any]:
            if pause:
                await asyncio.sleep(pause)
            return next(rest)

        return receive

    @pytest.mark.parametrize("pause", [0.0, 0.01])
    def test_parts_are_joined(self, pause: float) -> None:
        parts = [{"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.request", "body": b"c"}]
        for n in (1, 2):
            receive = self.receiver(*parts[-n:], pause=pause)
            assert asyncio.run(Bodies(Settings()).read(receive, {})) == (b"c" if n == 1 else b"abc")

    def test_a_body_that_does_not_come_is_given_up(self) -> None:
        ended = []

        async def receive() -> dict[str, Any]:
            try:
                await asyncio.sleep(60.0)
            finally:
                ended.append(True)
            return {}

        with pytest.raises(Problem, match=r"must arrive within 0\.05 seconds"):
            asyncio.run(Bodies(Settings(body_seconds=0.05)).read(receive, {}))
        assert ended == [True]

    def test_a_task_that_is_cancelled_while_it_waits_ends(self) -> None:
        async def run() -> None:
            task = asyncio.create_task(Bodies(Settings()).read(self.receiver(pause=60.0), {}))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(run())
