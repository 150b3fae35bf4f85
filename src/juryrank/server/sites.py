"""Which requests of web browsers are answered: those to a name of the service, from its own pages or allowed ones.

Who can reach the address may send requests, but a browser on the same machine sends those of any page that it shows.
Two things tell them apart, which no page can change: ``Origin`` and ``Sec-Fetch-Site`` say where a page is from, and
``Host`` has the name by which it got here; a name of another site can lead to this machine, too.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from juryrank.errors import ParameterError
from juryrank.server.problems import Problem

ANY = "*"
LOCALHOST = "localhost"
ALLOWED = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+")
ADDRESS = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::[0-9]*)?")  # with a port
OWN_SITES = ("same-origin", "none")  # none: typed by the user


class Sites:
    """The names of a service that listens on ``bound``, and the origins whose pages may call it.

    ``cors`` is None for a service that has no such setting.
    """

    def __init__(self, bound: str, hosts: Iterable[str] = (), cors: Iterable[str] | None = None) -> None:
        self._allowed = frozenset(map(str.lower, hosts))
        self._bound, self._names = bound.lower(), self._allowed | {bound.lower(), LOCALHOST}
        self._cors = None if cors is None else frozenset(cors)

    def check(
        self,
        method: str,
        headers: Mapping[bytes, bytes],
        every_header: Iterable[tuple[bytes, bytes]],
        version: str = "1.1",
    ) -> None:
        """A Problem for what a page of another site could have sent; ``headers`` are every header by its name."""
        hosts = [value for name, value in every_header if name == b"host"]
        if len(hosts) != 1 or not hosts[0]:
            if hosts or version != "1.0":
                found = "none" if not any(hosts) else f"{len(hosts)} of them"
                raise Problem(400, f"a request must have one header Host with the name it is sent to; this has {found}")
            hosts = [self._bound.encode()]
        host = hosts[0].decode("latin-1")
        if not self._is_own(name_of(host)):
            names = ", ".join(sorted(self._names - {""}))
            raise Problem(
                403, f"the request is to the host {host!r:.80}, and answered are requests to {names}; "
                "the option --allow-host NAME allows another name",
            )  # fmt: skip
        origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
        if (origin is not None or site is not None) and method != "OPTIONS":  # which changes nothing
            self._check_page(method, host, origin, site, headers)

    def _is_own(self, name: str | None) -> bool:
        if name in self._names or ANY in self._names:
            return True
        try:
            address = ipaddress.ip_address(name or "")
        except ValueError:
            return False
        # No site can have a name that is an address; that of a machine is not known where it listens on all of them.
        return address.is_loopback or is_every_address(self._bound)

    def _check_page(
        self, method: str, host: str, origin: bytes | None, site: bytes | None, headers: Mapping[bytes, bytes]
    ) -> None:
        if origin is not None:
            text = origin.decode("latin-1")
            if self._cors and (text in self._cors or ANY in self._cors):
                return
            address = text.partition("://")[2].lower()
            if address != host.lower() and name_of(address) not in self._allowed:
                raise self._refusal(f"Origin: {text:.80}")
        if site is None or (text := site.decode("latin-1")) in OWN_SITES:
            return
        if origin is None and method in ("GET", "HEAD") and headers.get(b"sec-fetch-mode") == b"navigate":
            return  # a link, whose answer the other page cannot read
        raise self._refusal(f"Sec-Fetch-Site: {text:.80}")

    def _refusal(self, found: str) -> Problem:
        remedy = "" if self._cors is None else "; the setting cors names other sites that may"
        return Problem(403, f"only pages of this address may send this, and it has {found}{remedy}")


@lru_cache(maxsize=256)
def name_of(address: str) -> str | None:
    """The name or the IP address in ``name:port`` or ``[address]:port``; None if it is neither."""
    found = ADDRESS.fullmatch(address)
    return None if found is None else (found[1] or found[2] or "").lower()


def is_every_address(host: str) -> bool:
    """Whether a service that listens there listens on all addresses of the machine."""
    try:
        return not host or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def check_hosts(hosts: Iterable[str]) -> None:
    """An error for what is not the name of a host."""
    for host in hosts:
        if host != ANY and not ALLOWED.fullmatch(host):
            raise ParameterError(
                f"an allowed host must be a name or an IP address without https:// and port, such as "
                f'fusion.example.org, or "{ANY}" for any, got {host!r:.80}'
            )
