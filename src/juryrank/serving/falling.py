"""Whether the scores of all lists of a query fall, looked up at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct

import numpy as np


@lru_cache(maxsize=4096)
def packer(size: int) -> Callable[..., bytes]:
    """Packs so many scores between plus and minus infinity, the fastest way from Python's numbers to an array.

    A ``struct.error`` for what is no number.
    """
    return Struct(f"={size + 2}d").pack


def all_fall(packed: Sequence[bytes]) -> bool:
    """Whether the scores of each list are finite, and each is larger than the next; ``packer`` has packed them.

    >>> all_fall([packer(2)(float("inf"), 0.5, 0.4, -float("inf")), packer(1)(float("inf"), 3, -float("inf"))])
    True
    >>> all_fall([packer(2)(float("inf"), 0.5, 0.5, -float("inf"))])
    False
    """
    numbers = np.frombuffer(b"".join(packed))
    # All fall, but where a list follows on another.
    return int(np.count_nonzero(numbers[1:] < numbers[:-1])) == len(numbers) - len(packed)
