"""``juryrank crowd``: one label per task from the answers of many workers, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options
from juryrank.cli.own_tables import demand_own_table
from juryrank.cli.reading import column_names, or_stdin
from juryrank.cli.reports import Form, Json, check_pictures, deliver
from juryrank.cli.terminal import note

if TYPE_CHECKING:
    from juryrank.tasks.crowd import CrowdLabels

QRELS = ".qrels"
TASK_COLUMNS = ("query", "item", "label", "confidence", "tied", "answers")


@dataclass(frozen=True)
class AnswerOptions:
    """Which column is which, and what the labels mean."""

    task: Annotated[
        str | None, typer.Option("--task", metavar="COLUMN", help="Header of the tasks, or its number: 1, 2, …")
    ] = None
    worker: Annotated[str | None, typer.Option("--worker", metavar="COLUMN", help="Header of the workers.")] = None
    label: Annotated[str | None, typer.Option("--label", metavar="COLUMN", help="Header of the labels.")] = None
    query: Annotated[
        str | None, typer.Option("--query", metavar="COLUMN", help="Header of the queries that tasks belong to.")
    ] = None
    gold: Annotated[
        str | None, typer.Option("--gold", metavar="COLUMN", help="Header of true labels, where they are known.")
    ] = None
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="NAME=COLUMN,…", help="All at once: task=1,worker=2,label=3."),
    ] = None
    order: Annotated[
        str | None, typer.Option("--order", metavar="LABEL,…", help="The labels in order, lowest first.")
    ] = None
    grades: Annotated[
        str | None, typer.Option("--grades", metavar="LABEL=N,…", help="The number that each label stands for.")
    ] = None
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="LABEL", help="A label that is no answer; repeatable.")
    ] = None
    merge_spellings: Annotated[
        bool, typer.Option("--merge-spellings", help="Labels such as yes and Yes, or 1 and 1.0, are one.")
    ] = False

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``crowd``."""
        words = ("task", "worker", "label", "query", "gold")
        named = {word: getattr(self, word) for word in words if getattr(self, word) is not None}
        columns = {**(column_names(self.columns) or {}), **named}
        found: dict[str, Any] = {"columns": columns or None, "ignore": self.ignore or ()}
        found["merge_spellings"] = self.merge_spellings
        if self.order is not None:
            found["order"] = options.names(self.order)
        if self.grades is not None:
            found["grades"] = {name: _grade(value) for name, value in self._pairs()}
        return found

    def _pairs(self) -> list[tuple[str, str]]:
        pairs = [text.rpartition("=") for text in options.names(self.grades or "")]
        if wrong := [value for name, equals, value in pairs if not (name and equals)]:
            raise typer.BadParameter(f"expected LABEL=NUMBER, got {wrong[0]!r}", param_hint="--grades")
        return [(name.strip(), value.strip()) for name, _, value in pairs]


def _grade(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"expected LABEL=NUMBER, got {text!r}", param_hint="--grades") from None


@dataclass(frozen=True)
class FileOptions:
    """The files to write."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", callback=options.a_file, help="The labels: .csv, .tsv, .ndjson, .parquet, or .qrels (TREC)."
        ),
    ] = None
    workers: Annotated[
        Path | None, typer.Option("--workers", callback=options.a_file, help="A table of all workers (.csv, …).")
    ] = None
    confusion: Annotated[
        Path | None, typer.Option("--confusion", callback=options.a_file, help="Confusion matrices of all workers.")
    ] = None
    probabilities: Annotated[
        Path | None, typer.Option("--probabilities", callback=options.a_file, help="Probabilities of all labels.")
    ] = None
    next_tasks: Annotated[
        Path | None, typer.Option("--next-tasks", callback=options.a_file, help="All tasks, those to ask again first.")
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option("--picture", callback=options.a_file, help="Draw workers and their errors (png, svg, pdf)."),
    ] = None

    def check(self) -> None:
        """Fail before the work if a file could not be written."""
        from juryrank.io.tables.frames import ENDINGS

        check_pictures([self.picture])
        tables = {"--workers": self.workers, "--confusion": self.confusion, "--next-tasks": self.next_tasks}
        tables |= {"--probabilities": self.probabilities, "--out": self.out}
        for flag, path in tables.items():
            known = (*ENDINGS, QRELS) if flag == "--out" else ENDINGS
            if path is not None and path.suffix.lower() not in known:
                raise typer.BadParameter(f"{path} must end in {', '.join(known)}", param_hint=flag)
        if self.out is not None and self.out.suffix.lower() != QRELS:
            demand_own_table(self.out, TASK_COLUMNS, ("expected", "difficulty", "gold"))
        if self.next_tasks is not None:
            demand_own_table(self.next_tasks, (*TASK_COLUMNS, "information"))

    def write(self, found: CrowdLabels, *, quiet: bool) -> None:
        """Write the files that were asked for."""
        from juryrank.io import write
        from juryrank.io.files import deliver as save
        from juryrank.io.tables.frames import frame_lines
        from juryrank.report import counted

        if self.out is not None and self.out.suffix.lower() == QRELS:
            write(found.to_dataset("expected"), self.out, format="trec-qrels")
            note(f"{self.out}: expected grades of {counted(len(found), 'task')}", quiet=quiet)
        elif self.out is not None:
            save(frame_lines(found.to_frame(), self.out.name, for_people=True), self.out)
            note(f"{self.out}: labels of {counted(len(found), 'task')}, with probabilities", quiet=quiet)
        tables = {
            self.workers: found.workers_frame, self.confusion: found.confusion,
            self.probabilities: found.probabilities, self.next_tasks: found.next_tasks,
        }  # fmt: skip
        for path, table in tables.items():
            if path is not None:
                rows = table()
                save(frame_lines(rows, path.name, for_people=True), path)
                note(f"{path}: {counted(rows.height, 'row')}", quiet=quiet)
        if self.picture is not None:
            found.plot(self.picture)
            note(f"{self.picture}: drawn", quiet=quiet)


def run(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            callback=options.stdin_once,
            help="A table with the columns task, worker and label, perhaps query and gold; - for stdin.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option("--method", help="dawid-skene, one-coin, glad, ordinal-dawid-skene or majority-vote."),
    ] = "dawid-skene",
    *,
    reading: AnswerOptions,
    gold_labels: Annotated[
        Path | None, typer.Option("--gold-labels", help="A table of true labels: the columns task and gold.")
    ] = None,
    gold_for: Annotated[
        str, typer.Option("--gold-for", metavar="fit|check", help="Gold labels are fixed in the fit, or only a check.")
    ] = "fit",
    files: FileOptions,
    max_iter: Annotated[int, typer.Option("--max-iter", min=1, help="Maximum number of EM steps.")] = 1000,
    form: Form = None,
    as_json: Json = False,
    quiet: options.Quiet = False,
    strict: options.Strict = False,
) -> None:
    """Find the label of each task from the answers of many workers, and who and what needs another look.

    Prints labels, agreement, accuracy on gold tasks, the workers, those to review and why, and tasks for one more
    answer.
    """
    from juryrank.errors import refuse_warnings
    from juryrank.tasks.crowd import crowd

    files.check()
    arguments = {**reading.arguments(), "gold": gold_labels, "gold_for": gold_for, "max_iter": max_iter}
    if strict:
        with refuse_warnings():
            found = crowd(or_stdin(labels), method, **arguments)
    else:
        found = crowd(or_stdin(labels), method, **arguments)
    files.write(found, quiet=quiet)
    deliver(found, form, as_json=as_json, out=None, quiet=quiet)
