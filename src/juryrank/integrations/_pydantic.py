"""Copies of the documents of frameworks that define them by pydantic."""

from collections import deque
from collections.abc import Mapping, Sequence, Set
from itertools import repeat
from operator import or_
from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

# What a model consists of, as descriptors: reading and writing attributes by name takes longer.
_SLOTS = [
    vars(BaseModel)[name]
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
]
get_values, get_names, _, _ = (slot.__get__ for slot in _SLOTS)
set_values, set_names, set_extra, set_private = (slot.__set__ for slot in _SLOTS)
new: Any = object.__new__


class _IsPlain(dict[type[BaseModel], bool]):
    """Whether models of a class have fields and nothing else to copy."""

    def __missing__(self, cls: type[BaseModel]) -> bool:
        self[cls] = plain = (
            not cls.__private_attributes__
            and cls.model_config.get("extra") != "allow"
            and cls.model_copy is BaseModel.model_copy
            and cls.__copy__ is BaseModel.__copy__
        )
        return plain


IS_PLAIN = _IsPlain()


def values_of(models: Sequence[BaseModel]) -> list[dict[str, Any]]:
    """The values of each model by field, which may be changed."""
    return list(map(dict.copy, map(get_values, models)))


def with_values(models: Sequence[M], values: Sequence[dict[str, Any]], changed: Set[str]) -> list[M]:
    """Copies of the models with these values, which become theirs; those of the fields ``changed`` are new.

    The same as ``model.model_copy(update=...)`` of each, in a third of the time: each step is one for all models.
    """
    if not all(map(IS_PLAIN.__getitem__, {*map(type, models)})):
        return [copy_any(model, own, changed) for model, own in zip(models, values, strict=True)]
    copies: list[M] = list(map(object.__new__, map(type, models)))
    deque(map(set_values, copies, values), maxlen=0)
    deque(map(set_names, copies, map(or_, map(get_names, models), repeat(changed))), maxlen=0)
    deque(map(set_extra, copies, repeat(None)), maxlen=0)
    deque(map(set_private, copies, repeat(None)), maxlen=0)
    return copies


def copy_any(model: M, values: Mapping[str, Any], changed: Set[str]) -> M:
    """The same for one model of any class, by pydantic."""
    return model.model_copy(update={name: values[name] for name in changed})


def with_changes(model: M, changes: Mapping[str, Any]) -> M:
    """As ``model.model_copy(update=changes)``."""
    return with_values([model], [{**get_values(model), **changes}], changes.keys())[0]
