"""Interleaving: one page made of the rankings of two or more models, and which of them contributed each item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, permutations
from math import isfinite
from typing import Any

from juryrank.data.draws import demand_request, demand_seed, uniform
from juryrank.data.shapes import ItemList, as_item_list, as_texts, elements_of, unique_names
from juryrank.errors import DataError, ParameterError, warn_about_data

ORDERS_UP_TO = 5  # rankings for which all orders of a round are tried where some ranking has few items left


@dataclass(frozen=True)
class Interleaved:
    """The items to show, best first, with the team of each: the ranking that contributed it, or None.

    A click counts for the team of its item. Items have no team where all rankings agree from the top on, and where a
    ranking has no more items to offer.
    """

    items: list[Any]
    teams: list[str | None]
    request: str
    rankings: tuple[str, ...]

    @property
    def team_of(self) -> dict[Any, str | None]:
        """The team of each item."""
        return dict(zip(self.items, self.teams, strict=True))

    def log_rows(self, query: Any, session: Any = None) -> list[dict[str, Any]]:
        """Rows of a click log: query, item, position, session (default: the request) and team.

        Add ``clicked`` when it is known.
        """
        of_request = {"query": query, "session": self.request if session is None else session}
        return [
            {**of_request, "item": item, "position": at, "team": team}
            for at, (item, team) in enumerate(zip(self.items, self.teams, strict=True), 1)
        ]


def interleave(
    rankings: Mapping[Any, Any] | Iterable[Any], *, request: Any, top: int = 10, seed: int = 0
) -> Interleaved:
    """One page made of two or more rankings by team draft: in every round, each adds its best item not yet there.

    ``rankings`` maps names to rankings; a sequence of rankings names them "1", "2", …. A ranking is items in order, or
    ``{item: score}`` as ``fuse`` returns it. The order within a round is random. It follows from ``seed`` and
    ``request``, the id of the request, so that the same request has the same page in every process and thread. If a
    session has several queries, give the id of the session, so that a query that is repeated has the same page.

    Two rankings: team-draft interleaving (Radlinski, Kurup and Joachims 2008); more: team-draft multileaving (Schuth et
    al. 2014). At each position, all teams are equally likely. ``InterleavingTest`` turns clicks into a verdict.

    >>> page = interleave({"old": ["a", "b", "c", "d"], "new": ["a", "d", "c", "b"]}, request="r1", top=3)
    >>> page.items, page.teams
    (['a', 'b', 'd'], [None, 'old', 'new'])
    """
    name, seed = demand_request(request, "interleave"), demand_seed(seed)
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise ParameterError(f"top must be a whole number >= 1, got {top!r}")
    lists = _read(rankings)
    names = sorted(lists)  # so that the page does not depend on the order of the rankings
    orders = (
        sorted(range(len(names)), key=[uniform(seed, "interleave", name, n, of) for of in names].__getitem__)
        for n in count()
    )
    drafted = draft([lists[of] for of in names], top, orders)
    items, teams = [item for item, _ in drafted], [None if at is None else names[at] for _, at in drafted]
    return Interleaved(items, teams, name, tuple(lists))


def draft(rankings: Sequence[Sequence[Any]], top: int, orders: Iterator[Sequence[int]]) -> list[tuple[Any, int | None]]:
    """The first ``top`` items, each with the number of its ranking or None; ``orders`` are those of the rounds."""
    shared = 0
    while shared < top and all(shared < len(r) and r[shared] == rankings[0][shared] for r in rankings):
        shared += 1
    page: dict[Any, int | None] = dict.fromkeys(islice(rankings[0], shared))
    fair = True
    while len(page) < top and any(item not in page for r in rankings for item in r):
        fair = fair and _round_is_fair(rankings, page)
        for team, item in _round(rankings, page, next(orders)):
            page[item] = team if fair else None
    return list(islice(page.items(), top))


def _round(rankings: Sequence[Sequence[Any]], page: Mapping[Any, Any], order: Sequence[int]) -> list[tuple[int, Any]]:
    """What each ranking adds to the page when they take turns in this order; one without further items adds nothing."""
    taken: dict[Any, int] = {}
    for team in order:
        item = next((item for item in rankings[team] if item not in page and item not in taken), None)
        if item is not None:
            taken[item] = team
    return [(team, item) for item, team in taken.items()]


def _round_is_fair(rankings: Sequence[Sequence[Any]], page: Mapping[Any, Any]) -> bool:
    """Whether every ranking adds an item in whichever order they take turns; else one would have more places."""
    n = len(rankings)
    if all(sum(1 for _ in islice((item for item in r if item not in page), n)) == n for r in rankings):
        return True
    return n <= ORDERS_UP_TO and all(len(_round(rankings, page, order)) == n for order in permutations(range(n)))


def _read(rankings: Mapping[Any, Any] | Iterable[Any]) -> dict[str, list[Any]]:
    """The rankings by name: the ids of the items, best first, each once."""
    if isinstance(rankings, Mapping):
        named = unique_names(rankings, "ranking")
    else:
        named = {str(n): r for n, r in enumerate(elements_of(rankings, "rankings", "{name: ranking}"), 1)}
    if len(named) < 2:
        raise DataError(f"interleave needs two rankings or more, got {len(named)}")
    lists = {name: _best_first(as_item_list(ranking, f"ranking {name!r}")) for name, ranking in named.items()}
    own = as_texts([item for items in lists.values() for item in items])[1]
    if own is not None:
        lists = {name: [own[str(item)] for item in items] for name, items in lists.items()}
    distinct = {name: list(dict.fromkeys(items)) for name, items in lists.items()}
    if repeated := sum(map(len, lists.values())) - sum(map(len, distinct.values())):
        warn_about_data(f"the rankings: {repeated} entries repeat an item of their ranking; the first is kept")
    return distinct


def _best_first(ranking: ItemList) -> list[Any]:
    """The items by score, if there are scores, without those whose score is missing."""
    items, scores = ranking
    if scores is None:
        return items
    known = [at for at, score in enumerate(scores) if isfinite(score)]
    if missing := len(items) - len(known):
        warn_about_data(f"the rankings: {missing} entries without a score are dropped")
    return [items[at] for at in sorted(known, key=scores.__getitem__, reverse=True)]
