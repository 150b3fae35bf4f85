"""How often a request is made again, and how long to wait before: for the client and a model as judge."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class Retries:
    """How often a request is made again after a temporary error, and how long to wait before."""

    most: int = 5
    first_wait: float = 1.0  # seconds; doubled from try to try
    longest_wait: float = 60.0
    longest_asked: float = 300.0  # that the other side may ask for with Retry-After
    generator: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after a failed attempt (0 is the first): random in part, so that requests spread out.

        It is never less than the other side asks for, and else at least half of what doubles from try to try.
        """
        if asked is not None:
            return asked + self.generator.uniform(0.0, max(self.first_wait, asked / 10))
        return float(min(self.first_wait * 2**attempt, self.longest_wait) * self.generator.uniform(0.5, 1.0))


def seconds_to_wait(text: str | None) -> float | None:
    """The waiting time of Retry-After: seconds, or a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())
