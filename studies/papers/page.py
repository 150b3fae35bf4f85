"""Pages of the documentation with the results of one run: the stored results, and the parts of pages that show them.

A page has ``<!-- reproduced: WHAT -->`` and ``<!-- end -->``; what is between them is written from the stored results.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import juryrank as jr
from juryrank.errors import DataError
from studies.files import write_file
from studies.papers.experiment import Context
from studies.papers.findings import Findings
from studies.papers.overview import UNSTATED
from studies.papers.report import PAPERS, overview_table, shown_tables, summary, targets_table
from studies.papers.run import Outcome
from studies.tables import Table, markdown_table

FILE = "reproduced.json"
PAGES = ("reproduce.md", "findings.md", "learn.md", "supervised.md", "item-features.md", "crowd.md")
FILLED = re.compile(r"(<!-- reproduced: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
NUMBER = re.compile(r"\d+\.\d+")
COMMAND = re.compile(r"python\s-m\sstudies\sreproduce((?:\s+[a-z][\w-]*)+)")


@dataclass(frozen=True)
class Record:
    """The results of one run of all experiments."""

    version: str
    seeds: tuple[int, ...]
    cores: int
    seconds: dict[str, float]  # by experiment
    findings: dict[str, Findings]  # without figures
    skipped: dict[str, str]  # by experiment: why it was not run

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record in a file."""
        stored: dict[str, Any] = json.loads(path.read_bytes())
        findings = {name: Findings.from_dict(each) for name, each in stored.pop("findings").items()}
        return cls(**{**stored, "seeds": tuple(stored["seeds"]), "findings": findings})


def write_docs(outcomes: Sequence[Outcome], context: Context, folder: Path) -> list[Path]:
    """Store the results of a whole run in the folder of the documentation, and write them into its pages."""
    if failed := [o.experiment.name for o in outcomes if o.failed]:
        raise DataError(f"the pages are not written, because experiments failed: {', '.join(failed)}")
    done = {o.experiment.name: o for o in outcomes}
    record = {
        "version": jr.__version__,
        "seeds": context.seeds,
        "cores": os.cpu_count() or 1,
        "seconds": {name: o.seconds for name, o in done.items() if o.findings},
        "findings": {name: replace(o.findings, figures=()).to_dict() for name, o in done.items() if o.findings},
        "skipped": {n: o.lacking.removesuffix(f" in {context.data}") for n, o in done.items() if not o.findings},
    }
    text = json.dumps(record, ensure_ascii=False, indent=1)
    write_file(folder / FILE, re.sub(r"\d+\.\d{6,}", lambda n: f"{float(n[0]):.5f}", text) + "\n")
    stored = Record.read(folder / FILE)
    for name in PAGES:
        write_file(folder / name, filled((folder / name).read_text(), stored))
    return [folder / name for name in (FILE, *PAGES)]


def filled(text: str, record: Record) -> str:
    """A page with the results of a record."""
    return FILLED.sub(lambda found: f"{found[1]}\n{shown(found[2], record)}\n{found[3]}", text)


def shown(what: str, record: Record) -> str:
    """One part of a page.

    ``run``, ``overview PAPER``, ``targets``, ``summary``, ``parameters``, or the table of an experiment:
    ``EXPERIMENT / TITLE``, with `` | COLUMN, …`` for some of its columns.
    """
    name, _, rest = what.partition(" ")
    if name in PARTS:
        return PARTS[name](record, rest)
    name, _, rest = what.partition(" / ")
    title, _, columns = rest.partition(" | ")
    if name not in record.findings:
        raise DataError(f"reproduced: {what}: there is no result of {name}")
    tables = {table.title: table for table in tables_of(record.findings[name])}
    if title not in tables:
        raise DataError(f"reproduced: {what}: {name} has the tables {', '.join(tables)}")
    return markdown_table(replace(_columns(tables[title], columns), title=""))


def _columns(table: Table, wanted: str) -> Table:
    if not wanted:
        return table
    at = [table.columns.index(column) for column in wanted.split(", ")]
    at = [*range(table.n_names), *(n for n in at if n >= table.n_names)]
    return replace(table, columns=[table.columns[n] for n in at], rows=[[row[n] for n in at] for row in table.rows])


def tables_of(findings: Findings) -> list[Table]:
    """All tables of an experiment as a reader sees them."""
    return [*(table for result in findings.results for table in shown_tables(result)), *findings.tables]


def _run(record: Record, rest: str) -> str:
    minutes = sum(record.seconds.values()) / 60
    skipped = f", {len(record.skipped)} skipped because their data is absent" if record.skipped else ""
    return (
        f"juryrank {record.version}, seeds {', '.join(map(str, record.seeds))}: {len(record.findings)} experiments in "
        f"{minutes:.0f} minutes on {record.cores} cores{skipped}.\n"
    )


def _overview(record: Record, paper: str) -> str:
    rows = [row for name, found in record.findings.items() if name.startswith(f"{paper}-") for row in found.overview]
    return markdown_table(overview_table(rows))


def _targets(record: Record, rest: str) -> str:
    return markdown_table(targets_table([t for found in record.findings.values() for t in found.targets]))


def _summary(record: Record, rest: str) -> str:
    return markdown_table(summary(record.findings))


def _parameters(record: Record, rest: str) -> str:
    rows = [
        (paper_of(name), *row)
        for name, found in record.findings.items()
        for table in found.tables
        if table.title == UNSTATED
        for row in table.rows
    ]
    columns = ["paper", "parameter", "value", "how it was chosen"]
    return markdown_table(Table("", columns, [list(row) for row in dict.fromkeys(rows)], n_names=4))


def paper_of(experiment: str) -> str:
    """The paper of an experiment, as people cite it.

    >>> paper_of("cikm2013-table2-MQ2008-agg"), paper_of("learners")
    ('CIKM 2013', 'ours')
    """
    paper = experiment.partition("-")[0]
    return f"{paper[:-4].upper()} {paper[-4:]}" if paper in PAPERS and paper != "ours" else "ours"


PARTS: dict[str, Callable[[Record, str], str]] = {
    "run": _run,
    "overview": _overview,
    "targets": _targets,
    "summary": _summary,
    "parameters": _parameters,
}


def foreign_numbers(text: str, record: Record) -> list[str]:
    """The numbers of a page that no named experiment gives, each with the heading above it.

    In every section that has a command ``python -m studies reproduce EXPERIMENT …``, numbers with decimals must be
    results of these experiments, rounded as in the page.
    """
    wrong = []
    for heading, section in sections(FILLED.sub("", text)):
        words = [word for found in COMMAND.findall(section) for word in found.split()]
        known = [float(n) for word in words for n in NUMBER.findall(_text_of(word, record))]
        for number in numbers_in(section) if words else ():
            decimals = len(number.partition(".")[2])
            if not any(abs(float(number) - value) <= 0.5000001 * 10**-decimals for value in known):
                wrong.append(f"{heading}: {number}")
    return wrong


def unexplained_numbers(text: str) -> list[str]:
    """The numbers with decimals in sections without a command, each with the heading above it."""
    without = [part for part in sections(FILLED.sub("", text)) if not COMMAND.search(part[1])]
    return [f"{heading}: {number}" for heading, section in without for number in numbers_in(section)]


def numbers_in(section: str) -> list[str]:
    """The numbers with decimals outside code."""
    return NUMBER.findall(re.sub(r"```.*?```|`[^`]*`", "", section, flags=re.DOTALL))


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Headings of a page, each with the text below it up to the next one."""
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    yield "", parts[0]
    yield from zip(parts[1::2], parts[2::2], strict=True)


def _text_of(word: str, record: Record) -> str:
    """Everything that the experiment of a name, or those of a paper, found, as text."""
    found = [each for name, each in record.findings.items() if name == word or name.startswith(f"{word}-")]
    if not found:
        raise DataError(f"python -m studies reproduce {word}: there is no stored result of this experiment")
    texts: list[Any] = []
    for each in found:
        texts += [f"{claim.text} {claim.measured}" for claim in (*each.claims, *each.targets)]
        texts += [markdown_table(table) for table in tables_of(each)]
        texts += [*each.notes, *(vars(row) for row in each.overview)]
    return " ".join(map(str, texts))


def stale(folder: Path) -> list[str]:
    """What a page shows of other runs: numbers that the stored one did not give, tables that differ from it."""
    record = Record.read(folder / FILE)
    found = []
    for name in PAGES:
        text = (folder / name).read_text()
        wrong = foreign_numbers(text, record)
        wrong += ["a table is not as stored"] if filled(text, record) != text else []
        found += [f"{name}: {each}" for each in wrong]
    return found
