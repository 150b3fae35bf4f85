"""Methods inside methods: the state of a fitted member as a learned value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any

from juryrank.data import Dataset
from juryrank.errors import DataError, JuryrankError
from juryrank.methods.base import Aggregator
from juryrank.methods.learned_fields import Sizes, first_fault
from juryrank.methods.plugins import missing_method

STATE = ("name", "params", "learned")


@dataclass(frozen=True, eq=False)
class SharedFit:
    """A fitted member, and what it was fitted with."""

    data: Dataset
    valid: Dataset | None
    params: dict[str, Any]
    member: Aggregator


SHARED_FITS: ContextVar[list[SharedFit] | None] = ContextVar("SHARED_FITS", default=None)


@dataclass(frozen=True)
class Member:
    """A learned value: the state of a fitted member."""

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        try:
            load_member(value)
        except JuryrankError as error:
            return f"must be a fitted method, but {error}"
        return None


@dataclass(frozen=True)
class MemberList:
    """A learned value: the states of the members with these names."""

    names: tuple[str, ...]

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        names = [state.get("name") for state in value if isinstance(state, dict)] if isinstance(value, list) else value
        if names != list(self.names):
            return f"must be fitted methods {', '.join(self.names)}, found {shortened(names)}"
        return first_fault(Member(), value, sizes)


def new_member(name: str, params: Mapping[str, Any]) -> Aggregator:
    """An unfitted member by name; parameters that it does not have are left out."""
    from juryrank.methods import method

    known = method(name).params()
    return method(name, **{key: value for key, value in params.items() if key in known})


def fit_member(name: str, params: Mapping[str, Any], data: Dataset, valid: Dataset | None) -> Aggregator:
    """A member fitted on the data; inside ``share_fits``, the one that was fitted before where it would be the same."""
    member = new_member(name, params)
    fits = SHARED_FITS.get()
    labelled = data if member.uses_label_weights else data.ignoring_label_weights  # the method around it has no warning
    if fits is None:
        return member.fit(labelled, valid=valid)
    member.check()
    used, params = valid if member.validates else None, member.params()
    if fits and fits[0].data is not data:
        fits.clear()
    for fit in fits:
        if fit.valid is used and type(fit.member) is type(member) and fit.params == params:
            return fit.member
    fits.append(SharedFit(data, used, params, member.fit(labelled, valid=valid)))
    return member


@contextmanager
def share_fits() -> Iterator[None]:
    """Inside, a member needed again on the data of the last fit, alone or as part of another, is not fitted again."""
    token = SHARED_FITS.set([])
    try:
        yield
    finally:
        SHARED_FITS.reset(token)


def member_state(member: Aggregator) -> dict[str, Any]:
    """The state of a fitted member, from which ``load_member`` makes it again."""
    return dict(zip(STATE, (member.name, member.params(), member.learned()), strict=True))


def load_member(state: Any) -> Aggregator:
    """The fitted member with this state; a DataError where the state is damaged."""
    from juryrank.methods import METHODS

    if not isinstance(state, dict) or set(state) != set(STATE):
        raise DataError(f"a fitted method has {', '.join(STATE)}, found {shortened(state)}")
    if not isinstance(state["name"], str) or state["name"] not in METHODS:
        raise DataError(f"it needs {missing_method(state['name'])}")
    return METHODS[state["name"]].from_learned(state["params"], state["learned"])
