"""The judges: a session for each, whose answers are on the disk before they are confirmed."""

from __future__ import annotations

import math
import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from juryrank.errors import ParameterError
from juryrank.report import counted
from juryrank.studio.current_labels import CurrentLabels
from juryrank.studio.material import Material
from juryrank.studio.plan_ahead import PlanAhead
from juryrank.tasks.judge.agreement import agreement
from juryrank.tasks.judge.grades import Grades
from juryrank.tasks.judge.judgements import Judgement
from juryrank.tasks.judge.session import OVERLAP, Key, Question, Session
from juryrank.tasks.judge.store import JudgementFile

LONGEST_NAME, MOST_JUDGES = 100, 100
STEP = 100  # graded items after which the goal of a judge is set anew


@dataclass(frozen=True)
class JudgingSettings:
    """Where the grades are saved, and how items are given to judges."""

    file: JudgementFile
    judge: str  # who judges where no other name is given
    grades: Grades
    overlap: float = OVERLAP
    step: int = STEP


class Judging:
    """All sessions; one thread at a time may use it."""

    def __init__(self, material: Material, settings: JudgingSettings) -> None:
        self._material, self.settings = material, settings
        self._lists = replace(material.data, labels=None)  # labels of the data are the plan's business
        self.plan = PlanAhead(material.data)
        self._sessions: dict[str, Session] = {}
        self.lock = threading.RLock()
        self._stamp = settings.file.stamp()
        self.answers: list[Judgement] = self.session(settings.judge).answers

    def session(self, judge: str) -> Session:
        """The session of a judge, who need not have answered anything yet."""
        if judge not in self._sessions:
            self._check_name(judge)
            self._sessions[judge] = Session(
                self._lists, self.settings.file, judge, grades=self.settings.grades,
                budget=self.settings.step, overlap=self.settings.overlap, plan=self.plan,
            )  # fmt: skip
        return self._sessions[judge]

    def _check_name(self, judge: str) -> None:
        if not judge.strip() or not judge.isprintable() or judge != judge.strip() or len(judge) > LONGEST_NAME:
            raise ParameterError(
                f"the judge needs a name of up to {LONGEST_NAME} printable characters, without blanks around it, "
                f"got {judge[:LONGEST_NAME]!r}"
            )
        if len(self._sessions) >= MOST_JUDGES:
            raise ParameterError(f"there are {MOST_JUDGES} judges already; start the studio again for others")

    def refresh(self) -> bool:
        """Whether somebody else has written in the file, which is then read again."""
        if self.settings.file.stamp() == self._stamp:
            return False
        session = self.session(self.settings.judge)
        self._notice(session)
        return True

    def _notice(self, session: Session) -> None:
        self._stamp = self.settings.file.stamp()
        session.next()  # which reads what others have written
        self.answers = session.answers

    def answer(self, judge: str, query: str, item: str, grade: float | None) -> None:
        """Save a grade, or that the item is skipped."""
        session = self.session(judge)
        question = Question(query, item, 0, 0)
        if grade is None:
            session.skip(question)
        else:
            session.grade(question, grade)
        self._stamp, self.answers = self.settings.file.stamp(), session.answers

    def undo(self, judge: str) -> Judgement | None:
        """Take the last answer of the judge back."""
        session = self.session(judge)
        taken = session.undo()
        self._stamp, self.answers = self.settings.file.stamp(), session.answers
        return taken

    def plan_ahead(self, judge: str, labels: CurrentLabels) -> None:
        """Note that the judge has answered, so that the next plan is made in time."""
        self.plan.answered(labels, self.session(judge).n_skipped)

    def next(self, judge: str, shown: Key | None = None) -> dict[str, Any]:
        """The next question, which is what the page shows already if that is still open, and how far the judges are."""
        session = self.session(judge)
        session.budget = self.settings.step * (session.n_graded // self.settings.step + 1)
        if shown is not None:
            session.keep(shown)
        question = session.next()
        described = None if question is None else self._describe(question)
        return {"judge": judge, "question": described, "progress": self._progress(session)}

    def _describe(self, question: Question) -> dict[str, Any]:
        title, text = self._material.item_text(question.item)
        return {
            "query": question.query, "query_text": self._material.query_text(question.query),
            "item": question.item, "title": title, "text": text,
            "number": question.number, "budget": question.budget,
        }  # fmt: skip

    def _progress(self, session: Session) -> dict[str, Any]:
        graded = [each for each in session.answers if each.grade is not None]
        by_judge = Counter(each.judge for each in graded)
        return {
            "graded": session.n_graded, "skipped": session.n_skipped, "foreign": session.n_foreign,
            "judges": dict(sorted(by_judge.items())), "agreement": _agreement(graded) if len(by_judge) > 1 else None,
        }  # fmt: skip


def _agreement(graded: list[Judgement]) -> dict[str, Any]:
    """How far judges agree; κ is of the pair with the most common items."""
    found = agreement(graded)
    pair = max(found.pairs, key=lambda each: each.items, default=None)
    kappa = None if pair is None else pair.weighted_kappa
    text = found.note()
    if not math.isnan(found.alpha):
        text = (
            f"Krippendorff's α {found.alpha:.2f}, 95 % interval {found.low:.2f} to {found.high:.2f}, from "
            f"{counted(found.items, 'item')} with grades of two or more judges."
        )
    return {"kappa": kappa, "alpha": found.alpha, "items": found.items, "text": text}
