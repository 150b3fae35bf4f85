"""What the adapters of retriever frameworks share: how a method is made, and calls of all retrievers at once."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, Literal, TypeVar

from juryrank.errors import ParameterError, RetrieverError, RetrieverWarning, unknown_names, warn_user
from juryrank.methods import Aggregator
from juryrank.models import as_method
from juryrank.tasks.fuse import Fuser

D = TypeVar("D")
T = TypeVar("T")
OnError = Literal["raise", "skip"]
Model = Aggregator | str | os.PathLike[str]


def make_fuser(model: Model | None = None, method: str | None = None, **params: Any) -> Fuser:
    """The Fuser of a model (a fitted method or the path of a saved one), or of a method with its parameters."""
    return Fuser(make_method(model, method, "rrf", **params))


def make_method(model: Model | None, method: str | None, default: str, **params: Any) -> Aggregator:
    """The method of a model (a fitted method or the path of a saved one), or that of a name with its parameters."""
    given = {name: value for name, value in params.items() if value is not None}
    if model is None:
        return as_method(method or default, given)
    if method is not None or given:
        raise ParameterError("a model has its method and parameters already; give model= or method=, not both")
    return as_method(os.path.join(os.curdir, model) if isinstance(model, str) else model, {})  # a name is a path, too


def demand_weights_of(names: Iterable[str], weights: Mapping[str, float] | None, kind: str = "retriever") -> None:
    """An error for weights of names that no retriever has."""
    if weights and (unknown := weights.keys() - set(names)):
        raise ParameterError(f"weights of no {kind}: {unknown_names(unknown, names)}")


def demand_policy(on_error: str, timeout: float | None) -> None:
    """An error for a policy that has no meaning."""
    if on_error not in ("raise", "skip"):
        raise ParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise ParameterError(f"timeout is a number of seconds above 0, or None for no limit, got {timeout!r}")


@dataclass(frozen=True)
class Collected(Generic[D]):
    """The lists of the retrievers that answered, and why the others did not."""

    lists: dict[str, list[D]]
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> dict[str, list[D]]:
        """The lists of all; that of a retriever that failed is empty, so that its weight is not reported as unknown."""
        return {**self.lists, **{name: [] for name in self.failed}}


def collect(
    calls: Mapping[str, Callable[[], Sequence[D]]], *, on_error: OnError = "raise", timeout: float | None = None
) -> Collected[D]:
    """The lists of all calls, which are made at the same time in threads of their own.

    A call that takes longer than ``timeout`` seconds has failed; its thread cannot be stopped, and does not keep the
    program from ending. With ``on_error="raise"`` the first failure is an error, with "skip" a warning; if all calls
    fail, it is an error in any case.
    """
    answers: dict[str, Any] = {}
    finished: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def run(name: str, call: Callable[[], Sequence[D]]) -> None:
        try:
            answer: Any = call()
        except BaseException as error:
            answer = error
        finished.put((name, answer))

    for name, call in calls.items():
        _start_thread(name, partial(run, name, call))
    end = None if timeout is None else time.monotonic() + timeout
    while len(answers) < len(calls):
        try:
            name, answer = finished.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
        except Empty:
            answers.update({name: _late(timeout) for name in calls if name not in answers})
            break
        answers[name] = answer
        if isinstance(answer, BaseException) and on_error == "raise":
            break
    return _settle({name: answers[name] for name in calls if name in answers}, on_error)


def _start_thread(name: str, work: Callable[[], None]) -> None:
    """Call in a new thread, with the context variables of this one; it does not keep the program from ending."""
    run = partial(contextvars.copy_context().run, work)
    threading.Thread(target=run, daemon=True, name=f"juryrank {name}").start()


async def in_thread(name: str, call: Callable[[], T]) -> T:
    """The result of a synchronous call in a thread of its own.

    The threads that an event loop has for all would be used up by calls that hang, and a call would wait for a free one
    while its time runs; nor can a program end before them.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a thread cannot be cancelled

    def run() -> None:
        try:
            result = call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    _start_thread(name, run)
    return await asyncio.wrap_future(future)


def collect_in_turn(calls: Mapping[str, Callable[[], Sequence[D]]], *, on_error: OnError = "raise") -> Collected[D]:
    """As ``collect``, one call after the other in this thread, for retrievers that must not be called from others."""
    answers: dict[str, Any] = {}
    for name, call in calls.items():
        try:
            answers[name] = call()
        except Exception as error:
            answers[name] = error
            if on_error == "raise":
                break
    return _settle(answers, on_error)


async def acollect(
    calls: Mapping[str, Callable[[], Awaitable[Sequence[D]]]],
    *,
    on_error: OnError = "raise",
    timeout: float | None = None,
) -> Collected[D]:
    """As ``collect``, for calls that give coroutines, which run at the same time.

    Those that take too long are cancelled, and after the first failure with ``on_error="raise"`` the others, too.
    """

    async def run(call: Callable[[], Awaitable[Sequence[D]]]) -> Sequence[D]:
        return await call()

    tasks = {name: asyncio.create_task(run(call), name=f"juryrank {name}") for name, call in calls.items()}
    until = asyncio.FIRST_EXCEPTION if on_error == "raise" else asyncio.ALL_COMPLETED
    try:
        done, pending = await asyncio.wait(tasks.values(), timeout=timeout, return_when=until)
    finally:
        for task in tasks.values():
            task.cancel()
    failed = any(task.cancelled() or task.exception() is not None for task in done)
    answers: dict[str, Any] = {}
    for name, task in tasks.items():
        if task in pending:
            if not (failed and on_error == "raise"):
                answers[name] = _late(timeout)
        else:
            answers[name] = asyncio.CancelledError() if task.cancelled() else task.exception() or task.result()
    return _settle(answers, on_error)


def _late(timeout: float | None) -> TimeoutError:
    return TimeoutError(f"no answer within {timeout:g} s")


def _settle(answers: Mapping[str, Any], on_error: OnError) -> Collected[Any]:
    """The lists, or the error that the policy asks for."""
    lists: dict[str, list[Any]] = {}
    errors: dict[str, Exception] = {}
    for name, answer in answers.items():
        if isinstance(answer, BaseException):
            if not isinstance(answer, Exception | asyncio.CancelledError):
                raise answer  # Ctrl-C and the like are no failures of a retriever
            errors[name] = answer if isinstance(answer, Exception) else RetrieverError("cancelled")
        elif isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
            errors[name] = TypeError(f"must return a list of documents, got {type(answer).__name__}")
        else:
            lists[name] = list(answer)
    failed = {name: _describe(error) for name, error in errors.items()}
    if errors and on_error == "raise":
        name, error = next(iter(errors.items()))
        advice = "on_error='skip' would go on without it"
        raise RetrieverError(f"retriever {name!r} failed: {failed[name]} ({advice})") from error
    if errors and not lists:
        texts = "; ".join(f"{name!r}: {text}" for name, text in failed.items())
        raise RetrieverError(f"all retrievers failed: {texts}") from next(iter(errors.values()))
    for name, text in failed.items():
        warn_user(f"retriever {name!r} failed, and the result is without it: {text}", RetrieverWarning)
    return Collected(lists, failed)


def _describe(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
