"""The state of a studio: the labels at present, the model that has learned from them, and what is known of both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from juryrank.methods.learned.jury import Jury
from juryrank.server.problems import Problem
from juryrank.studio.background import Background
from juryrank.studio.current_labels import CurrentLabels
from juryrank.studio.judged_items import JudgedItems
from juryrank.studio.judging import Judging, JudgingSettings
from juryrank.studio.list_facts import ListFacts
from juryrank.studio.material import Material
from juryrank.studio.refitting import RefittedJury, rehearse
from juryrank.tasks.judge.advice import FEWEST_QUERIES, JudgingAdvice
from juryrank.tasks.judge.judgements import Judgement
from juryrank.tasks.judge.session import Key

REFIT, ADVICE = "model", "advice"
AT_ONCE = 4  # queries that a model learns from while a judge waits


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Labels and model of one version; a change of the labels makes a new one."""

    version: int
    labels: CurrentLabels
    model: Jury | None  # None if there is nothing to learn from, or while the labels of the data are read
    n_learned: int  # queries that it has learned from
    answers: Sequence[Judgement]  # of all judges

    @cached_property
    def grades(self) -> list[Judgement]:
        """The answers that are grades, in the order of time."""
        return sorted((each for each in self.answers if each.grade is not None), key=lambda each: each.time)

    @property
    def judges(self) -> list[str]:
        """Those who have given grades."""
        return sorted({each.judge for each in self.grades})

    @property
    def enough(self) -> bool:
        """Whether there are enough queries to say something about quality."""
        return self.n_learned >= FEWEST_QUERIES


class Studio:
    """All that the routes need. What changes is changed under one lock; a snapshot never changes."""

    def __init__(self, material: Material, settings: JudgingSettings) -> None:
        self.material = material
        self.background, self._later = Background(), Background()
        self.judging = Judging(material, settings)
        self._refitted = RefittedJury(material.data)
        self._learned: CurrentLabels | None = None  # the labels of the model; None before the first fit
        self.facts, self.judged = ListFacts(material.data.rankings), JudgedItems(material.data)
        # A page that stays open while the studio is started again must not take a version for one that it knows.
        first = time.time_ns() // 1_000_000
        self.now = self._snapshot(first, CurrentLabels.of(material.data, self.judging.answers))
        self.judging.plan.begin(self.now.labels)
        self.background.get(REFIT, 0, self._learn_first)

    @property
    def is_ready(self) -> bool:
        """Whether the labels of the start have been learned from."""
        return self._learned is not None

    def _learn_first(self) -> None:
        """Learn from the labels that there are at the start, which may be many."""
        labels = self.now.labels
        self._refitted.update(labels, [])
        _ = self.judged.given  # looked at now, so that nobody waits for it
        with self.judging.lock:
            self._learned = labels
            self._relearn(self.now.labels)
        rehearse(self.material.data)
        self.facts.prepare()

    def _snapshot(self, version: int, labels: CurrentLabels) -> Snapshot:
        return Snapshot(
            version=version,
            labels=labels,
            model=self._refitted.model if self.is_ready else None,
            n_learned=self._refitted.n_queries if self.is_ready else 0,
            answers=self.judging.answers,
        )

    def _relearn(self, labels: CurrentLabels, urgent: str | None = None) -> None:
        """A new snapshot, whose model has learned from these labels.

        With several judges, one grade may change the weight of all labels; then the model learns from those of the
        ``urgent`` query now, and from the others soon.
        """
        if self._learned is not None:
            changed = labels.changed(self._learned)
            if urgent is not None and len(changed) > AT_ONCE:
                changed = [urgent]
                self._later.get("the rest", self.now.version, self._catch_up)
            self._learned = labels.changed_only_in(changed, self._learned)
            self._refitted.update(self._learned, changed)
        self.now = self._snapshot(self.now.version + 1, labels)

    def _catch_up(self) -> None:
        """Learn from what has not been learned from yet, a few queries at a time, so that no judge waits for all."""
        while True:
            with self.judging.lock:
                assert self._learned is not None
                changed = self.now.labels.changed(self._learned)
                self._learned = self.now.labels.changed_only_in(changed[:AT_ONCE], self._learned)
                self._refitted.update(self._learned, changed[:AT_ONCE])
                if len(changed) <= AT_ONCE:
                    self.now = self._snapshot(self.now.version + 1, self.now.labels)
                    return

    def refresh(self) -> Snapshot:
        """The present, also if others have written in the file of judgements meanwhile."""
        with self.judging.lock:
            if self.judging.refresh():
                self._relearn(CurrentLabels.of(self.material.data, self.judging.answers))
            return self.now

    def state(self) -> dict[str, Any]:
        """What is judged so far, of what."""
        now, data, settings = self.refresh(), self.material.data, self.judging.settings
        names = settings.grades.by_key()
        return {
            "title": self.material.title,
            "queries": len(data), "experts": list(data.experts), "items": self.facts.n_items,
            "entries": data.rankings.n_entries,
            "labelled_queries": len(now.labels.counts), "judged_items": self._judged_items(now),
            "judgements": len(now.grades),
            "judges": now.judges, "judge": settings.judge, "judgements_file": str(settings.file.path),
            "grades": [{"value": int(key), "name": name} for key, name in names.items()],
            "has_texts": self.material.items is not None,
            "version": now.version, "enough": self.enough(now),
        }  # fmt: skip

    def _judged_items(self, now: Snapshot) -> int | None:
        """How many ranked items have a label; None while the labels of the data are being read."""
        if not self.is_ready and self.material.data.labels is not None:
            return None
        return self.judged.total(now.labels)

    def enough(self, now: Snapshot) -> dict[str, Any]:
        """How many queries have something relevant, and how many are needed before numbers mean something."""
        of = f"{now.n_learned} of {FEWEST_QUERIES} queries in which a relevant item was found"
        if not self.is_ready:
            text = "The labels are being read."
        elif now.enough:
            text = f"{now.n_learned} queries in which a relevant item was found: quality can be measured."
        elif len(self.material.data) < FEWEST_QUERIES:
            text = f"{of}: the data has too few queries to measure quality."
        else:
            text = f"{of}: numbers about quality are shown from {FEWEST_QUERIES} on."
        return {"now": now.n_learned, "needed": FEWEST_QUERIES, "text": text, "reading": not self.is_ready}

    def next(self, judge: str, shown: Key | None = None) -> dict[str, Any]:
        """The next question to a judge, who sees the item ``shown`` at present."""
        if not self.judging.plan.begin(self.now.labels):
            return {"pending": True}
        return self._next(judge, shown)

    def _next(self, judge: str, shown: Key | None = None) -> dict[str, Any]:
        with self.judging.lock:
            self.refresh()
            found = self.judging.next(judge, shown)
        advice = self.background.latest(ADVICE)
        if found["question"] is not None and isinstance(advice, JudgingAdvice) and advice.enough:
            found["question"]["budget"] = None  # no goal where there is enough
        return found

    def answer(self, judge: str, query: str, item: str, grade: float | None) -> dict[str, Any]:
        """Save an answer, learn from it, and ask the next question."""
        with self.judging.lock:
            self._demand_item(query, item)
            self.judging.answer(judge, query, item, grade)
            milliseconds = self._learn(query)
            self.judging.plan_ahead(judge, self.now.labels)
            rest = {"next": self._next(judge), "state": self.state()}
        return {"saved": True, **rest, "refit": {"milliseconds": milliseconds}}

    def undo(self, judge: str) -> dict[str, Any]:
        """Take the last answer of a judge back, and ask it again."""
        with self.judging.lock:
            taken = self.judging.undo(judge)
            self._learn(None if taken is None else taken.query)
            undone = None if taken is None else {"query": taken.query, "item": taken.item}
            return {"undone": undone, "next": self._next(judge), "state": self.state()}

    def _learn(self, query: str | None) -> float | None:
        """Learn from the answers, first about this query; the time it took, None if the model is not ready yet."""
        start = time.perf_counter()
        self._relearn(CurrentLabels.of(self.material.data, self.judging.answers), urgent=query)
        return None if self._learned is None else round((time.perf_counter() - start) * 1e3, 2)

    def position(self, query: str) -> int:
        """The position of a query; a Problem if there is none of that name."""
        if (found := self.material.position.get(query)) is None:
            raise Problem(404, f"there is no query {query[:200]!r} in the data")
        return found

    def _demand_item(self, query: str, item: str) -> None:
        r, q = self.material.data.rankings, self.position(query)
        if not (r.items[r.slot_item[r.slot_ptr[q] : r.slot_ptr[q + 1]]] == item).any():
            raise Problem(404, f"there is no item {item[:200]!r} in the lists of query {query[:200]!r}")
