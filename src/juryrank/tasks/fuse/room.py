"""What the memory in which compiled code adds up lists has in common, whether they are Python's or JSON text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.kernels.python_objects import BASE

MOST_ENTRIES = 1 << 15  # that have points
PLACES = 1 << 15  # of the hash table, half of which may be used
MOST_ITEMS = PLACES // 2


def all_memory(kind: str) -> NDArray[Any]:
    """The memory of this process from BASE on: kernels find there what they have the address of."""

    class Memory:
        __array_interface__ = {
            "shape": ((1 << 47) // np.dtype(kind).itemsize,),
            "typestr": np.dtype(kind).str,
            "data": (BASE, True),
            "version": 3,
        }

    return np.asarray(Memory())
