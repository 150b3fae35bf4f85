"""``JuryJoiner``: fuses the lists of several Haystack retrievers, each with an input of its own."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from haystack import Document, component, default_from_dict, default_to_dict

from juryrank.errors import ParameterError, RetrieverError, RetrieverWarning, UnknownNameError, unknown_names, warn_user
from juryrank.integrations._documents import Key
from juryrank.integrations._haystack import HaystackFusion, with_function
from juryrank.integrations._retrieval import Model

__all__ = ["JuryJoiner"]


@component
class JuryJoiner:
    """Fuses the documents of several retrievers with a learned model, or with a method and its parameters.

    The component has one input for each name in ``experts``, such as "bm25" and "dense"; the names are those that the
    model knows: ``pipeline.connect("bm25_retriever", "joiner.bm25")``. ``model`` is a fitted method or the path of a
    saved one; without a model, ``method`` (default "rrf"), ``weights`` by expert, and further parameters of the method.

    Documents of two experts are the same if their ``key`` is the same: None or "id" is the id, "text" the content,
    another string a field of ``meta``, and a function is called with each document. ``top_k`` is the length of the
    result, None for all.

    An input that is not connected, or gets nothing because its branch of the pipeline did not run, is an error with
    ``on_missing="raise"``; with "skip", the others are fused without it, with a warning. An empty list is not missing.

    The score of a resulting document is the fused one; ``meta["juryrank"]`` has its ranks and contributions by expert.
    Documents are copied, never changed.
    """

    def __init__(
        self,
        experts: Sequence[str],
        model: Model | None = None,
        *,
        method: str | None = None,
        weights: Mapping[str, float] | None = None,
        top_k: int | None = 10,
        key: Key = None,
        on_missing: Literal["raise", "skip"] = "raise",
        **params: Any,
    ) -> None:
        if on_missing not in ("raise", "skip"):
            raise ParameterError(f"on_missing must be 'raise' or 'skip', got {on_missing!r}")
        self._experts = _names(experts)
        self._on_missing = on_missing
        self._fusion = HaystackFusion(self._experts, model, method, weights, params, top_k, key)
        for expert in self._experts:
            component.set_input_type(self, expert, list[Document] | None, None)

    @component.output_types(documents=list[Document], failed=dict[str, str])
    def run(self, top_k: int | None = None, **lists: list[Document] | None) -> dict[str, Any]:
        """Fuse the lists of the experts.

        :param top_k: The length of the result; by default that of the component. 0 gives no documents.
        :param lists: The documents of each expert, best first.
        :returns: ``documents``, best first, and ``failed``, the experts without a list and why.
        """
        if lists.keys() - set(self._experts):
            raise UnknownNameError(
                f"no such experts: {unknown_names(lists.keys() - set(self._experts), self._experts)}"
            )
        failed = {expert: "no list has arrived" for expert in self._experts if lists.get(expert) is None}
        self._report(failed)
        given = {expert: lists.get(expert) or [] for expert in self._experts}  # an empty list contributes nothing
        return {"documents": self.fuse_documents(given, top_k), "failed": failed}

    def fuse_documents(self, lists: Mapping[str, Sequence[Document]], top_k: int | None = None) -> list[Document]:
        """The fusion alone: one list from the documents of each expert, best first."""
        return self._fusion.fuse(lists, top_k)

    def _report(self, failed: Mapping[str, str]) -> None:
        """The error or the warning for experts without a list."""
        if not failed:
            return
        names = ", ".join(map(repr, failed))
        if len(failed) == len(self._experts):
            raise RetrieverError(f"no list has arrived from any expert: {names}; connect retrievers to these inputs")
        if self._on_missing == "raise":
            raise RetrieverError(
                f"no list has arrived from {names}: connect a retriever to each input of the joiner; "
                "on_missing='skip' would go on without"
            )
        warn_user(f"no list has arrived from {names}, and the result is without", RetrieverWarning)

    def to_dict(self) -> dict[str, Any]:
        """The component as plain data, for YAML."""
        data: dict[str, Any] = default_to_dict(
            self, experts=list(self._experts), on_missing=self._on_missing, **self._fusion.settings()
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "JuryJoiner":
        """The component from the data of ``to_dict``."""
        made: JuryJoiner = default_from_dict(cls, with_function(data))
        return made


def _names(experts: Any) -> tuple[str, ...]:
    """The names of the experts, which become inputs."""
    if isinstance(experts, str) or not isinstance(experts, Sequence) or not experts:
        raise ParameterError(
            f"experts is a list of names, one for each input, such as ['bm25', 'dense'], got {experts!r}"
        )
    for name in experts:
        if not isinstance(name, str) or not name or name in ("top_k", "self"):
            raise ParameterError(
                f"the name of an expert is text, and neither 'top_k', which is another input, nor 'self', got {name!r}"
            )
    if len(set(experts)) < len(experts):
        raise ParameterError(f"each expert needs a name of its own, got {list(experts)}")
    return tuple(experts)
