"""Long work can be watched: the command line puts bars and remarks here, a library call shows nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Shown = Callable[[Sequence[T], str], Iterable[T]]

_shown: list[Shown] = []  # type: ignore[type-arg]
_heard: list[Callable[[str], None]] = []


def track(work: Sequence[T], text: str) -> Iterable[T]:
    """The work, one piece after the other, shown under ``text`` where somebody watches."""
    return _shown[-1](work, text) if _shown else work


def remark(text: str) -> None:
    """Say something about the work where somebody listens."""
    if _heard:
        _heard[-1](text)


@contextmanager
def heard(listener: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, remarks are handed to ``listener(text)``.

    >>> with heard(print):
    ...     remark("compiling")
    compiling
    """
    _heard.append(listener)
    try:
        yield
    finally:
        _heard.pop()


@contextmanager
def watched(show: Shown) -> Iterator[None]:  # type: ignore[type-arg]
    """While this lasts, tracked work is handed to ``show(work, text)``.

    >>> with watched(lambda work, text: (print(text, piece) or piece for piece in work)):
    ...     list(track([1, 2], "epoch"))
    epoch 1
    epoch 2
    [1, 2]
    """
    _shown.append(show)
    try:
        yield
    finally:
        _shown.pop()
