"""Connections of clients: limits of time and size that uvicorn does not have, and an end that loses no request.

A client that sends the head of a request slowly, sends no request, or does not read its answer would otherwise keep a
connection and its memory for ever.

A fusion that has arrived as a whole is answered at once: a task, its events and the messages of ASGI would take as long
as the fusion. Everything else, such as a body that comes in parts, takes the way of uvicorn.
"""

from __future__ import annotations

import asyncio
import ctypes
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from juryrank.server import paths
from juryrank.server.logs import log
from juryrank.server.parser import Parser
from juryrank.server.problems import CONTENT_TYPE, Problem

HEAD_SECONDS = 10.0  # in which a request line and its headers must have arrived
MOST_HEAD = 64 << 10  # bytes of them
READ_SECONDS = 10.0  # in which a client must have read LEAST_READ bytes of an answer that waits
LEAST_READ = 64 << 10
ACCEPT_SECONDS = 0.2  # at the end, for connections that are being made
LAST_SECONDS = 1.0  # at the end, for requests that are on their way on open connections
HEAD, BODY, DONE = range(3)  # what of a request is still to come
FEWEST_DESCRIPTORS = 8  # that are free; with fewer, the log says so
TELL_SECONDS = 60.0
FUSION = {path.encode(): path for path in paths.FUSION}
SO_ATTACH_FILTER = 26
# Classic BPF: drop TCP packets with SYN and without ACK (byte 13 of the header), take all others.
NO_NEW_CONNECTIONS = (
    (0x30, 0, 0, 13),  # load the byte of the flags
    (0x54, 0, 0, 0x12),  # of these, SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # drop
    (0x06, 0, 0, 0xFFFFFFFF),  # take
)


class Connection(HttpToolsProtocol):
    """One connection."""

    # Of all connections of this process.
    most_bytes = 129 << 20  # of one request with everything around its body
    ending = False
    next_told = 0.0  # when a lack of descriptors is logged again

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.parser = Parser(self)
        self._stage, self._received = DONE, 0
        # None where something around the application, such as traces, must see every request.
        self._answer_at_once: Callable[..., bytes] | None = getattr(self.app, "answer_at_once", None)
        self._head = list[tuple[bytes, bytes]]()
        self._is_first = False  # of the requests in the bytes that were read, one may be answered at once
        self._postponed, self._parts = False, list[bytes]()  # whether it is being read, and its body
        self._has_answered = False  # one of the requests in these bytes
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first request must come soon."""
        super().connection_made(transport)
        self._await_head()
        self._tell_of_descriptors(transport)

    def _tell_of_descriptors(self, transport: asyncio.Transport) -> None:
        """An error in the log when hardly any are left: then the system refuses connections, and nobody hears of it."""
        try:
            import resource
        except ImportError:  # Windows
            return
        own, now = transport.get_extra_info("socket"), self.loop.time()
        if own is None or now < Connection.next_told:
            return
        number, most = own.fileno(), resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if number >= most - FEWEST_DESCRIPTORS:  # the system gives the lowest that is free
            Connection.next_told = now + TELL_SECONDS
            log.error(
                "%d of the %d descriptors (files and connections) that this process may have are in use, so that "
                "connections are going to be refused; raise the limit: ulimit -n, or LimitNOFILE of systemd",
                number + 1, most,
            )  # fmt: skip

    def connection_lost(self, exc: Exception | None) -> None:
        """No timer stays."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._head_arrived()
        if self._read_timer is not None:
            self._read_timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read on; what is not a whole request yet has limits, and so has the rest of one that is answered."""
        self._is_first = True
        super().data_received(data)
        if self._postponed:  # its body has not arrived yet
            self._begin_postponed()
        self._check_rest(data)
        self._has_answered = False

    def _check_rest(self, data: bytes) -> None:
        if self._stage != DONE:
            self._received += len(data)
            if self._received > (MOST_HEAD if self._stage == HEAD else self.most_bytes):
                self._refuse(Problem(431 if self._stage == HEAD else 413, "the request is too large"))
            elif self._stage == HEAD or self.cycle.response_complete:
                self._await_head()
        elif self._is_idle and self.timeout_keep_alive_task is None:  # empty lines
            self._await_head()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._stage, self._received = HEAD, 0

    def on_headers_complete(self) -> None:
        """The request can be worked on; at the end of the service, it is the last of its connection."""
        if self.parser.should_upgrade():
            return  # the parser reads this head again, without its offer of another protocol
        if self._head_timer is not None:
            self._head_arrived()
        self._postponed = self._is_first and self._can_be_answered_at_once()
        self._is_first = False
        if not self._postponed:
            self._begin()
        self._head, self.headers = self.headers, []  # trailers are no headers, and go to a list that nobody reads
        self._stage, self._received = BODY, 0

    def _can_be_answered_at_once(self) -> bool:
        """Whether nothing but the body is needed for an answer that leaves the connection open."""
        parser = self.parser
        return (
            self._answer_at_once is not None
            and self.url in FUSION
            and parser.get_method() == b"POST"
            and parser.should_keep_alive()
            and parser.get_http_version() == "1.1"
            and not (self.expect_100_continue or self.ending or self.flow.write_paused)
            and self._is_idle
        )

    def _begin(self) -> None:
        super().on_headers_complete()
        if self.ending:
            self.cycle.keep_alive = False

    def _begin_postponed(self) -> None:
        self._postponed = False
        self._begin()
        for part in self._parts:
            super().on_body(part)
        self._parts = []

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if self._postponed:
            self._parts.append(body)
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        if self._stage == HEAD:
            return  # which is read again
        self._stage = DONE
        if not self._postponed:
            super().on_message_complete()
            return
        assert self._answer_at_once is not None
        body = b"".join(self._parts)
        self._parts, self._postponed, self._has_answered = [], False, True
        self.transport.write(self._answer_at_once(FUSION[self.url], self._head, body))
        self.on_response_complete()

    def end_after_request(self) -> None:
        """The request under way, or else the next one, is the last; its answer says so."""
        if not self._is_idle:
            self.cycle.keep_alive = False

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self._stage == HEAD:
            self._refuse(Problem(408, f"the head of a request must arrive within {HEAD_SECONDS:g} seconds"))
        elif self._is_idle:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(Problem(400, f"this is not HTTP/1.1: {msg}"))

    def _refuse(self, problem: Problem) -> None:
        """Answer and close; while the answer to an earlier request is under way, close after that."""
        if self._postponed:
            self._begin_postponed()
        if self._stage != BODY and not self._is_idle:
            self.cycle.keep_alive = False
            self.flow.pause_reading()
        elif self._stage == BODY and (self.pipeline or self.cycle.response_started):
            self.transport.close()  # it is answered, or others wait before it
        elif self._has_answered:
            self.transport.close()  # after that answer, as if it were still under way
        elif not self.transport.is_closing():
            body = problem.body("")
            head = b"content-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (CONTENT_TYPE, len(body))
            self.transport.write(STATUS_LINE[problem.status] + head + body)
            self.transport.close()

    def pause_writing(self) -> None:
        """An answer waits for its reader."""
        super().pause_writing()
        if self._read_timer is None:
            self._watch_reader()

    def resume_writing(self) -> None:
        """The reader has caught up."""
        super().resume_writing()
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _watch_reader(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._read_timer = self.loop.call_later(READ_SECONDS, self._look_at_reader, waiting)

    def _look_at_reader(self, before: int) -> None:
        self._read_timer = None
        if self.transport.get_write_buffer_size() > before - LEAST_READ:
            self.transport.abort()
        else:
            self._watch_reader()


class Server(uvicorn.Server):
    """uvicorn, which at its end first takes the connections and requests that are on their way."""

    def __init__(self, config: uvicorn.Config, *, alone: bool) -> None:
        super().__init__(config)
        self._alone = alone  # else other processes accept from the same socket

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what has been sent, with the remark that the connection ends, and only then close the others."""
        Connection.ending = True
        for connection in list(self.server_state.connections):
            connection.end_after_request()  # type: ignore[union-attr]
        if self._alone:
            for listener in sockets or []:
                refuse_connections(listener)
            await asyncio.sleep(ACCEPT_SECONDS)
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        end = self._now() + LAST_SECONDS
        while self.server_state.connections and self._now() < end and not self.force_exit:
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def refuse_connections(listener: socket.socket) -> None:
    """Make no new connections, and go on with those that are being made.

    Closing a listener resets connections that the kernel has made and nobody has accepted. Linux can drop the first
    packet of new ones instead; their clients try again after a second, and then nobody listens.
    """
    if not sys.platform.startswith("linux"):
        return
    code = b"".join(
        operation.to_bytes(2, sys.byteorder) + bytes((when, otherwise)) + value.to_bytes(4, sys.byteorder)
        for operation, when, otherwise, value in NO_NEW_CONNECTIONS
    )
    buffer = ctypes.create_string_buffer(code)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    program = Program(len(NO_NEW_CONNECTIONS), ctypes.addressof(buffer))
    with suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, bytes(program))
