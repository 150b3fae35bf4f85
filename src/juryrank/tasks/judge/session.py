"""A session of one judge: what is asked next, from the plan and from what other judges have graded."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from juryrank.data import Dataset, Labels, Rankings
from juryrank.data.long_table import labels_from_dict
from juryrank.kernels.ragged import parents
from juryrank.tasks.judge.advice import JudgingAdvice, judging_advice
from juryrank.tasks.judge.grades import Grades
from juryrank.tasks.judge.judgements import SKIPPED, Judgement, labels_of
from juryrank.tasks.judge.plan import judging_plan
from juryrank.tasks.judge.store import JudgementFile, Stamp

BATCH = 25  # answers after which a new plan is made
OVERLAP = 0.1  # share of a judge's answers that are about items which others have graded

Key = tuple[str, str]  # query and item


@dataclass(frozen=True)
class Question:
    """An item of a query to be graded; the ``number``-th of ``budget``."""

    query: str
    item: str
    number: int
    budget: int

    @property
    def key(self) -> Key:
        return self.query, self.item


class Session:
    """Questions to one judge, whose answers are saved in a file at once.

    ``next`` gives a question, ``grade`` or ``skip`` answers it, ``undo`` takes the last answer back. A judge that
    answers several questions at a time takes them from ``ahead``. After a batch of answers there is a new plan.
    """

    def __init__(
        self,
        data: Dataset,
        file: JudgementFile,
        judge: str,
        *,
        grades: Grades | None = None,
        budget: int = 100,
        overlap: float = OVERLAP,
        batch: int = BATCH,
        plan: Callable[..., Any] = judging_plan,
    ) -> None:
        self.data, self.file, self.judge, self.budget = data, file, judge, budget
        self.grades, self.overlap, self.batch, self._plan = grades or Grades.parse("0-3"), overlap, batch, plan
        file.repair()
        self._again: deque[Key] = deque()  # whose answers were taken back
        self._skipped_before: set[Key] = set()  # and are asked again
        self._queue: deque[Key] = deque()
        self._judges: list[str] = []
        self._since_plan = 0
        self._stamp: Stamp | None = None
        self._load()
        self.grades.check([each.grade for each in self.answers if each.grade is not None], str(file.path))

    def _load(self) -> None:
        """Read the file again if others have written in it meanwhile."""
        if (stamp := self.file.stamp()) == self._stamp:
            return
        self._stamp = stamp
        found = self.file.read()
        known = _in_data(self.data.rankings, {each.key for each in found})
        here = [each for each in found if each.key in known]
        self.n_foreign = len(found) - len(here)  # judgements of items that no list of the data has
        again = self._skipped_before
        mine = (each for each in here if each.judge == self.judge)
        self._mine = {each.key: each for each in mine if each.grade is not None or each.key not in again}
        self._of_others = [each for each in here if each.judge != self.judge]
        graded = [each for each in self._of_others if each.grade is not None]
        self._others = Counter(each.key for each in graded)
        self._shared = sorted(self._others, key=lambda key: (-self._others[key], _mixed(key)))
        self._queue = deque(key for key in self._queue if key not in self._others)
        judges = sorted({self.judge, *(each.judge for each in graded)})
        if judges != self._judges:
            self._judges = judges
            self._begin_apart()

    def _begin_apart(self) -> None:
        """Judges who work at the same time begin at different places of the plan."""
        self._queue.rotate(-(len(self._queue) * self._judges.index(self.judge) // len(self._judges)))

    @property
    def n_graded(self) -> int:
        """Items that this judge has graded."""
        return sum(each.grade is not None for each in self._mine.values())

    @property
    def n_skipped(self) -> int:
        """Items that this judge has skipped."""
        return len(self._mine) - self.n_graded

    @property
    def skipped(self) -> list[Judgement]:
        """What this judge has skipped."""
        return [each for each in self._mine.values() if each.grade is None]

    def ask_again(self, skipped: Iterable[Key]) -> None:
        """Give these items, which the judge has skipped, their place in the plan again."""
        self._skipped_before.update(skipped)
        self._queue.clear()
        self._stamp = None
        self._load()

    @property
    def n_shared(self) -> int:
        """Items that both this judge and others have graded."""
        return sum(key in self._others for key, each in self._mine.items() if each.grade is not None)

    @property
    def answers(self) -> list[Judgement]:
        """The answers of all judges about items of the data, as of the last question or answer."""
        return [*self._of_others, *self._mine.values()]

    @property
    def batch_is_complete(self) -> bool:
        """Whether a new plan is due."""
        return self._since_plan >= self.batch

    def next(self) -> Question | None:
        """The next question; None if the budget is used up or nothing is left."""
        return next(iter(self.ahead(1)), None)

    def ahead(self, n: int) -> list[Question]:
        """Up to ``n`` questions that are next, none beyond the batch; they stay next until they are answered."""
        self._load()
        n = min(n, self.budget - self.n_graded)
        if n <= 0:
            return []
        if self.batch_is_complete or not self._queue:
            self._make_plan()
        chosen = dict.fromkeys([*self._again, *self._due_shared(n), *self._queue])
        return [Question(*key, self.n_graded + place, self.budget) for place, key in enumerate(list(chosen)[:n], 1)]

    def _due_shared(self, n: int) -> list[Key]:
        """Items of other judges that are due within the next ``n`` answers, so that their share is the overlap.

        Those that most judges have graded come first, so that several judges have the same items in common.
        """
        due = int(self.overlap * (self.n_graded + n) + 1e-9) - self.n_shared
        return [key for key in self._shared if key not in self._mine][: max(0, min(n, due))]

    def _make_plan(self) -> None:
        wanted = min(self.batch, self.budget - self.n_graded) + self.n_skipped
        rows = self._plan(self.data, labels=self.labels(), budget=wanted).to_frame().select("query", "item").rows()
        self._queue = deque(key for key in rows if key not in self._mine)
        self._begin_apart()
        self._since_plan = 0

    def grade(self, question: Question, grade: float) -> None:
        """Save a grade."""
        self.grades.check([grade], "an answer")
        self._save(Judgement(*question.key, self.judge, float(grade)))

    def skip(self, question: Question, note: str = SKIPPED) -> None:
        """Save that the judge leaves this item out."""
        self._save(Judgement(*question.key, self.judge, None, note))

    def _save(self, judgement: Judgement) -> None:
        before, after = self.file.append(judgement)
        self._skipped_before.discard(judgement.key)
        self._mine.pop(judgement.key, None)
        self._mine[judgement.key] = judgement
        for waiting in (self._again, self._queue):
            if judgement.key in waiting:
                waiting.remove(judgement.key)
        self._since_plan += 1
        self._notice(before, after)

    def undo(self) -> Judgement | None:
        """Take the last answer back, also one of an earlier session; it is asked again next."""
        if not self._mine:
            return None
        key, last = self._mine.popitem()
        before, after = self.file.take_back(last)
        self._again.appendleft(key)
        self._since_plan = max(0, self._since_plan - 1)
        self._notice(before, after)
        return last

    def _notice(self, before: Stamp, after: Stamp) -> None:
        """After an own row: if the file had changed before it, read the file, else there is nothing new in it."""
        if before == self._stamp:
            self._stamp = after
        self._load()

    def keep(self, key: Key) -> None:
        """Ask about this item next, since a judge is looking at it; not if it has an answer or is not in the data."""
        self._load()
        if key not in self._mine and key not in self._others and _in_data(self.data.rankings, {key}):
            if key in self._again:
                self._again.remove(key)
            self._again.appendleft(key)

    def advice(self) -> JudgingAdvice:
        """What the judgements so far are worth, and what more of them would add."""
        return judging_advice(self.data, labels=self.labels())

    def labels(self) -> Labels | None:
        """The labels of the data and, in their place where there are such, the grades of all judges so far."""
        graded = labels_of(self.answers)
        if graded is None or self.data.labels is None:
            return graded or self.data.labels
        return _merge(self.data.labels, graded)


def _in_data(rankings: Rankings, keys: set[Key]) -> set[Key]:
    """Those of the keys whose item is in the data."""
    place = {query: q for q, query in enumerate(rankings.queries)}
    found: set[Key] = set()
    for query in {query for query, _ in keys}.intersection(place):
        slots = slice(*rankings.slot_ptr[place[query] : place[query] + 2])
        found.update((query, item) for item in rankings.items[rankings.slot_item[slots]])
    return found.intersection(keys)


def _mixed(key: Key) -> bytes:
    """An order of items that is the same for every judge and has nothing to do with their names."""
    return blake2b("\n".join(key).encode("utf-8", "surrogatepass")).digest()


def _merge(older: Labels, newer: Labels) -> Labels:
    """Both, and the newer label where both have one."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for labels in (older, newer):
        queries = np.array(labels.queries, object)[parents(labels.label_ptr)]
        items, values = labels.items[labels.label_item], labels.label_value.tolist()
        weights = [1.0] * len(values) if labels.label_weight is None else labels.label_weight.tolist()
        for query, item, value, weight in zip(queries, items, values, weights, strict=True):
            found.setdefault(query, {})[item] = (value, weight)
    return labels_from_dict(found)
