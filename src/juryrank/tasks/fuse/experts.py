"""What a Fuser knows about experts: those of its model, those that a warning has named, and those accepted last."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from juryrank.errors import UnknownNameError, unknown_names, warn_about_data
from juryrank.methods import Aggregator

MOST_WARNED = 10_000  # names of unknown experts that are remembered; they may come from strangers


@dataclass(slots=True)
class ModelExperts:
    """The experts that a model has learned from or has weights for, to compare with those of lists."""

    model: Aggregator
    learned_from: frozenset[str]
    accepted: tuple[Any, ...] | None = None  # names of experts that need no warning
    warned: set[str] = field(default_factory=set)  # unknown experts that a warning has named

    def known(self) -> Set[str]:
        """The experts that the model has learned from, or has weights for."""
        return self.learned_from | set(map(str, getattr(self.model, "weights", None) or ()))

    def check(self, lists: Mapping[str, Any], strict: bool) -> None:
        """Warn of experts that have a weight and no list, and once of each that the model has not learned from."""
        message, new = self.unknown(lists, known=frozenset() if strict else self.warned)
        if message and strict:
            raise UnknownNameError(message)
        if message:
            if len(self.warned) < MOST_WARNED:
                self.warned.update(new)
            warn_about_data(message)
        elif not new:
            self.accepted = tuple(lists)

    def unknown(self, lists: Mapping[str, Any], known: Set[str] = frozenset()) -> tuple[str | None, Set[str]]:
        """The warning about experts, if there is one, and the experts that the model has not learned from.

        Those that are all ``known`` are not named.
        """
        self.model.demand_a_weight(lists)
        new = lists.keys() - self.learned_from if self.learned_from else set[str]()
        messages = [self.model.unknown_weights(lists)]
        if new - known:
            names = unknown_names(new, self.learned_from)
            messages.append(f"{self.model.name}: experts that the model has not learned from: {names}")
        return "; ".join(filter(None, messages)) or None, new
