"""``Fuser``: a method prepared to fuse the lists of one query after another, by its formula or by a Dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from juryrank.data.draws import demand_request
from juryrank.data.names import natural_key
from juryrank.data.nested_lists import ManyQueries, Queries, read_many
from juryrank.data.plain_lists import Dropped
from juryrank.data.shapes import Key, are_nested, as_item_list, by_name, without_iterators
from juryrank.data.values import demand_values, distances_as_scores, scores_of_distances
from juryrank.errors import DataError, ParameterError
from juryrank.methods import Aggregator
from juryrank.methods.formula import fast_formula
from juryrank.models import as_method
from juryrank.tasks.fuse.by_dataset import ONE, by_query, clean_one, fuse_item_lists, rank_cleaned, runs_of_one
from juryrank.tasks.fuse.detail import Detail, FusedItem
from juryrank.tasks.fuse.experts import ModelExperts
from juryrank.tasks.fuse.exploration import Exploration, Explored, Weighting, positions_over
from juryrank.tasks.fuse.formula_sums import FormulaSums

LISTS = frozenset((list,))


def sums_of(model: Aggregator, weighting: Weighting | None = None) -> FormulaSums | None:
    """How one query is fused without a Dataset; None where a method needs one, or has no weights to vary."""
    formula = fast_formula(model)
    if formula is not None and weighting is not None:
        weighted = formula.points is not None or formula.rule in ("sum", "mean") or "weights" in model.params()
        formula = weighting.apply(formula) if weighted else None
    return None if formula is None else FormulaSums(formula, by_name=not model.ties_by_appearance)


def lists_of_one(
    lists: Mapping[Any, Any] | Iterable[Any], values: str, key: Key, top: int | None, function: str
) -> tuple[Mapping[str, Any], str, Key]:
    """The lists by name, which must be those of one query, what their numbers are, and the key of their elements."""
    demand_options(values, top)
    named = without_iterators(by_name(lists))
    if are_nested(named):
        raise DataError(f"{function} takes the lists of one query; call it once for each query")
    return (distances_as_scores(named, key), "score", None) if values == "distance" else (named, values, key)


def demand_options(values: str, top: int | None) -> None:
    """An error for options that have no meaning."""
    demand_values(values)
    if top is not None and (not isinstance(top, int | np.integer) or top < 1):
        raise ParameterError(f"top must be a whole number >= 1, or None for all items, got {top!r}")


class Fuser:
    """A method, prepared once to fuse the lists of one query after another.

    ``model`` is a fitted method, the name of a method (with its parameters) or the path of a saved model; a string
    with a dot or a slash is a path. A Fuser does not change: if the parameters of the model change, it is fitted again
    or the file is replaced, create a new one. Call it with the lists, and with the options of ``fuse`` for lists:

    >>> fuser = Fuser("rrf", k=10)
    >>> fuser({"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}})
    {'b': 0.174..., 'a': 0.090..., 'c': 0.083...}
    >>> fuser([["a", "b"], ["b", "c"]], top=1)
    {'b': 0.174...}

    ``explore`` varies the weights of the experts from request to request, so that clicks show what other weights would
    give: the spread of the weights, such as 0.3, or an ``Exploration``. Calls then need ``request``, the id of the
    request, from which its weights follow: the same id has the same weights in every process and thread. ``explored``
    also gives the probabilities that a click log needs.

    >>> exploring = Fuser("rrf", explore=0.5)
    >>> shown = exploring.explored({"bm25": ["a", "b"], "dense": ["c", "d"]}, request="r2", top=1)
    >>> shown.ranking == exploring({"bm25": ["a", "b"], "dense": ["c", "d"]}, request="r2", top=1)
    True
    >>> shown.propensity
    {'a': 0.5}
    """

    __slots__ = ("_experts", "_model", "_named", "_sums")

    def __new__(
        cls,
        model: Aggregator | str | os.PathLike[str] = "rrf",
        *,
        explore: float | Exploration | None = None,
        **params: Any,
    ) -> Self:
        """A Fuser that explores is of another class, so that the others do not have to ask."""
        explores = Exploration.of(explore) is not None
        made: Any = object.__new__(_ExploringFuser if explores and cls is Fuser else cls)
        return made  # type: ignore[no-any-return]

    def __init__(
        self,
        model: Aggregator | str | os.PathLike[str] = "rrf",
        *,
        explore: float | Exploration | None = None,
        **params: Any,
    ) -> None:
        self._model = as_method(model, params)
        if self._model.supervised and not self._model.is_fitted:
            raise DataError(f"{self._model.name} learns from labels: fit it first, and give the fitted model")
        self._sums = sums_of(self._model)
        learned_from = self._model.experts_seen() if self._model.is_fitted else frozenset[str]()
        self._experts = ModelExperts(self._model, learned_from)
        self._named = bool(learned_from or getattr(self._model, "weights", None))  # whether names of experts matter

    def __repr__(self) -> str:
        return f"Fuser({self._model!r})"

    def __call__(
        self,
        lists: Mapping[Any, Any] | Iterable[Any],
        *,
        values: str = "score",
        key: Key = None,
        top: int | None = None,
        strict: bool = False,
        queries: Queries | None = None,
        request: Any = None,
    ) -> dict[Any, Any]:
        """One ranking from the lists of several experts, best first; ``fuse`` documents shapes and options.

        ``request`` is the id of the request; it matters only with ``explore``.
        """
        if top is not None or values != "score":
            demand_options(values, top)
        given: Mapping[Any, Any] = lists if isinstance(lists, Mapping) else by_name(lists)
        if queries is not None or not LISTS.issuperset(map(type, given.values())):
            given = without_iterators(given)
            if queries is not None or are_nested(given):
                nested = queries or (None if isinstance(lists, Mapping) else "inner")  # experts may have no names
                return self._fuse_many(
                    read_many(given, nested, self._experts.known(), key, values), values, key, top, strict
                )
        if values == "distance":
            given, values, key = distances_as_scores(given, key), "score", None
        if type(given) is not dict:
            given = by_name(given)
        if self._named and tuple(given) != self._experts.accepted:
            given = by_name(given)
            self._check_experts(given, strict)
        return self._fuse_one(given, values, key, top)

    def explored(
        self,
        lists: Mapping[Any, Any] | Iterable[Any],
        *,
        request: Any,
        values: str = "score",
        key: Key = None,
        top: int | None = 10,
        strict: bool = False,
    ) -> Explored:
        """The ranking of the same call, of one query, with the probability of its items at their positions.

        With ``explore``, this takes as long as one call for each variant. Without, all probabilities are 1.
        """
        name = demand_request(request, "explored()")
        named, values, key = lists_of_one(lists, values, key, top, "explored()")
        weighting, rankings = self._rank_by_variants(named, name, values, key, top, strict)
        ranking = rankings[weighting.variant]
        return Explored(
            ranking=ranking,
            request=name,
            variant=weighting.variant,
            weights={expert: weighting(expert) for expert in named},
            positions=positions_over(rankings, ranking),
        )

    @property
    def uses_scores(self) -> bool:
        """Whether the scores of the lists matter, and not only their order."""
        return self._model.uses_scores

    @property
    def is_plain(self) -> bool:
        """Whether one query is fused by a formula, in about the time of sorting its items; else by a Dataset."""
        return self._sums is not None

    def detailed(
        self,
        lists: Mapping[Any, Any] | Iterable[Any],
        *,
        values: str = "score",
        key: Key = None,
        top: int | None = None,
        strict: bool = False,
        request: Any = None,
    ) -> list[FusedItem]:
        """The ranking of the same call, of one query, with the ranks of its items by expert and what each expert adds.

        >>> Fuser("rrf", k=1).detailed({"bm25": ["a", "b"], "dense": ["b"]}, top=1)
        [FusedItem(item='b', score=0.8333333333333333, ranks={'bm25': 2, 'dense': 1},
                   contributions={'bm25': 0.3333333333333333, 'dense': 0.5})]
        """
        named, values, key = lists_of_one(lists, values, key, top, "detailed()")
        if self._named and tuple(named) != self._experts.accepted:
            self._check_experts(named, strict)
        if key is None and values == "score" and self._sums is not None:
            detail = self._sums.detailed(named, top)
            if detail is not None:
                return detail.items
        cleaned = clean_one(self._model, named, values, key)
        ranked = rank_cleaned(self._model, self._sums, cleaned, top)
        added = None if self._sums is None else self._sums.formula.contributions(cleaned)
        return Detail.of(ranked, cleaned, added).items

    def detail_in_order(self, lists: Mapping[str, list[str]], top: int | None) -> Detail | None:
        """What ``detailed`` gives for lists of text, best first, in less time, for adapters.

        None where a list repeats an item, and for methods that do not add up points by rank.
        """
        demand_options("score", top)
        detail = None if self._sums is None else self._sums.detailed(lists, top)
        if detail is not None and self._named and tuple(lists) != self._experts.accepted:
            self._check_experts(lists, strict=False)
        return detail

    def _rank_by_variants(
        self, lists: Mapping[str, Any], request: str, values: str, key: Key, top: int | None, strict: bool
    ) -> tuple[Weighting, list[dict[Any, float]]]:
        """The factors of the weights of a request, and the ranking of every variant; without exploration, of one."""
        return Weighting(Exploration(spread=0.0), 0), [self(lists, values=values, key=key, top=top, strict=strict)]

    def _check_experts(self, lists: Mapping[str, Any], strict: bool) -> None:
        """Warn of experts that are not those of the model; with ``strict``, an error."""
        self._experts.check(lists, strict)

    def _fuse_one(self, lists: Mapping[Any, Any], values: str, key: Key, top: int | None) -> dict[Any, float]:
        if self._sums is not None and key is None and values == "score":
            dropped = Dropped()
            fused = self._sums.compiled(lists, dropped, top)
            if fused is not None:
                dropped.warn()
                return fused
        return fuse_item_lists(self._model, self._sums, runs_of_one(lists, values, key), values, top).get(ONE, {})

    def _fuse_many(
        self, given: ManyQueries, values: str, key: Key, top: int | None, strict: bool
    ) -> dict[Any, dict[Any, float]]:
        if self._named:
            self._check_experts(given.experts, strict)
        fused = self._fuse_compiled(given.lists, top) if key is None and values == "score" else None
        if fused is None:
            named = {
                (expert, query): as_item_list(listed, f"expert {expert!r}, query {query!r}", key, values)
                for (expert, query), listed in given.lists.items()
            }
            if values == "distance":
                named, values = {pair: scores_of_distances(listed) for pair, listed in named.items()}, "score"
            fused = fuse_item_lists(self._model, self._sums, named, values, top)
        return {given.queries[query]: fused.get(query, {}) for query in sorted(given.queries, key=natural_key)}

    def _fuse_compiled(
        self, runs: Mapping[tuple[str, str], Any], top: int | None
    ) -> dict[str, dict[Any, float]] | None:
        """The ranking of every query; None where a list is not plain, or ids have several types."""
        if self._sums is None:
            return None
        dropped, fused = Dropped(), {}
        for query, lists in by_query(runs).items():
            if (ranked := self._sums.compiled(lists, dropped, top)) is None:
                return None
            fused[query] = ranked
        if len({type(next(iter(ranked))) for ranked in fused.values()}) > 1:
            return None
        dropped.warn()
        return fused


class _ExploringFuser(Fuser):
    """A Fuser with variants of its model, each a Fuser that is made when it is first needed."""

    __slots__ = ("_exploration", "_variants")

    def __init__(
        self,
        model: Aggregator | str | os.PathLike[str] = "rrf",
        *,
        explore: float | Exploration | None = None,
        **params: Any,
    ) -> None:
        super().__init__(model, **params)
        exploration = Exploration.of(explore)
        assert exploration is not None
        self._exploration = exploration
        self._variants: dict[int, Fuser] = {}
        self._variant(1)  # an error now where a method has no weights

    def __repr__(self) -> str:
        return f"Fuser({self._model!r}, explore={self._exploration!r})"

    def __call__(self, lists: Mapping[Any, Any] | Iterable[Any], *, request: Any = None, **options: Any) -> Any:
        """As ``Fuser``, with the weights of the request."""
        name = demand_request(request, "a Fuser that explores")
        return self._variant(self._exploration.variant(name))(lists, **options)

    def detailed(
        self, lists: Mapping[Any, Any] | Iterable[Any], *, request: Any = None, **options: Any
    ) -> list[FusedItem]:
        """As ``Fuser``, with the weights of the request."""
        name = demand_request(request, "a Fuser that explores")
        return self._variant(self._exploration.variant(name)).detailed(lists, **options)

    def detail_in_order(self, lists: Mapping[str, list[str]], top: int | None) -> None:
        """Nothing, for a request is needed."""

    def _variant(self, number: int) -> Fuser:
        if (known := self._variants.get(number)) is not None:
            return known
        made = object.__new__(Fuser)
        for name in Fuser.__slots__:
            setattr(made, name, getattr(self, name))  # they share the experts that a warning has named
        made._sums = sums_of(self._model, Weighting(self._exploration, number))
        if made._sums is None:
            raise ParameterError(
                "explore varies the weights of experts in a sum of points or scores, as in jury, rrf and combsum; "
                f"{self._model.name} is no such sum"
            )
        return self._variants.setdefault(number, made)

    def _rank_by_variants(
        self, lists: Mapping[str, Any], request: str, values: str, key: Key, top: int | None, strict: bool
    ) -> tuple[Weighting, list[dict[Any, float]]]:
        demand_options(values, top)
        if self._named:
            self._check_experts(lists, strict)
        cleaned = clean_one(self._model, lists, values, key)
        chosen = Weighting(self._exploration, self._exploration.variant(request))
        variants = map(self._variant, range(self._exploration.variants))
        return chosen, [rank_cleaned(self._model, variant._sums, cleaned, top) for variant in variants]
