"""Errors and warnings.

::

    JuryrankError            base class: the user can fix it, and the message says how
    ├── DataError            data cannot be read, or its parts do not match
    ├── ParameterError       a parameter of a method or metric is out of bounds
    ├── UnknownNameError     there is no method, metric, format or expert of that name
    ├── NotFittedError       predict was called before fit
    ├── PluginError          a plugin cannot be loaded, or its class is not a method
    ├── MissingExtraError    an optional dependency is not installed
    ├── ForkError            this cannot be done in a forked process
    ├── EndpointError        a model that is asked to judge cannot be reached, or refuses
    ├── RetrieverError       a retriever that is asked for its list fails, or takes too long
    └── ServiceError         juryrank serve cannot be reached, or refuses a request

    JuryrankWarning          base class
    ├── DataWarning          data was dropped or repaired; the message says what and how often
    ├── RetrieverWarning     a retriever failed or took too long, and its list is missing from the result
    └── ConvergenceWarning   an iteration did not converge; the last estimate is used
"""

import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Packages to skip on the way to the user's line: ours, our with statements, and frameworks that call our adapters.
OWN_CODE = (
    "juryrank", "contextlib", "haystack", "haystack_integrations", "langchain_core", "llama_index",
    "llama_index_instrumentation", "pyterrier",
)  # fmt: skip


class JuryrankError(Exception):
    """Base class of all errors that a user can fix; the message says how."""


class DataError(JuryrankError):
    """Data that cannot be read, or whose parts do not match."""


class ParameterError(JuryrankError):
    """A parameter that is unknown or out of bounds."""


class UnknownNameError(JuryrankError):
    """A name that is not in the catalogue."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> "UnknownNameError":
        """The error for ``name``, with the nearest known name first.

        >>> UnknownNameError.of("method", "bordo", ["borda", "rrf"])
        UnknownNameError("no method 'bordo'; did you mean 'borda'? known: borda, rrf")
        """
        names = sorted(known)
        near = nearest_name(name, names)
        hint = f" did you mean {near[0]!r}?" if near else ""
        return cls(f"no {kind} {name!r};{hint} known: {', '.join(names)}")


def nearest_name(name: str, known: list[str]) -> list[str]:
    """The known name that is nearest to ``name``, or nothing if none is near."""
    from difflib import get_close_matches  # only errors need it, and every command imports this module

    return get_close_matches(name, known, n=1)


def unknown_names(unknown: Iterable[str], known: Iterable[str], most: int = 5) -> str:
    """The part of a message about unknown names: the nearest known name of each, and the known names.

    >>> unknown_names(["bm52"], ["dense", "bm25"])
    "bm52 (did you mean 'bm25'?); known: bm25, dense"
    """
    names, wrong = sorted(known), sorted(unknown)
    near = {name: nearest_name(name, names) for name in wrong[:most]}
    told = [f"{name} (did you mean {found[0]!r}?)" if found else name for name, found in near.items()]
    more = f" and {len(wrong) - most} more" if len(wrong) > most else ""
    rest = f" and {len(names) - 2 * most} more" if len(names) > 2 * most else ""
    return f"{', '.join(told)}{more}; known: {', '.join(names[: 2 * most]) or 'none'}{rest}"


class NotFittedError(JuryrankError):
    """A method was used before it was fitted."""


class PluginError(JuryrankError):
    """A plugin that cannot be loaded, or whose class is not a method."""


class MissingExtraError(JuryrankError, ImportError):
    """An optional dependency that is not installed."""

    @classmethod
    def of(cls, extra: str, need: str) -> "MissingExtraError":
        """The error that says what is needed and how to install it.

        >>> MissingExtraError.of("plots", "plots need matplotlib")
        MissingExtraError("plots need matplotlib: pip install 'juryrank[plots]'")
        """
        return cls(f"{need}: pip install 'juryrank[{extra}]'")


class ForkError(JuryrankError):
    """A forked process lacks the threads that this operation needs."""


class EndpointError(JuryrankError):
    """A model that cannot be reached, or refuses to answer."""


class RetrieverError(JuryrankError):
    """A retriever that fails, or takes too long."""


class ServiceError(JuryrankError):
    """A service that cannot be reached (``status`` is None), or refuses a request; its log has the ``request_id``."""

    def __init__(self, message: str, *, status: int | None = None, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status, self.request_id = status, request_id


class JuryrankWarning(UserWarning):
    """Base class of all warnings."""


class DataWarning(JuryrankWarning):
    """Data was dropped or repaired."""


class RetrieverWarning(JuryrankWarning):
    """A retriever failed or took too long; the result is without its list."""


class ConvergenceWarning(JuryrankWarning):
    """An iteration that did not converge; the last estimate is kept."""


def warn_not_converged(name: str, what: str, max_iter: int, advice: str = "raise max_iter or tol") -> None:
    """Warn, at the line of the user's code, that ``what`` did not converge in ``max_iter`` steps.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_not_converged("mc4", "3 of 25 queries", 200)
    >>> print(caught[0].message)
    mc4: 3 of 25 queries did not converge after 200 steps; raise max_iter or tol
    """
    warn_user(f"{name}: {what} did not converge after {max_iter} steps; {advice}", ConvergenceWarning)


_HELD: ContextVar[list[str] | None] = ContextVar("_HELD", default=None)


def warn_about_data(text: str) -> None:
    """Warn, at the line of the user's code, about something in the data."""
    if (held := _HELD.get()) is None:
        warn_user(text, DataWarning)
    else:
        held.append(text)


@contextmanager
def one_warning_for_all(names: Collection[str]) -> Iterator[None]:
    """Hold warnings about data back, and give one for all sources with these names of which the same is said.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with one_warning_for_all(["a.csv", "b.csv", "c.csv"]):
    ...         for name in "acb":
    ...             warn_about_data(f"{name}.csv: 1 row is dropped")
    >>> print(caught[0].message)
    3 files (a.csv, c.csv and 1 more): 1 row is dropped
    """
    held: list[str] = []
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
        sources: dict[str, list[str]] = {}  # by what is said of them
        for text in dict.fromkeys(held):
            name, colon, said = text.partition(": ")
            sources.setdefault(*((said, []) if colon and name in names else (text, []))).append(name)
        for said, of in sources.items():
            if said in held:
                warn_about_data(said)
            elif len(of) == 1:
                warn_about_data(f"{of[0]}: {said}")
            else:
                more = f" and {len(of) - 2} more" if len(of) > 2 else ""
                joined = f"{of[0]}, {of[1]}{more}" if more else f"{of[0]} and {of[1]}"
                warn_about_data(f"{len(of)} files ({joined}): {said}")


def warn_user(text: str, category: type[JuryrankWarning]) -> None:
    """Warn at the nearest line of code outside juryrank."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OWN_CODE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def refuse_warnings() -> Iterator[None]:
    """Turn the first DataWarning in the block into a DataError."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        try:
            yield
        except DataWarning as warning:
            raise DataError(f"{warning}; refused because strict") from None
