"""Copies of the documents of frameworks that define them by pydantic."""

from collections.abc import Mapping
from typing import Any, TypeVar

M = TypeVar("M")
SET = object.__setattr__  # as pydantic itself sets these attributes


def with_changes(model: M, changes: Mapping[str, Any]) -> M:
    """As ``model.model_copy(update=changes)``, in about half the time, which counts for hundreds of documents."""
    given: Any = model
    if given.__pydantic_private__ is not None or given.__pydantic_extra__ is not None:
        return given.model_copy(update=changes)  # type: ignore[no-any-return]
    copied = object.__new__(type(model))
    SET(copied, "__dict__", {**given.__dict__, **changes})
    SET(copied, "__pydantic_fields_set__", given.__pydantic_fields_set__ | changes.keys())
    SET(copied, "__pydantic_extra__", None)
    SET(copied, "__pydantic_private__", None)
    return copied
