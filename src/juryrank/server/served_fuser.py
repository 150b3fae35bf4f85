"""A Fuser for many callers, each of whom is told about the experts of the own lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juryrank.tasks.fuse import Fuser


class ServedFuser(Fuser):
    """A Fuser that leaves warnings about experts to ``expert_warning``.

    A Fuser names an unknown expert once and remembers it, which is right for one program. Here the second caller must
    be told as well, and names that strangers send are not kept.
    """

    __slots__ = ()

    def expert_warning(self, lists: Mapping[str, Any]) -> str | None:
        """What to say about the experts of these lists; names in the same order as before need no second look."""
        names = tuple(lists)
        if names == self._experts.accepted:
            return None
        message, unknown = self._experts.unknown(lists)
        if message is None and not unknown:
            self._experts.accepted = names
        return message

    def _check_experts(self, lists: Mapping[str, Any], strict: bool) -> None:
        """Nothing: the caller has asked for ``expert_warning``."""
