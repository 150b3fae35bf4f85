"""The one hook for progress: the library calls ``track`` and ``remark``, the command line shows them; else silent."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Bar = Callable[[Sequence[Any], str], Iterable[Any]]
Listener = Callable[[str], None]

_bars: list[Bar] = []
_listeners: list[Listener] = []


def track(work: Sequence[T], text: str) -> Iterable[T]:
    """The pieces of work in order, shown as progress under ``text`` within ``show_progress``."""
    return _bars[-1](work, text) if _bars else work


def remark(text: str) -> None:
    """A message about the work, shown within ``show_remarks``."""
    if _listeners:
        _listeners[-1](text)


@contextmanager
def show_remarks(listener: Listener) -> Iterator[None]:
    """Within this context, remarks are passed to ``listener(text)``.

    >>> with show_remarks(print):
    ...     remark("compiling")
    compiling
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.pop()


@contextmanager
def show_progress(bar: Bar) -> Iterator[None]:
    """Within this context, tracked work is passed to ``bar(work, text)``.

    >>> with show_progress(lambda work, text: (print(text, piece) or piece for piece in work)):
    ...     list(track([1, 2], "epoch"))
    epoch 1
    epoch 2
    [1, 2]
    """
    _bars.append(bar)
    try:
        yield
    finally:
        _bars.pop()
