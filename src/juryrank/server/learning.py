"""Labelled queries from feedback: of each query the last lists, and what was said of its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from juryrank.annotators.combine import combine_grades
from juryrank.data import Dataset
from juryrank.data.build import from_lists
from juryrank.data.shapes import ItemList
from juryrank.errors import DataError
from juryrank.polars import pl
from juryrank.server.feedback import Clicks, decode_stored
from juryrank.tasks.clicks.labels import click_labels
from juryrank.tasks.clicks.log import ClickLog, build_log

FEWEST_CLICKS = 100  # with fewer, the position bias is hardly known, and clicks are not used
TEXTS = {"query": pl.String, "item": pl.String}
LABELS = {**TEXTS, "label": pl.Float64, "label_weight": pl.Float64}


@dataclass
class Collected:
    """What the rows of a model say, row by row; later rows have precedence."""

    rows: int = 0
    first: dict[str, int] = field(default_factory=dict)  # number of the first row of each query
    last: dict[str, int] = field(default_factory=dict)
    lists: dict[str, dict[str, ItemList]] = field(default_factory=dict)  # by query and expert
    grades: dict[tuple[str, str, str], float | None] = field(default_factory=dict)  # by query, item and judge
    sessions: list[tuple[int, str, Clicks]] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Iterable[tuple[int, bytes]]) -> Collected:
        """Everything that the rows say."""
        found = cls()
        for number, content in rows:
            found.add(number, content)
        return found

    def add(self, number: int, content: bytes) -> None:
        """Add a row."""
        entry = decode_stored(content)
        self.rows += 1
        self.first.setdefault(entry.query, number)
        self.last[entry.query] = number
        if entry.lists:
            self.lists[entry.query] = {expert: ItemList(*listed) for expert, listed in entry.lists.items()}
        for item, grade in entry.labels.items():
            self.grades[entry.query, item, entry.judge] = grade
        if entry.clicks is not None:
            self.sessions.append((number, entry.query, entry.clicks))


@dataclass(frozen=True)
class Lessons:
    """The queries to learn from, None if there are none, and what was not used, counted by reason."""

    data: Dataset | None
    not_used: dict[str, int]


def make_lessons(found: Collected, *, with_scores: bool) -> Lessons:
    """The labelled queries; ``with_scores`` leaves out queries with lists that have no scores."""
    not_used: Counter[str] = Counter()
    labels = pl.concat([labels_of_grades(found), labels_of_clicks(found, not_used)])
    labelled = set(labels["query"])
    lists = []
    for query in labelled:
        of_query = found.lists.get(query, {})
        if not any(listed.items for listed in of_query.values()):
            not_used["queries without lists"] += 1
        elif with_scores and any(listed.items and listed.numbers is None for listed in of_query.values()):
            not_used["queries with lists that have no scores, which the model needs"] += 1
        else:
            lists += [(expert, query, listed) for expert, listed in of_query.items()]
    used = pl.Series(list({query for _, query, _ in lists}), dtype=pl.String)
    labels = labels.filter(pl.col("query").is_in(used.implode()))
    judged = set(labels.select("query", "item").iter_rows())
    if not any((query, str(item)) in judged for _, query, listed in lists for item in listed.items):
        not_used["queries of which no ranked item has a label"] += len(used)
        return Lessons(None, _counts(not_used))
    return Lessons(from_lists(lists, "score", labels), _counts(not_used))


def _counts(not_used: Counter[str]) -> dict[str, int]:
    return {reason: count for reason, count in sorted(not_used.items()) if count}


def labels_of_grades(found: Collected) -> pl.DataFrame:
    """One label per item; the grades of several judges are combined as ``combine_judgements`` does."""
    rows = [(*names, grade) for names, grade in found.grades.items() if grade is not None]
    if not rows:
        return pl.DataFrame(schema=LABELS)
    schema = {**TEXTS, "judge": pl.String, "grade": pl.Float64}
    return combine_grades(pl.DataFrame(rows, schema=schema, orient="row"), source="feedback").label_rows()


def labels_of_clicks(found: Collected, not_used: Counter[str]) -> pl.DataFrame:
    """Labels from clicks, for the queries that have no grades: the scales of both differ."""
    none = pl.DataFrame(schema=LABELS)
    graded = {query for (query, _, _), grade in found.grades.items() if grade is not None}
    sessions = [each for each in found.sessions if each[1] not in graded]
    not_used["lists that were shown for queries with labels"] += len(found.sessions) - len(sessions)
    if not sessions:
        return none
    if (clicks := sum(len(each.clicked) for _, _, each in sessions)) < FEWEST_CLICKS:
        not_used[f"lists that were shown: they have {clicks} clicks, and {FEWEST_CLICKS} are needed"] += len(sessions)
        return none
    try:
        labels = click_labels(click_log(sessions))
    except DataError as error:
        not_used[f"lists that were shown: {error}"] += len(sessions)
        return none
    not_used["queries without a click"] += len(set(labels.log.queries)) - len(labels)
    columns = ["query", "item", "label", pl.col("weight").alias("label_weight")]
    return labels.to_frame().select(columns)


def click_log(sessions: list[tuple[int, str, Clicks]]) -> ClickLog:
    """The lists that were shown, one session each."""
    rows = [
        (query, str(item), position, item in clicked, str(number), (clicks.propensity or {}).get(str(item)))
        for number, query, clicks in sessions
        for clicked in [set(clicks.clicked)]
        for position, item in enumerate(clicks.shown, 1)
    ]
    schema = {**TEXTS, "position": pl.Int64, "clicked": pl.Boolean, "session": pl.String, "propensity": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return build_log(frame.drop("propensity") if frame["propensity"].null_count() else frame, "feedback", {})
