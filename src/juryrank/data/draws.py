"""Random numbers that depend on a seed and on names alone: the same in every process, thread and version of Python."""

from __future__ import annotations

from hashlib import blake2b
from numbers import Integral
from typing import Any

from juryrank.errors import ParameterError


def uniform(seed: int, *names: object) -> float:
    """A number between 0 and 1, exclusive, for a seed and names; other names give an independent number.

    >>> uniform(0, "request", 7) == uniform(0, "request", "7") != uniform(0, "request7")
    True
    """
    texts = [str(name).encode("utf-8", "surrogatepass") for name in (seed, *names)]
    whole = b"".join(b"%d:%b" % (len(text), text) for text in texts)  # so that names cannot run into each other
    return (int.from_bytes(blake2b(whole, digest_size=8).digest(), "big") // 2**11 + 0.5) / 2**53


def demand_request(request: Any, what: str) -> str:
    """The id of a request as text; an error where there is none."""
    if request is None or str(request) == "" or isinstance(request, float):
        raise ParameterError(
            f"{what} needs request=, the id of the request (text or a whole number), from which its random draw follows"
        )
    return str(request)


def demand_seed(seed: Any) -> int:
    """A whole number."""
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise ParameterError(f"seed must be a whole number, got {seed!r}")
    return int(seed)
