from collections.abc import Callable, Mapping
from typing import Any

def fuse_lists(
    lists: Mapping[Any, Any],
    order: list[Any],
    curves: list[bytes],
    top: int | None,
    dropped: Any,
    by_name: bool,
    share_ties: bool,
    detailed: bool = False,
) -> Any: ...
def combine_lists(
    sources: list[Any], combine: Callable[..., bytes | None], top: int | None, dropped: Any
) -> dict[Any, float] | None: ...
