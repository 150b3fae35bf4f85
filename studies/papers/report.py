"""All outcomes as one report, in Markdown and as one page of HTML."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import juryrank as jr
from juryrank.errors import MissingExtraError
from studies.files import write_file
from studies.papers.experiment import Context
from studies.papers.findings import ABOVE, AGREES, BELOW, NOISE, Claim, Findings, OverviewRow, ResultRow, ResultTable
from studies.papers.run import Outcome
from studies.papers.workers import workers
from studies.pictures import Figure, draw
from studies.tables import Table, html_page, html_table, markdown_table, p_text

STYLE = (
    "body{max-width:90rem}td,th{padding:.15rem .5rem;font-size:13px}img{max-width:100%;display:block;margin:1rem 0}"
    "h1{margin-bottom:.2rem}h2{margin-top:3rem;border-bottom:3px solid #1f5fa8;padding-bottom:.2rem}"
    "h3{margin:2.5rem 0 0}h4{margin:1.2rem 0 0;color:#444}.good{color:#11662f}.bad{color:#a3301d}"
    ".good,.bad{font-weight:600}.noise{color:#666}nav a{margin-right:1rem}p{max-width:60rem}"
    "td:not(.n),td:last-child{white-space:normal}tr:has(.n)>td:nth-child(2){white-space:nowrap}"
    "td:first-child{min-width:9rem}tr:has(+tr>td:first-child:empty)>td{border-bottom-color:transparent}"
)
PAPERS = {
    "www2007": "Supervised rank aggregation (Liu, Liu, Qin, Ma, Li, WWW 2007)",
    "www2012": "A flexible generative model for preference aggregation (Volkovs, Zemel, WWW 2012)",
    "cikm2012": "Learning to rank by aggregating expert preferences (Volkovs, Larochelle, Zemel, CIKM 2012)",
    "cikm2013": "CRF framework for supervised preference aggregation (Volkovs, Zemel, CIKM 2013)",
    "www2017": "LETOR methods for unsupervised rank aggregation (Bhowmik, Ghosh, WWW 2017)",
    "ours": "Beyond the five papers",
}
VERDICTS = (
    f"*{AGREES}*: at most 0.02 apart in every column, or the claim also holds here. *{NOISE}*: at most two standard "
    "errors apart. *above*, *below*: more than that. Values per query of the papers are not known, so the standard "
    "error is that of the difference of our svd-lambdarank and crf, two learners of similar quality, on the same "
    "queries."
)


@dataclass(frozen=True)
class Part:
    """A heading with texts, tables and figures."""

    level: int
    title: str
    texts: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


def write(outcomes: Sequence[Outcome], context: Context) -> list[Path]:
    """The files of the report: report.html, report.md and a picture for every figure."""
    parts = list(parts_of(outcomes, context))
    pictures = _pictures([figure for part in parts for figure in part.figures], context)
    written = {context.out / f"{name}.png": content for name, content in pictures.items()}
    written[context.out / "report.md"] = markdown(parts, pictures).encode()
    written[context.out / "report.html"] = page(parts, pictures).encode()
    for path, content in written.items():
        write_file(path, content)
    return list(written)


def parts_of(outcomes: Sequence[Outcome], context: Context) -> Iterable[Part]:
    """The report from top to bottom."""
    seeds = ", ".join(map(str, context.seeds))
    how = f"juryrank {jr.__version__}, seeds {seeds}. " + (
        "Quick (--quick): one seed, fewer passes and draws; numbers differ a little. " if context.quick else ""
    )
    yield Part(1, "Five papers, reproduced", [how + "Every number is × 100 where a table does not say otherwise."])
    done = [o for o in outcomes if o.findings is not None]
    targets = [claim for o in done if o.findings for claim in o.findings.targets]
    met = sum(target.holds for target in targets)
    yield Part(2, "Targets", [f"{met} of {len(targets)} are met."], [targets_table(targets)])
    yield Part(2, "Verdicts", [VERDICTS], [summary({o.experiment.name: o.findings for o in done if o.findings})])
    for paper, title in PAPERS.items():
        mine = [o for o in done if o.experiment.paper == paper]
        if mine:
            rows = [row for o in mine if o.findings for row in o.findings.overview]
            yield Part(2, title, [], [overview_table(rows)] if rows else [])
            for outcome in mine:
                yield _part(outcome)
    lacking = [[o.experiment.name, o.experiment.title, o.lacking] for o in outcomes if o.findings is None]
    if lacking:
        yield Part(2, "Skipped", [], [Table("", ["experiment", "", "why"], lacking, n_names=3)])


def targets_table(targets: Sequence[Claim]) -> Table:
    """Targets beside what was measured."""
    rows = [[t.text, t.measured, "met" if t.holds else "NOT met"] for t in targets]
    return Table("", ["target", "measured", ""], rows, n_names=3)


def overview_table(rows: Sequence[OverviewRow]) -> Table:
    """The tables and figures of a paper: printed, as printed, ours."""
    cells = [[row.what, row.printed, row.as_printed, row.extension, row.verdict] for row in rows]
    columns = ["table or figure", "printed", "as printed (ours)", "our extension", "verdict"]
    return Table("", columns, sorted(cells), n_names=len(columns))


def summary(done: Mapping[str, Findings]) -> Table:
    """How many rows and claims of each experiment agree."""
    rows = []
    for name, findings in done.items():
        found = [b.verdict(line) for b in findings.results for line in b.rows if line.published]
        words = [next((w for w in (AGREES, NOISE, ABOVE, BELOW) if v.startswith(w)), v) for v in found]
        counts = [str(words.count(word)) for word in (AGREES, NOISE, ABOVE, BELOW)] if found else ["", "", "", ""]
        claims = findings.claims
        held = f"{sum(c.holds for c in claims)} of {len(claims)}" if claims else ""
        if found or claims:
            rows.append([name, *counts, held])
    columns = ["experiment", f"rows that {AGREES.removesuffix('s')}", NOISE, ABOVE, BELOW, "claims that hold"]
    return Table("", columns, rows, note="Rows that are above in some columns and below in others count as above.")


def _part(outcome: Outcome) -> Part:
    found = outcome.findings or Findings()
    tables = [table for b in found.results for table in shown_tables(b)]
    if found.claims:
        title = "Findings" if outcome.experiment.paper == "ours" else "Claims of the paper"
        tables.append(claims_table(found.claims, title))
    return Part(3, outcome.experiment.title, found.notes, [*tables, *found.tables], found.figures)


def shown_tables(b: ResultTable) -> list[Table]:
    """Published, measured and the difference of every row; then every row against the baseline."""
    tables = [_published(b) if any(line.published for line in b.rows) else _measured(b)]
    tested = [line for line in b.rows if line.p]
    if tested:
        columns = ["method", *(text for metric in b.tested for text in (f"{metric} ahead by", "s.e.", "p")), "verdict"]
        body = [[line.label, *_leads(line), b.against_baseline(line)] for line in tested]
        note = "Paired by query: s.e. is of the difference, p of a randomisation test with 100,000 draws."
        tables.append(Table(f"Against {b.baseline}", columns, body, note=note))
    return tables


def _published(b: ResultTable) -> Table:
    rows, extra = [], _spread_column(b)
    empty = [""] * len(extra)
    for line in b.rows:
        if line.published:
            rows.append([line.label, line.source, *map(_two, line.published), *empty, b.verdict(line)])
        if line.measured:
            label = "" if line.published else line.label
            rows.append([label, "measured", *map(_two, line.measured), *(_two(line.spread) for _ in extra), ""])
        if line.measured and line.published:
            differences = [f"{d:+.2f}" if d is not None else "" for d in line.differences()]
            rows.append(["", "difference", *differences, *empty, ""])
    if b.noise:
        rows.append(["one standard error", "of a difference", *map(_two, b.noise), *empty, ""])
    return Table(b.title, ["method", "", *b.columns, *extra, "verdict"], rows, n_names=2, note=b.note)


def _measured(b: ResultTable) -> Table:
    extra = _spread_column(b)
    rows = [[line.label, *map(_two, line.measured), *(_two(line.spread) for _ in extra)] for line in b.rows]
    return Table(b.title, ["method", *b.columns, *extra], rows, note=b.note)


def _spread_column(b: ResultTable) -> list[str]:
    return ["± folds and seeds"] if any(line.spread is not None for line in b.rows) else []


def _leads(row: ResultRow) -> list[str]:
    out = []
    for lead, error, p in zip(row.lead, row.error, row.p, strict=True):
        out += ["–" if lead is None else f"{lead:+.2f}", _two(error), p_text(p)]
    return out


def claims_table(claims: Sequence[Claim], title: str) -> Table:
    """Claims in words, beside what was measured."""
    rows = [[claim.text, claim.measured, claim.verdict] for claim in claims]
    return Table(title, ["claim", "measured", "verdict"], rows, n_names=3)


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _pictures(figures: Sequence[Figure], context: Context) -> dict[str, bytes]:
    """PNG by name; empty if matplotlib is not installed."""
    try:
        contents = workers(context).map(draw, figures)
        return {figure.name: picture for figure, picture in zip(figures, contents, strict=True)}
    except MissingExtraError:
        return {}


def markdown(parts: Sequence[Part], pictures: dict[str, bytes]) -> str:
    """The report as Markdown; pictures are files beside it."""
    lines = []
    for part in parts:
        lines += [f"{'#' * part.level} {part.title}", *part.texts, *map(markdown_table, part.tables)]
        lines += [f"![{f.title}]({f.name}.png)" if f.name in pictures else _placeholder(f) for f in part.figures]
    return "\n\n".join(line.rstrip("\n") for line in lines) + "\n"


def page(parts: Sequence[Part], pictures: dict[str, bytes]) -> str:
    """The report as one page that includes the pictures."""
    links = [(f"p{n}", part.title.partition(" (")[0]) for n, part in enumerate(parts) if part.level == 2]
    nav = "<nav>" + " ".join(f'<a href="#{anchor}">{html.escape(text)}</a>' for anchor, text in links) + "</nav>"
    out = []
    for n, part in enumerate(parts):
        out.append(f'<h{part.level} id="p{n}">{html.escape(part.title)}</h{part.level}>')
        out += [nav] if part.level == 1 else []
        out += [f"<p>{_emphasised(text)}</p>" for text in part.texts]
        out += [html_table(table, verdict_class) for table in part.tables]
        for figure in part.figures:
            if figure.name not in pictures:
                out.append(f"<p>{html.escape(_placeholder(figure))}</p>")
                continue
            content = base64.b64encode(pictures[figure.name]).decode()
            out.append(f'<img alt="{html.escape(figure.title)}" src="data:image/png;base64,{content}">')
    return html_page("Five papers, reproduced", "\n".join(out), STYLE)


def verdict_class(cell: str) -> str:
    """The HTML class of a cell: good, bad or noise if it is a verdict."""
    if ABOVE in cell and f"; {BELOW}" in cell:
        return ""
    if cell == "met" or cell.startswith((AGREES, ABOVE)):
        return "good"
    if cell == "NOT met" or cell.startswith((BELOW, "differs")):
        return "bad"
    return "noise" if cell.startswith((NOISE, "no different", "not measured")) else ""


def _emphasised(text: str) -> str:
    pieces = html.escape(text).split("*")
    return "".join(f"<em>{piece}</em>" if n % 2 else piece for n, piece in enumerate(pieces))


def _placeholder(figure: Figure) -> str:
    return f"({figure.title}: plots need matplotlib, pip install 'juryrank[plots]')"
