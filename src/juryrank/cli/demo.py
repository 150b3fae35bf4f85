"""``juryrank demo``: search systems of TREC-COVID, combined without and with judgements."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import console

if TYPE_CHECKING:
    from rich.table import Table

    from juryrank.data import Consensus, Dataset
    from juryrank.data.arrays import Floats

FOLDER = files("juryrank") / "demo" / "trec-covid"
METRIC, FOLDS, SEED = "nDCG@10", 5, 0
BASELINE, LEARNED = "rrf", "jury"
SHOWN = 5  # articles of one topic
INTRODUCTION = (
    "TREC-COVID round 1: 12 search systems ranked articles for 30 topics; NIST judged the articles (0, 1 or 2). "
    "This excerpt has the first 100 articles of each list and all judgements."
)
NEXT = """Next, with your own data (TREC runs and qrels, CSV, Parquet, …):
  juryrank fuse a.run b.run -o fused.run            combine runs without judgements
  juryrank compare RUNS --labels QRELS --folds 5 --methods rrf,jury
                                                    measure the gain from learning
  juryrank fit RUNS --labels QRELS -o model.json    learn how reliable each run is
  juryrank methods                                  all methods"""


@dataclass(frozen=True)
class Result:
    """The metric of one system or method, topic by topic; ``kind`` is "learned", "fused" or "system"."""

    name: str
    kind: str
    values: Floats

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean over topics, by the t distribution."""
        from juryrank.evaluation.significance import half_width

        half = half_width(self.values)
        return self.mean - half, self.mean + half


def run(
    query: Annotated[str, typer.Option("--query", help="The topic whose articles are shown, 1 … 30.")] = "1",
    quiet: options.Quiet = False,
) -> None:
    """Combine 12 search systems of TREC-COVID with and without judgements, and show the gain."""
    from juryrank.methods import method

    data = read_demo()
    chosen = data[query]  # before the work: an unknown topic is an error
    out = console()
    out.print(INTRODUCTION + "\n", style="bold")
    results = measure(data)
    out.print(standings(results, points_for_first(data)))
    out.print(gains(results), explanation(results) + "\n", sep="\n")
    others = data[[n for n, topic in enumerate(data.queries) if topic != query]]
    consensuses = {name: method(name).fit(others).predict(chosen) for name in (BASELINE, LEARNED)}
    out.print(f"Topic {query}: the first {SHOWN} articles ({LEARNED} learned from the other {len(others)} topics)")
    out.print(one_topic(chosen, consensuses), NEXT, sep="\n")


def read_demo() -> Dataset:
    """The embedded excerpt of TREC-COVID round 1."""
    from juryrank.io import read

    with as_file(FOLDER / "runs.parquet") as runs, as_file(FOLDER / "qrels.parquet") as qrels:
        return read(runs, labels=qrels)


def measure(data: Dataset) -> list[Result]:
    """Every system, RRF and jury on the same topics, best first; jury is tested on topics it did not learn from."""
    from juryrank.evaluation import compare, evaluate

    comparison = compare([BASELINE, LEARNED], data, METRIC, folds=FOLDS, seed=SEED)
    rows = [
        Result(name, "learned" if name == LEARNED else "fused", values)
        for name, (values,) in zip(comparison.names, comparison.values, strict=True)
    ]
    systems = evaluate(data, data, METRIC)
    order = [systems.queries.index(topic) for topic in comparison.queries]
    rows += [
        Result(name, "system", values[order]) for name, (values,) in zip(systems.names, systems.values, strict=True)
    ]
    return sorted(rows, key=lambda row: -row.mean)


def points_for_first(data: Dataset) -> dict[str, float]:
    """What a jury of all topics gives an article for the first rank in the list of each system."""
    from juryrank.methods import method
    from juryrank.tasks.fuse import fuse

    model = method(LEARNED).fit(data)
    return {system: fuse({system: ["article"]}, model=model)["article"] for system in data.experts}


def standings(results: list[Result], points: dict[str, float]) -> Table:
    """Systems and methods in one table, best first."""
    from rich.table import Table

    table = Table("", "")
    for column in (METRIC, "95 % interval", "points"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in results:
        low, high = row.interval
        first = f"{points[row.name]:+.2f}" if row.name in points else ""
        style = "dim" if row.kind == "system" else ""
        table.add_row(row.name, row.kind, f"{row.mean:.3f}", f"{low:.3f} – {high:.3f}", first, style=style)
    return table


def gains(results: list[Result]) -> Table:
    """Paired differences on the same topics, with intervals and p-values."""
    from rich.table import Table

    from juryrank.evaluation.significance import randomisation, win_tie_loss

    values = {row.name: row.values for row in results} | {"best system": best_system(results).values}
    table = Table("")
    for column in ("difference", "95 % interval", "p", "W/T/L"):
        table.add_column(column, justify="right", no_wrap=True)
    for one, other in ((LEARNED, BASELINE), (LEARNED, "best system"), (BASELINE, "best system")):
        difference = values[one] - values[other]
        gain = Result("", "", difference)
        low, high = gain.interval
        p = f"{randomisation(difference, seed=SEED):.3f}"
        counts = "/".join(map(str, win_tie_loss(difference)))
        table.add_row(f"{one} over {other}", f"{gain.mean:+.3f}", f"{low:.3f} – {high:.3f}", p, counts)
    return table


def best_system(results: list[Result]) -> Result:
    return next(row for row in results if row.kind == "system")


def explanation(results: list[Result]) -> str:
    """How the numbers were measured."""
    return "\n".join(
        [
            f"{BASELINE} uses no judgements. {LEARNED} learns from them, with {FOLDS}-fold cross-validation: each "
            "topic is ranked by a model trained on 18 other topics.",
            f"The best system, {best_system(results).name}, is chosen with these judgements; without them it "
            "would not be known.",
            "W/T/L: topics won, tied, lost. p: two-sided randomisation test over topics, not corrected for the "
            "three comparisons. Intervals: t distribution.",
            f"points: the points that {LEARNED} gives an article for rank 1 in the list of a system. They depend on "
            "what a system adds to the others, not only on its quality.",
        ]
    )


def one_topic(data: Dataset, consensuses: dict[str, Consensus]) -> Table:
    """The first articles of one topic by each method, with their judgements."""
    from rich.table import Table

    (topic,) = data.queries
    r = data.rankings
    labels = dict(zip(r.items[r.slot_item], data.slot_labels.tolist(), strict=True))
    table = Table("rank")
    tops = []
    for name, consensus in consensuses.items():
        table.add_column(name)
        table.add_column("judged")
        tops.append(consensus.top(SHOWN)[topic])
    for rank, row in enumerate(zip(*tops, strict=True), 1):
        cells = [cell for item in row for cell in (item, f"{labels[item]:g}".replace("nan", "unjudged"))]
        table.add_row(str(rank), *cells)
    return table
