"""Copies of the documents of frameworks that define them by pydantic."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

# What a model consists of, as descriptors: reading and writing attributes by name takes longer.
_SLOTS = [
    vars(BaseModel)[name]
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
]
get_values, get_names, get_extra, get_private = (slot.__get__ for slot in _SLOTS)
set_values, set_names, set_extra, set_private = (slot.__set__ for slot in _SLOTS)


def with_changes(model: M, changes: Mapping[str, Any]) -> M:
    """As ``model.model_copy(update=changes)``, in half the time, which counts for hundreds of documents."""
    if get_private(model) is not None or get_extra(model) is not None:
        return model.model_copy(update=changes)
    copied = object.__new__(type(model))
    set_values(copied, {**get_values(model), **changes})
    set_names(copied, {*get_names(model), *changes})
    set_extra(copied, None)
    set_private(copied, None)
    return copied
