"""Start the studio on this machine, and open its page."""

from __future__ import annotations

import re
import secrets
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import uvicorn

from juryrank.errors import DataError, DataWarning, ParameterError
from juryrank.server import logs
from juryrank.server.connections import Connection
from juryrank.server.sites import Sites, check_hosts
from juryrank.studio.app import create_app
from juryrank.studio.studio import Studio

HOST = "127.0.0.1"
PORT = 8348
NEIGHBOURS = 50  # ports that are tried if the default one is taken
TOKEN = re.compile(r"[A-Za-z0-9_-]{16,100}")
SHUTDOWN_SECONDS = 2
SWITCH_SECONDS = 0.0005  # a tenth of the default: an answer changes threads several times while others compute


@dataclass(frozen=True)
class Address:
    """Where the studio is, and what opens it."""

    port: int | None = None  # None: the usual one or the next that is free; 0: any
    token: str | None = None  # None: a new one
    browser: bool = True
    allow_hosts: tuple[str, ...] = ()  # names of it, beside localhost

    def __post_init__(self) -> None:
        check_hosts(self.allow_hosts)
        if self.token is not None and not TOKEN.fullmatch(self.token):
            raise ParameterError("the token must have 16 to 100 letters, digits, - or _")


def run(studio: Studio, address: Address, say: Callable[[str], None]) -> None:
    """Serve the page until a signal ends it; ``say`` gets the address."""
    logs.configure("warning")
    sys.setswitchinterval(SWITCH_SECONDS)
    listener = listen(address.port)
    port = listener.getsockname()[1]
    token = address.token or secrets.token_urlsafe(24)
    url = f"http://{HOST}:{port}/?token={token}"
    app = create_app(studio, token, port, Sites(HOST, address.allow_hosts))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, date_header=False, http=Connection, ws="none",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS, lifespan="off",
    )  # fmt: skip
    say(url)
    if address.browser:
        threading.Thread(target=_open, args=(url,), daemon=True).start()
    expect_warnings(studio)
    with suppress(KeyboardInterrupt):  # which ends the studio
        uvicorn.Server(config).run([listener])


def expect_warnings(studio: Studio) -> None:
    """Labels that are not complete yet are usual here, and no reason for a warning; a damaged file is."""
    warnings.simplefilter("ignore", DataWarning)
    warnings.filterwarnings("always", re.escape(str(studio.judging.settings.file.path)), DataWarning)


def listen(port: int | None) -> socket.socket:
    """The socket; without a given port, the next one is tried where the usual one is taken."""
    ports = range(PORT, PORT + NEIGHBOURS) if port is None else (port,)
    for each in ports:
        try:
            return socket.create_server((HOST, each))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
    raise DataError(f"cannot listen on {HOST}:{ports[-1]}: {reason}; choose another --port")


def _open(url: str) -> None:
    """Open the page, if there is a browser with a window; one in the terminal would cover what is printed."""
    try:
        found = webbrowser.get()
        in_terminal = isinstance(found, webbrowser.GenericBrowser) and not isinstance(
            found, webbrowser.BackgroundBrowser
        )
        if not in_terminal:
            found.open(url)
    except Exception:  # no browser, or one that cannot be started: the address is printed
        logs.log.info("no browser could be opened")
