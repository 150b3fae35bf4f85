"""``juryrank judge``: which items to judge next, and the grades that judges give them."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options
from juryrank.cli.judge_combine import CombineOptions
from juryrank.cli.judge_endpoint import EndpointOptions, judge_by_model
from juryrank.cli.own_tables import demand_unused_plan
from juryrank.cli.quick_values import QuickCommand
from juryrank.cli.reading import LabelledReadOptions
from juryrank.cli.reports import deliver as deliver_report
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset
    from juryrank.polars import pl
    from juryrank.tasks.judge.plan import JudgingPlan
    from juryrank.tasks.judge.session import Session
    from juryrank.tasks.judge.texts import Texts

SPREADSHEETS, JSON = (".csv", ".tsv"), ".json"  # in the former, people fill in a column of labels

Data = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DATA", callback=options.stdin_once, help="Files or folders, - for stdin; several are read as one."
    ),
]
Budget = Annotated[int, typer.Option("--budget", min=1, help="Number of items to judge.")]
Interactive = Annotated[
    bool, typer.Option("--interactive", "-i", help="Ask for the grades here, or read them from a pipe, one per line.")
]
Agreement = Annotated[
    Path | None,
    typer.Option("--agreement", metavar="FILE", help="Show how far the judges in FILE agree; without DATA."),
]


@dataclass(frozen=True)
class TextOptions:
    """Texts to show to judges."""

    texts: Annotated[
        Path | None, typer.Option("--texts", help="Texts of items: a table with columns item (or id) and text.")
    ] = None
    query_texts: Annotated[
        Path | None,
        typer.Option("--query-texts", help="Texts of queries: a table with columns query (or id) and text."),
    ] = None

    def read(self, data: Dataset, *, quiet: bool) -> tuple[Texts | None, Texts | None]:
        """The texts of items and of queries; how many are missing is reported."""
        r = data.rankings
        return (
            _read_texts(self.texts, r.items.tolist(), "item", quiet=quiet),
            _read_texts(self.query_texts, list(r.queries), "query", quiet=quiet),
        )


@dataclass(frozen=True)
class SessionOptions:
    """Who judges, and where the grades are saved."""

    judgements: Annotated[
        Path, typer.Option("--judgements", help="The file of grades, CSV or TSV; an existing one is continued.")
    ] = Path("judgements.csv")
    judge: Annotated[str | None, typer.Option("--judge", help="Name of the judge; default: the login name.")] = None
    grades: Annotated[
        str, typer.Option("--grades", help="The scale: 0-3, or names from worst to best (no,partly,yes).")
    ] = "0-3"
    overlap: Annotated[
        str, typer.Option("--overlap", help="Share of a judge's items that other judges have graded, to compare them.")
    ] = "10%"

    def data(self, sources: list[Path], reading: LabelledReadOptions) -> Dataset:
        """The data, with the labels so far if they are not the judgements themselves, which the session reads."""
        same = reading.labels is not None and os.path.realpath(reading.labels) == os.path.realpath(self.judgements)
        return reading.read(sources, labels=None, label_columns=None) if same else reading.read(sources)

    def check(self) -> None:
        """Fail before the data is read if an option is wrong."""
        from juryrank.tasks.judge.grades import Grades
        from juryrank.tasks.judge.store import JudgementFile

        JudgementFile(self.judgements), Grades.parse(self.grades), share(self.overlap), judge_name(self.judge)

    def session(self, data: Dataset, *, budget: int, judge: str | None = None) -> Session:
        """The session of the judge: it gives questions, and saves the answers."""
        from juryrank.tasks.judge.grades import Grades
        from juryrank.tasks.judge.session import Session
        from juryrank.tasks.judge.store import JudgementFile

        return Session(
            data, JudgementFile(self.judgements), judge or judge_name(self.judge),
            grades=Grades.parse(self.grades), budget=budget, overlap=share(self.overlap),
        )  # fmt: skip


class Command(QuickCommand):
    """Has a stricter rule for plans, which still may replace an earlier one in a folder of labels."""

    def check_outputs(self, ctx: Any) -> None:
        if ctx.params["combine"] is not None or ctx.params["agreement"] is not None:
            super().check_outputs(ctx)


def run(
    data: Data = None,
    budget: Budget = 100,
    interactive: Interactive = False,
    agreement: Agreement = None,
    *,
    combined: CombineOptions,
    session: SessionOptions,
    texts: TextOptions,
    model: EndpointOptions,
    reading: LabelledReadOptions,
    out: options.Output = None,
    quiet: options.Quiet = False,
) -> None:
    """Choose the items to judge next and write them to a file, or ask a person or a model for their grades."""
    if agreement is not None:
        show_agreement(agreement, out, quiet=quiet)
        return
    if combined.combine is not None:
        combined.run(reading.labels, out, quiet=quiet)
        return
    if not data:
        raise typer.BadParameter("DATA is required, files or folders with lists", param_hint="DATA")
    if model.is_used and interactive:
        raise typer.BadParameter("either a person judges, with --interactive, or a model, with --endpoint")
    if out is not None and (model.is_used or interactive):
        raise typer.BadParameter("grades are saved in the file of --judgements", param_hint="--out")
    if model.is_used:
        ask_model(data, budget, session, texts, model, reading, quiet=quiet)
    elif interactive:
        judge_interactively(data, budget, session, texts, reading, quiet=quiet)
    else:
        plan_ending(out)
        if out is not None:
            demand_unused_plan(out)
        write_plan(reading.read(data), budget, texts, out, labels=reading.labels, quiet=quiet)


def judge_interactively(
    sources: list[Path],
    budget: int,
    session: SessionOptions,
    texts: TextOptions,
    reading: LabelledReadOptions,
    *,
    quiet: bool,
) -> None:
    """Ask the judge in the terminal."""
    from juryrank.cli.judge_terminal import ask_in_terminal

    if options.STDIN in (*sources, reading.labels):
        raise typer.BadParameter("with --interactive, stdin has the answers; save the data to a file")
    session.check()
    data = session.data(sources, reading)
    ask_in_terminal(session.session(data, budget=budget), *texts.read(data, quiet=quiet))


def ask_model(
    sources: list[Path],
    budget: int,
    session: SessionOptions,
    texts: TextOptions,
    model: EndpointOptions,
    reading: LabelledReadOptions,
    *,
    quiet: bool,
) -> None:
    """Ask a model for the grades."""
    session.check()
    data = session.data(sources, reading)
    asked = session.session(data, budget=budget, judge=session.judge or model.model)
    with nullcontext() if model.dry_run else asked.file.claimed(asked.judge):
        judge = model.judge(asked, session.judgements, *texts.read(data, quiet=quiet))
        judge_by_model(asked, judge, model, quiet=quiet)


def write_plan(
    data: Dataset, budget: int, texts: TextOptions, out: Path | None, *, labels: Path | None, quiet: bool
) -> None:
    """Write the plan, for a spreadsheet with a column of labels to fill in."""
    from juryrank.io.files import deliver, stdout
    from juryrank.io.tables.frames import frame_lines
    from juryrank.tasks.judge.advice import judging_advice
    from juryrank.tasks.judge.plan import judging_plan

    with bars(quiet=quiet):
        plan = judging_plan(data, budget=budget)
    ending = plan_ending(out)
    if ending == JSON:
        lines = iter([plan.render("json").encode()])
    else:
        frame = plan_frame(plan, *texts.read(data, quiet=quiet), sheet=ending in SPREADSHEETS)
        lines = frame_lines(frame, f"plan{ending}", for_people=True)
    if out is not None:
        demand_unused_plan(out)  # again: somebody may have filled it in meanwhile
    deliver(lines, stdout() if out is None else out)
    note(f"{'' if out is None else f'{out}: '}{plan.note()}", quiet=quiet)
    if data.labels is not None and not quiet:
        note(judging_advice(data).text, quiet=quiet)
    if out is not None and ending != JSON:
        note(next_step(out, labels), quiet=quiet)


def next_step(out: Path, labels: Path | None) -> str:
    """What to do with the plan; labels of several batches are in one folder."""
    together = labels is not None and labels.is_dir() and out.parent.resolve() == labels.resolve()
    given = labels if together else out
    move = "" if labels is None or together else f", put it into one folder with {labels}"
    option = "--labels FOLDER" if move else f"--labels {given}"
    fit = f"juryrank fit DATA {option}"
    return f"Next: fill in the column label{move}; then {fit}, or judge DATA {option} for more items"


def plan_ending(out: Path | None) -> str:
    """The ending of the file for the plan, that of CSV for stdout; fails if no table has that ending."""
    from juryrank.io.source import ending_of
    from juryrank.io.tables.frames import ENDINGS

    if out is None:
        return ENDINGS[0]
    if (ending := ending_of(out)) not in (*ENDINGS, JSON):
        known = ", ".join((*ENDINGS, JSON))
        raise typer.BadParameter(f"the extension of {out} is none of {known}", param_hint="--out")
    return ending


def plan_frame(plan: JudgingPlan, items: Texts | None, queries: Texts | None, *, sheet: bool) -> pl.DataFrame:
    """The plan with texts, if there are such; for a spreadsheet with an empty column for labels."""
    from juryrank.polars import pl

    frame = plan.to_frame()
    for column, found, key in (("query_text", queries, "query"), ("text", items, "item")):
        if found is not None:
            cells = [found.get(name) for name in frame[key]]
            frame = frame.with_columns(pl.Series(column, cells, dtype=pl.String))
    return frame.with_columns(label=pl.lit(None, pl.String)) if sheet else frame


def show_agreement(path: Path, out: Path | None, *, quiet: bool) -> None:
    """Show or write how far judges agree."""
    from juryrank.tasks.judge.agreement import agreement

    deliver_report(agreement(path), None, as_json=False, out=out, quiet=quiet)


def judge_name(given: str | None) -> str:
    """The name of the judge: as given, or the login name."""
    import getpass

    try:
        name = (getpass.getuser() if given is None else given).strip()
    except (OSError, KeyError, ImportError):  # a process without a user, as in some containers
        name = ""
    if not name or not name.isprintable():
        found = "there is no login name" if given is None else f"got {given!r}"
        raise typer.BadParameter(f"the judge needs a name of printable characters; {found}", param_hint="--judge")
    return name


def share(text: str) -> float:
    """``"10%"`` or ``"0.1"`` as 0.1."""
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"a share from 0 to 1, or 0% to 100%, is needed, got {text!r}", param_hint="--overlap")
    return value


def _read_texts(path: Path | None, names: list[str], kind: str, *, quiet: bool) -> Texts | None:
    from juryrank.tasks.judge.texts import read_texts

    if path is None:
        return None
    found = read_texts(path, names, kind)
    counts = f"{len(found.by_id)} of {found.n_wanted} {'items' if kind == 'item' else 'queries'} have a text"
    more = f"; {found.n_others} texts of others are not used" if found.n_others else ""
    note(f"{path}: {counts}{more}", quiet=quiet)
    return found
