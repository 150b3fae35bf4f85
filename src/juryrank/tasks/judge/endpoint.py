"""A chat completions endpoint, as OpenAI and many others serve it: requests with retries, a key that stays secret."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any
from urllib.parse import urlsplit

from juryrank import __version__
from juryrank.errors import EndpointError, ParameterError
from juryrank.retries import Retries, seconds_to_wait

PATH = "/chat/completions"
LOCAL = ("localhost", "127.0.0.1", "::1")
OPENAI = "api.openai.com"
KEYS = ("JURYRANK_API_KEY", "OPENAI_API_KEY")  # environment variables
TEMPORARY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
OF_ONE_REQUEST = (400, 413, 422)  # may be wrong with one text, such as one that is too long
REFUSALS = (400, 403, 429)  # with which endpoints say that there is no credit
USED_UP = re.compile(
    r"insufficient[_ -](?:quota|funds|balance|credits?)|billing_(?:hard_limit_reached|not_active)|credit balance", re.I
)
QUOTA = re.compile(
    r"exceeded your (?:current|monthly|daily) quota|quota (?:is |has been )?(?:exceeded|exhausted)", re.I
)
FOR_A_TIME = re.compile(r"retryDelay|retry (?:after|in)\b|per[ _-]?(?:second|minute)", re.I)
AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
API_VERSION = re.compile(r"api-version=(?:\d{4}-\d\d-\d\d(?:-preview)?|v\d{1,3}|preview|latest)", re.ASCII)
LIKE_A_KEY = re.compile(
    r"\b(?:sk|gsk|pk|hf|xai|nvapi|key)[-_][\w-]{12,}|\bAIza[\w-]{12,}|\b[0-9a-fA-F]{32,}\b", re.ASCII
)
QUOTED = 300  # characters of an answer that an error quotes
LARGEST = 1 << 22  # bytes of an answer


@dataclass(frozen=True)
class Reply:
    """The text of an answer, and the tokens that the endpoint counted, 0 where it does not say."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class RequestRefusedError(EndpointError):
    """The endpoint refuses one request, perhaps because its text is too long."""


class LimitReachedError(EndpointError):
    """As many requests or tokens were used as are allowed; this one was not sent."""


@dataclass
class Endpoint:
    """Where a model is served. The key is taken from the environment and only ever sent in the header of a request."""

    url: str = field(repr=False)
    insecure: bool = False  # allow http to other hosts than this one
    timeout: float = 60.0
    retries: Retries = field(default_factory=Retries)
    sleep: Callable[[float], object] | None = None  # by default until the time is over, or ``stop`` is called
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    max_requests: int | None = None  # with retries
    max_tokens: int | None = None  # of prompts and answers, where the endpoint counts them
    n_requests: int = field(default=0, init=False)
    n_tokens: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.url = checked_url(self.url, insecure=self.insecure)
        host = urlsplit(self.url).hostname or ""
        self._key = _key_for(host, self.environment)
        proxies = urllib.request.ProxyHandler({}) if host in LOCAL else urllib.request.ProxyHandler()
        self._opener = urllib.request.build_opener(proxies, _NoRedirects())
        self._has_answered, self._lock, self._stopped = False, Lock(), Event()

    @property
    def shown(self) -> str:
        """The URL as messages have it."""
        return self.hide(shown_url(self.url))

    @property
    def has_key(self) -> bool:
        """Whether requests are sent with a key."""
        return bool(self._key)

    def ask(self, body: Mapping[str, Any]) -> Reply:
        """The answer to a request; temporary errors are retried."""
        text = json.dumps(body, ensure_ascii=False)
        for attempt in range(self.retries.most + 1):
            try:
                reply = _reply_of(self._post(text.encode()))
            except _TemporaryError as error:
                if attempt == self.retries.most or (error.unreachable and not self._has_answered):
                    tries = "" if attempt == 0 else f" after {attempt + 1} tries"
                    raise EndpointError(f"{self.shown}: {self.hide(str(error))}{tries}") from None
                (self.sleep or self._stopped.wait)(self._wait(error, attempt))
            else:
                with self._lock:
                    self._has_answered = True
                    self.n_tokens += reply.tokens_in + reply.tokens_out
                return reply
        raise AssertionError("the last attempt returns or raises")

    def stop(self) -> None:
        """End the waits of other threads: nothing is sent any more."""
        self._stopped.set()

    def _wait(self, error: _TemporaryError, attempt: int) -> float:
        if error.retry_after is not None and error.retry_after > self.retries.longest_asked:
            wait = f"it asks to wait {error.retry_after:.0f} seconds: try again later"
            raise EndpointError(f"{self.shown}: {self.hide(str(error))}; {wait}")
        return self.retries.wait(attempt, error.retry_after)

    def _post(self, data: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": f"juryrank/{__version__}"}
        if self._key:
            name, value = ("api-key", self._key) if is_azure(self.url) else ("Authorization", f"Bearer {self._key}")
            headers[name] = value
        request = urllib.request.Request(self.url, data, headers, method="POST")
        self._count_request()
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                found: bytes = answer.read(LARGEST)
                return found
        except urllib.error.HTTPError as error:
            raise self._http_error(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise _connection_error(error, self.timeout) from None

    def _count_request(self) -> None:
        """Count a request that is about to be sent; an error if it must not be sent."""
        if self._stopped.is_set():
            raise EndpointError(f"{self.shown}: stopped")
        with self._lock:
            if self.max_requests is not None and self.n_requests >= self.max_requests:
                raise LimitReachedError(f"stopped after {self.n_requests} requests, the limit of --max-requests")
            if self.max_tokens is not None and self.n_tokens >= self.max_tokens:
                raise LimitReachedError(f"stopped after {self.n_tokens:,} tokens, the limit of --max-total-tokens")
            self.n_requests += 1

    def _http_error(self, error: urllib.error.HTTPError) -> EndpointError | _TemporaryError:
        with error:
            try:
                body = error.read(LARGEST).decode(errors="replace")
            except (OSError, http.client.HTTPException):
                body = ""
        used_up = is_used_up(error.code, body, waits="Retry-After" in error.headers)
        body = " ".join(self.hide(body).split())[:QUOTED]  # hidden before it is cut: half a key is secret, too
        told = self.hide(f"HTTP {error.code} {error.reason}" + (f": {body}" if body else ""))
        if used_up:
            return EndpointError(
                f"{self.shown}: {told}; the quota or credit of the key is used up, waiting does not help"
            )
        if error.code in TEMPORARY:
            return _TemporaryError(told, retry_after=seconds_to_wait(error.headers.get("Retry-After")))
        if error.code in OF_ONE_REQUEST and self._has_answered:
            return RequestRefusedError(f"{self.shown}: {told}")
        hints = {
            401: "; set the key in the environment variable JURYRANK_API_KEY",
            403: "; is the key allowed to use this model?",
            404: "; are the endpoint and the model right?",
        }
        return EndpointError(f"{self.shown}: {told}{hints.get(error.code, '')}")

    def hide(self, text: str) -> str:
        """A text in which the key, if it is there, cannot be read."""
        return text.replace(self._key, "***") if self._key else text


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: the key would be sent to another place."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


class _TemporaryError(Exception):
    def __init__(self, text: str, *, retry_after: float | None = None, unreachable: bool = False) -> None:
        super().__init__(text)
        self.retry_after, self.unreachable = retry_after, unreachable


def checked_url(url: str, *, insecure: bool = False) -> str:
    """The address of the chat completions; http is allowed for this machine only, unless ``insecure``."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise _no_address(url) from None
    if parts.username is not None or parts.password is not None:
        raise ParameterError(f"the URL of an endpoint must not contain a key; use the environment variable {KEYS[0]}")
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise _no_address(url)
    if parts.query and not API_VERSION.fullmatch(parts.query):
        raise ParameterError(
            f"{shown_url(url)}: only ?api-version=… may follow the path of an endpoint; set a key in the environment "
            f"variable {KEYS[0]}"
        )
    if parts.scheme == "http" and host not in LOCAL and not insecure:
        raise ParameterError(
            f"{shown_url(url)}: over http, texts and key can be read on the way; use https, or --insecure in a network "
            "you trust"
        )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(PATH) else path + PATH).geturl()


def _no_address(url: str) -> ParameterError:
    return ParameterError(f"the endpoint must be a URL such as https://{OPENAI}/v1, got {shown_url(url)!r}")


def shown_url(url: str) -> str:
    """What may be shown of a text that was given as a URL: neither a user, nor a query, nor what looks like a key."""
    if (version := API_VERSION.search(url)) is not None and version.end() == len(url):
        url, kept = url[: version.start()].rstrip("?"), f"?{version[0]}"
    else:
        kept = ""
    if "@" in url:
        url = f"***@{url.rpartition('@')[2]}"
    return LIKE_A_KEY.sub("***", re.sub(r"([?#]).*", r"\1***", url, flags=re.DOTALL)) + kept


def is_azure(url: str) -> bool:
    """Whether the key is expected in the header ``api-key``."""
    parts = urlsplit(url)
    return bool(parts.query) or (parts.hostname or "").endswith(AZURE)


def _key_for(host: str, environment: Mapping[str, str]) -> str:
    """The key for a host: OpenAI's own variable is for OpenAI only, not for any server that is named."""
    own, openai = (environment.get(name, "").strip() for name in KEYS)
    key = own or (openai if host == OPENAI else "")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ParameterError(f"the key in {KEYS[0] if own else KEYS[1]} has characters that cannot be sent")
    return key


def is_used_up(status: int, body: str, *, waits: bool) -> bool:
    """Whether nothing will be answered until somebody pays; limits of requests in a minute are not meant."""
    if status in REFUSALS and USED_UP.search(body):
        return True
    if status == 429:
        return QUOTA.search(body) is not None and not waits and not FOR_A_TIME.search(body)
    return status == 402 or (status == 403 and "quota" in body.lower())


def _connection_error(error: Exception, timeout: float) -> _TemporaryError | EndpointError:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return _TemporaryError(f"no answer within {timeout:g} seconds")
    if isinstance(reason, ConnectionRefusedError | socket.gaierror):
        return _TemporaryError(
            f"cannot be reached: {reason}; is the URL right, and the server running?", unreachable=True
        )
    if "CERTIFICATE" in str(reason).upper():
        return EndpointError(f"the certificate of the endpoint cannot be verified: {reason}")
    return _TemporaryError(f"the connection failed: {reason or type(reason).__name__}")


def _reply_of(content: bytes) -> Reply:
    """The reply in the JSON of an answer; what is no such JSON is a temporary error, as of a proxy."""
    try:
        found = json.loads(content)
        text = found["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        told = " ".join(content[:QUOTED].decode(errors="replace").split())
        raise _TemporaryError(f"the answer is not that of chat completions: {told!r}") from None
    if isinstance(text, list):  # in parts
        text = "".join(
            part.get("text", "") for part in text if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    used = found.get("usage") if isinstance(found.get("usage"), dict) else {}
    counts = [used.get(name) for name in ("prompt_tokens", "completion_tokens")]
    tokens = [count if isinstance(count, int) and count >= 0 else 0 for count in counts]
    return Reply(text if isinstance(text, str) else "", *tokens)
