"""The body of a request: its parts, and how long it may take."""

import asyncio
from typing import Any

import pytest

from juryrank.server.bodies import Bodies
from juryrank.server.problems import Problem
from juryrank.server.settings import Settings


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
