"""The tables of a crowd: agreement, accuracy, workers to review, and tasks that need one more answer."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from juryrank.data.build import ONE_QUERY
from juryrank.report import Table, counted, number
from juryrank.tasks.crowd.labels import LabelledTasks

SHOWN, SHOWN_WORKERS, SHOWN_REASONS = 10, 20, 2


def tables(found: LabelledTasks) -> list[Table]:
    """All tables, each only if there is something to show."""
    return [_labels(found), *_accuracy(found), _workers(found), *_review(found), *_next_tasks(found)]


def _labels(found: LabelledTasks) -> Table:
    count = np.bincount(found.choice, minlength=len(found.classes))
    given = found.answers.votes.sum(0)
    rows = [
        [name, str(given[n]), str(count[n]), number(float(found.probability[:, n].mean()))]
        for n, name in enumerate(found.classes)
    ]
    return Table("Labels", ["label", "answers", "tasks", "share expected"], rows, note=_summary(found))


def _summary(found: LabelledTasks) -> str:
    answers, gold = found.answers, int((found.fitted.gold >= 0).sum())
    workers, given = counted(len(answers.workers), "worker"), counted(len(answers), "answer")
    counts = f"{workers} gave {given} to {counted(len(found), 'task')}"
    known = f", {gold} of them with {'a gold label' if gold == 1 else 'gold labels'}" if gold else ""
    steps = "" if found.method == "majority-vote" else f" in {counted(found.steps, 'step')}"
    end = "" if found.converged else ", not converged"
    tied = int(found.tied.sum())
    ties = " No task is tied."
    if tied:
        which = counted(tied, "task is tied: its label", "tasks are tied: their label")
        ties = f" {which} is the first of those equally likely."
    return f"{counts}{known}; {found.method}{steps}{end}.{ties} {_agreement(found)}"


def _agreement(found: LabelledTasks) -> str:
    alpha, low, high = found.alpha
    if math.isnan(alpha):
        return "Agreement is unknown: no task has two answers, or all answers are equal."
    kind = "squared differences of grades" if found.grades is not None else "labels equal or different"
    return (
        f"Agreement: Krippendorff's α {alpha:.3f} ({kind}; 95 % interval {low:.3f} to {high:.3f}), "
        f"Fleiss' κ {found.kappa:.3f}."
    )


def _accuracy(found: LabelledTasks) -> Iterator[Table]:
    if found.accuracy:
        rows = [[a.method, str(a.tasks), number(a.right), number(a.error), str(a.tied)] for a in found.accuracy]
        note = "Share of gold tasks with the right label, as if gold were unknown; of ties, each label counts a share."
        yield Table("Accuracy on gold tasks", ["method", "tasks", "right", "standard error", "tied"], rows, note=note)


def _workers(found: LabelledTasks) -> Table:
    more = list(found.estimate.of_workers)
    gold = bool((found.answers.gold >= 0).any())
    heads = ["worker", "answers", "reliability", "agreement", "information", *(["gold right"] if gold else []), *more]
    many = len(found.workers) > SHOWN_WORKERS
    shown = sorted(found.workers, key=lambda w: (-w.answers, w.worker))[:SHOWN_WORKERS] if many else found.workers
    rows = [
        [
            each.worker, str(each.answers), number(each.reliability), number(each.agreement), number(each.information),
            *([f"{each.gold_right}/{each.gold_tasks}"] if gold else []), *(number(each.more[name]) for name in more),
        ]
        for each in shown
    ]  # fmt: skip
    note = (
        "reliability: estimated share of right answers; agreement: share of answers equal to the label, where others "
        "answered, too; information: "
        "what answers tell about labels, 1 if all are right."
    )
    if many:
        note += f" The {SHOWN_WORKERS} of {len(found.workers)} workers with most answers; their table has all."
    return Table("Workers", heads, rows, note=note)


def _review(found: LabelledTasks) -> Iterator[Table]:
    marked = sorted((w for w in found.workers if w.reasons), key=lambda w: (-w.answers, w.worker))
    if marked:
        rows = [[each.worker, "; ".join(each.reasons[:SHOWN_REASONS]), str(each.answers)] for each in marked[:SHOWN]]
        more = counted(len(marked) - SHOWN, "more is", "more are")
        rest = f" {more} in the table of workers." if len(marked) > SHOWN else ""
        share = sum(each.answers for each in marked) / len(found.answers)
        order = "; those with most answers first" if len(marked) > 1 else ""
        note = f"{counted(len(marked), 'worker')} with {share:.0%} of all answers{order}.{rest}"
        yield Table("Workers to review", ["worker", "why", "answers"], rows, n_names=2, note=note)


def _next_tasks(found: LabelledTasks) -> Iterator[Table]:
    tasks = found.next_tasks(SHOWN)
    if not tasks.height or float(tasks["information"].max()) <= 0:  # type: ignore[arg-type]
        return
    keys = ["query", "item"] if tasks["query"].n_unique() > 1 or tasks["query"][0] != ONE_QUERY else ["item"]
    heads = [*keys, "label", "confidence", "answers", "information"]
    rows = [
        [*(row[key] for key in keys), row["label"] + (" (tied)" if row["tied"] else ""), number(row["confidence"]),
         str(row["answers"]), number(row["information"])]
        for row in tasks.iter_rows(named=True)
    ]  # fmt: skip
    note = "information: bits that one more answer of an average worker is expected to tell about the label."
    yield Table("Tasks for one more answer", heads, rows, n_names=len(keys) + 1, note=note)
