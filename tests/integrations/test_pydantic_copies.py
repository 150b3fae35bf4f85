"""Copies of documents are those that pydantic makes, of every kind of model."""

import pickle
from functools import cached_property
from typing import Any

import pytest

pytest.importorskip("pydantic")

from pydantic import BaseModel, ConfigDict, PrivateAttr

from juryrank.integrations._pydantic import values_of, with_changes, with_values


class Plain(BaseModel):
    text: str = ""
    metadata: dict[str, Any] = {}
    score: float | None = None

    @cached_property
    def size(self) -> int:
        return len(self.text)


class Frozen(Plain):
    model_config = ConfigDict(frozen=True)


class Open(Plain):
    model_config = ConfigDict(extra="allow")


class Secret(Plain):
    _secret: str = PrivateAttr("none")

    def remember(self, secret: str) -> None:
        self._secret = secret


@pytest.mark.parametrize("model", [Plain, Frozen, Open, Secret])
def test_a_copy_is_what_model_copy_gives_and_leaves_the_original_alone(model: type[Plain]) -> None:
    given = model(text="tea", metadata={"page": 1}, **({"note": "hot"} if model is Open else {}))
    assert given.size == 3
    if isinstance(given, Secret):
        given.remember("milk")
    before = given.model_copy(deep=True)
    changes = {"metadata": {"page": 1, "juryrank": {"score": 0.5}}, "score": 0.5}
    copied, expected = with_changes(given, changes), given.model_copy(update=changes)
    assert type(copied) is model
    assert copied == expected == pickle.loads(pickle.dumps(copied))
    assert vars(copied) == vars(expected)
    assert copied.model_fields_set == expected.model_fields_set
    assert copied.model_dump_json() == expected.model_dump_json()
    assert (repr(copied), copied.model_extra) == (repr(expected), expected.model_extra)
    assert getattr(copied, "_secret", None) == getattr(expected, "_secret", None)
    assert given == before
    assert given.model_fields_set == before.model_fields_set


@pytest.mark.parametrize("kinds", [[Plain, Frozen, Plain], [Plain, Secret, Open]])
def test_copies_of_several_models_are_those_of_each(kinds: list[type[Plain]]) -> None:
    given = [kind(text="tea", metadata={"page": n}) for n, kind in enumerate(kinds)]
    before = [model.model_copy(deep=True) for model in given]
    values = values_of(given)
    for n, own in enumerate(values):
        own["score"] = n / 2
    copies = with_values(given, values, {"score"})
    assert copies == [model.model_copy(update={"score": n / 2}) for n, model in enumerate(given)]
    assert [copy.model_fields_set for copy in copies] == [{"text", "metadata", "score"}] * 3
    assert given == before
    assert [model.model_fields_set for model in given] == [{"text", "metadata"}] * 3


def test_a_model_that_copies_itself_is_asked_for_its_copy() -> None:
    class Counted(Plain):
        def __copy__(self) -> "Counted":
            copied = super().__copy__()
            object.__setattr__(copied, "text", self.text + "'")
            return copied

    assert with_changes(Counted(text="tea"), {"score": 1.0}).text == "tea'"
