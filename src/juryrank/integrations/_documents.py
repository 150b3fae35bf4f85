"""Documents of several retrievers in one list: which of them are the same, and their fusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from juryrank.errors import DataError, ParameterError, warn_about_data
from juryrank.tasks.fuse import Fuser
from juryrank.tasks.fuse.detail import FusedItem

D = TypeVar("D")
Key = str | Callable[[Any], Any] | None
MANY = 3  # texts that are no accident, whatever the metadata
ALMOST_NONE = 5  # more texts than that in common for each document are a sign that documents are not recognised


class Identity(Generic[D]):
    """What makes two documents the same.

    ``key`` is None, "id", "text", the name of a metadata field, or a function of the document. None is the id if every
    document has one and the text if none has; if only some have an id, documents of different retrievers could not be
    matched, which is an error. A metadata field named "text" that all documents have comes before their text. Without
    ``text_of``, documents have no text. ``remedy`` is what the warning about other ids proposes.
    """

    def __init__(
        self,
        key: Key,
        *,
        id_of: Callable[[D], Any],
        metadata_of: Callable[[D], Mapping[str, Any]],
        text_of: Callable[[D], Any] | None,
        remedy: str = 'key="text"',
    ) -> None:
        if key is not None and not isinstance(key, str) and not callable(key):
            raise ParameterError(f"key is 'id', 'text', the name of a metadata field or a function, got {key!r}")
        self._key, self._id_of, self._metadata_of, self._text_of = key, id_of, metadata_of, text_of
        self._remedy = remedy

    def keys_of(self, lists: Mapping[str, Sequence[D]]) -> dict[str, list[str]]:
        """The identity of each document of each list, as text."""
        if self._key is None:
            return self._by_id_or_text(lists)
        if callable(self._key):
            of, name = self._key, "what key= gives"
        elif self._key == "id":
            of, name = self._id_of, "the id"
        elif self._key == "text" and self._text_of and not all(map(self._has_field, chain(*lists.values()))):
            of, name = self._text_of, "the text"
        else:
            of, name = self._field, f"the metadata field {self._key!r}"
        keys = {expert: list(map(of, documents)) for expert, documents in lists.items()}
        for expert, found in keys.items():
            if None in found:
                rank = found.index(None) + 1
                raise DataError(f"{expert!r}: the document at rank {rank} has no identity: {name} is missing or None")
        return {expert: _as_texts(found) for expert, found in keys.items()}

    def _field(self, document: D) -> Any:
        return self._metadata_of(document).get(self._key)  # type: ignore[arg-type]

    def _has_field(self, document: D) -> bool:
        return self._field(document) is not None

    def warn_of_other_ids(self, lists: Mapping[str, Sequence[D]], keys: Mapping[str, Sequence[str]]) -> None:
        """A warning if lists have the same texts, and almost no document in common.

        Stores make up ids for documents that have none, other ones in each store.
        """
        if self._text_of is None or callable(self._key):
            return
        documents = _number_shared(keys.values())
        content = [[(self._text_of(each), each) for each in listed] for listed in lists.values()]
        which, texts = "texts", _number_shared([text for text, _ in listed if text] for listed in content)
        if texts < MANY:  # different documents may have a text in common
            which, texts = (
                "texts with the same metadata",
                _number_shared(
                    [(text, repr(self._metadata_of(each))) for text, each in listed if text] for listed in content
                ),
            )
        if texts > ALMOST_NONE * documents:
            field = "id" if self._key in (None, "id") else f"metadata field {self._key!r}"
            warn_about_data(
                f"{texts} {which} are in more than one list, and {documents or 'no'} documents by their {field}: the "
                "same text counts as another document in each list, so that no list confirms another; give "
                f"{self._remedy}, or put the documents into all stores with ids of your own"
            )

    def _by_id_or_text(self, lists: Mapping[str, Sequence[D]]) -> dict[str, list[str]]:
        ids = {expert: list(map(self._id_of, documents)) for expert, documents in lists.items()}
        if all(map(_are_texts, ids.values())):
            return ids  # what most retrievers give
        without = [expert for expert, found in ids.items() if None in found]
        if not without:
            return {expert: _as_texts(found) for expert, found in ids.items()}
        if self._text_of and all(each is None for each in chain.from_iterable(ids.values())):
            return {expert: _as_texts(list(map(self._text_of, documents))) for expert, documents in lists.items()}
        raise DataError(
            f"documents of {', '.join(map(repr, without))} have no id and others have one, so that the same document "
            'cannot be recognised: give key="text", or as key= a metadata field that all have or a function of the '
            "document"
        )


def _number_shared(lists: Iterable[Iterable[Any]]) -> int:
    """How many values are in more than one list."""
    return sum(count > 1 for count in Counter(chain.from_iterable(map(set, lists))).values())


def _are_texts(keys: list[Any]) -> bool:
    try:
        "".join(keys)  # the fastest way to look at every type
    except TypeError:
        return False
    return True


def _as_texts(keys: list[Any]) -> list[str]:
    return keys if _are_texts(keys) else list(map(str, keys))


class Fused(NamedTuple):
    """A document of the result: its score, its rank by retriever, and what each retriever adds to its score."""

    document: Any
    score: float
    ranks: dict[str, float]
    contributions: dict[str, float] | None


class FusedDocuments(NamedTuple):
    """The same for all documents of the result, best first: objects for each would take time."""

    documents: Sequence[Any]
    scores: Collection[float]
    ranks: Collection[dict[str, float]]
    contributions: Collection[dict[str, float] | None]

    @classmethod
    def of(cls, items: Sequence[FusedItem], document_of: Callable[[FusedItem], Any]) -> FusedDocuments:
        """From the items of a ranking."""
        _, *columns = zip(*items, strict=True) if items else [()] * len(FusedItem._fields)
        return cls(list(map(document_of, items)), *columns)

    def details(self, failed: Mapping[str, str]) -> list[dict[str, Any]]:
        """What the metadata of each document says: score, ranks, contributions and the retrievers that failed."""
        details: list[dict[str, Any]] = [
            {"score": score, "ranks": ranks, "contributions": contributions}
            for score, ranks, contributions in zip(self.scores, self.ranks, self.contributions, strict=True)
        ]
        if failed:
            for detail in details:
                detail["failed"] = dict(failed)
        return details


class DocumentFusion(Generic[D]):
    """One list from the lists of several retrievers.

    ``score_of`` gives the score of a document, or None; it is asked only if the method uses scores, and lists of
    which every document has a score go by score. A document that is repeated in a list counts once, where it is first.
    """

    def __init__(self, fuser: Fuser, identity: Identity[D], score_of: Callable[[D], Any] | None = None) -> None:
        self._fuser, self._identity = fuser, identity
        self._score_of = score_of if fuser.uses_scores else None

    def fuse(self, lists: Mapping[str, Sequence[D]], top: int | None = None) -> list[Fused]:
        """The ``top`` documents, best first, each from the list in which it has the best rank."""
        return list(map(Fused, *self.fuse_all(lists, top)))

    def fuse_all(self, lists: Mapping[str, Sequence[D]], top: int | None = None) -> FusedDocuments:
        """The same, all documents together."""
        keys = self._identity.keys_of(lists)
        detail = None if self._score_of is not None else self._fuser.detail_in_order(keys, top)
        if detail is None:
            fused = self._fuse_any(keys, lists, top)
        else:
            scores, ranks, contributions = detail
            fused = FusedDocuments(_highest(lists, ranks), scores.values(), ranks, contributions)
        if len(lists) > 1 and ALMOST_NONE * sum(len(each) > 1 for each in fused.ranks) <= len(fused.ranks):
            self._identity.warn_of_other_ids(lists, keys)  # only now: it takes time
        return fused

    def _fuse_any(
        self, keys: Mapping[str, list[str]], lists: Mapping[str, Sequence[D]], top: int | None
    ) -> FusedDocuments:
        """The same for any method, with scores, and with documents that are repeated in a list."""
        given: dict[str, Any] = {expert: self._given(found, lists[expert]) for expert, found in keys.items()}
        firsts = {  # of equal keys, the last stays
            expert: dict(zip(reversed(found), reversed(lists[expert]), strict=True)) for expert, found in keys.items()
        }

        def document_of(fused: FusedItem) -> D:
            return firsts[min(fused.ranks, key=fused.ranks.__getitem__)][fused.item]

        return FusedDocuments.of(self._fuser.detailed(given, top=top), document_of)

    def _given(self, keys: list[str], documents: Sequence[D]) -> Any:
        """Each document once: its score, or the documents in order where scores do not count or some have none."""
        scores = [None] if self._score_of is None else list(map(self._score_of, documents))
        if any(score is None for score in scores):
            return list(dict.fromkeys(keys))
        return dict(zip(reversed(keys), reversed(scores), strict=True))


def _highest(lists: Mapping[str, Sequence[D]], ranks: Iterable[Mapping[str, Any]]) -> list[D]:
    """For each item, by its ranks, the document of the list in which it is highest, the first of several such lists."""
    by_rank = {expert: each if type(each) is list else _with_positions(each) for expert, each in lists.items()}
    documents = []
    for own in ranks:
        best, highest = 0, ""
        for expert, rank in own.items():  # min() with a key takes three times as long
            if not best or rank < best:
                best, highest = rank, expert
        documents.append(by_rank[highest][best - 1])
    return documents


def _with_positions(documents: Any) -> Any:
    """A list of what has a length but no positions, such as the values of a dict; iterators stay, and are errors."""
    return documents if hasattr(documents, "__getitem__") or not hasattr(documents, "__len__") else list(documents)
