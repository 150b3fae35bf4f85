"""Methods inside methods: fitted members as plain learned state, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.methods.base import Aggregator


def made(name: str, params: Mapping[str, Any]) -> Aggregator:
    """An unfitted member by name; parameters that it does not have are left out."""
    from juryrank.methods import method

    known = method(name).params()
    return method(name, **{key: value for key, value in params.items() if key in known})


def fitted(name: str, params: Mapping[str, Any], data: Dataset, valid: Dataset | None) -> Aggregator:
    """A member fitted on the data."""
    return made(name, params).fit(data, valid=valid)


def kept(member: Aggregator) -> dict[str, Any]:
    """What is kept of a fitted member."""
    return {"name": member.name, "params": member.params(), "learned": member.learned()}


def restored(state: Mapping[str, Any]) -> Aggregator:
    """The fitted member that was kept."""
    from juryrank.methods import METHODS

    if state["name"] not in METHODS:
        raise DataError(f"no method {state['name']!r} in this version of juryrank")
    return METHODS[state["name"]].from_learned(state["params"], state["learned"])
