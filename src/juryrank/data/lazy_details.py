"""Details of a consensus that are computed when they are first looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from juryrank.data.arrays import Ints

Details = Mapping[str, NDArray[Any]]


class LazyDetails(Mapping[str, NDArray[Any]]):
    """Values of each query by name, computed together when one of them is first asked for."""

    def __init__(self, names: Sequence[str], compute: Callable[[], Details]) -> None:
        self._names, self._compute = tuple(names), compute
        self._values: Details | None = None

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        if self._values is None:
            self._values = self._compute()
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the values: what computes them may not be picklable, or large."""
        return dict, (dict(self),)


def take_details(details: Details, chosen: Ints) -> Details:
    """The details of the chosen queries; what was not computed still is not."""
    if isinstance(details, LazyDetails):
        return LazyDetails(tuple(details), lambda: {name: details[name][chosen] for name in details})
    return {name: values[chosen] for name, values in details.items()}
