"""The results of a benchmark in the documentation: the table of targets, and a page with all rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from juryrank.errors import DataError
from studies.files import write_file
from studies.pictures import draw
from studies.speed.clock import bytes_text, seconds_text
from studies.speed.commands import commands_table
from studies.speed.picture import growth_figure, ratio_figure
from studies.speed.table import Benchmark, Series
from studies.speed.targets import targets_table
from studies.tables import Table, markdown_table

PAGE, TABLE_PAGE = "benchmarks.md", "benchmarks-table.md"
START, END = "<!-- targets, written by `python -m studies bench --docs` -->", "<!-- end of targets -->"
HEAD = """# Benchmark table

All rows of one run of `python -m studies bench --docs docs`, which writes this page; [Benchmarks](benchmarks.md)
explains what is measured and lists the targets.
"""
GROWTH = """Random lists of 20 out of 40 items by five experts; the number of queries grows, so that there are a
thousand to ten million entries. A method stops at the size after which a call would take more than some seconds. Slope
1 is linear; slopes are fitted from 10,000 entries on, or from 1,000 if a method stops at 10,000.
"""
PICTURE = "![Seconds over entries](scaling.svg)\n"


def write_docs(report: Benchmark, folder: Path, *, complete: bool) -> list[Path]:
    """Write the targets of a run to the documentation in ``folder``, and all rows if the run was complete."""
    contents: dict[str, str | bytes] = {PAGE: with_targets(_text(folder / PAGE), report)}
    if complete:
        contents[TABLE_PAGE] = table_page(report)
    if complete and find_spec("matplotlib") is not None:
        if any(row.series for row in report.results):
            contents["scaling.svg"] = draw(growth_figure(report), "svg")
        if any(row.ratio is not None for row in report.results):
            contents["speed.svg"] = draw(ratio_figure(report), "svg")
    for name, content in contents.items():
        write_file(folder / name, content)
    return [folder / name for name in contents]


def _text(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{page}: cannot be read: {error.strerror or error}") from None


def with_targets(text: str, report: Benchmark) -> str:
    """The text of a page with the targets of this run between the two marks."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise DataError(f"{PAGE}: expected the lines {START} and {END}, between which the targets are written")
    table = markdown_table(_untitled(targets_table(report.targets)))
    return f"{before}{START}\n\n{summary(report)}\n\n{table}\n{END}{after}"


def summary(report: Benchmark) -> str:
    """How many targets of a run are met, and how busy the machine was."""
    counts = Counter(target.verdict for target in report.targets)
    text = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    return f"Of {len(report.targets)} targets in this run: {text}. {report.machine}"


def table_page(report: Benchmark) -> str:
    """The page with all rows."""
    speed = report.tables()[0]
    parts = [HEAD, f"{speed.note}\n", "## Speed\n", markdown_table(_untitled(speed))]
    if report.commands:
        commands = commands_table(report.commands)
        parts += ["## Commands\n", f"{commands.note}\n", markdown_table(_untitled(commands))]
    if any(row.series for row in report.results):
        parts += [
            "## Growth\n",
            GROWTH,
            markdown_table(_growth_table(report)),
            "![Seconds over entries](scaling.svg)\n",
        ]
    return "\n".join(parts)


def _growth_table(report: Benchmark) -> Table:
    """The largest size of every method whose growth was measured."""
    by_name: dict[str, Series] = {}
    for series in sorted((row.series for row in report.results if row.series), key=lambda one: one.entries[-1]):
        by_name[series.name] = series
    rows = [
        [name, f"{one.entries[-1]:,}", seconds_text(one.seconds[-1]), bytes_text(one.memory[-1]), f"{one.slope:.2f}"]
        for name, one in sorted(by_name.items())
    ]
    return Table("", ["method", "entries", "time", "memory", "slope"], rows)


def _untitled(table: Table) -> Table:
    return replace(table, title="", note="")
