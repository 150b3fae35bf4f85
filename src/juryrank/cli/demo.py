"""``juryrank demo``: the main job on embedded data, with an honest verdict."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import bars, console

if TYPE_CHECKING:
    from rich.table import Table

    from juryrank.data import Consensus, Dataset, Fold

Scores = dict[str, dict[str, float]]  # name -> metric -> mean

METRICS = list(options.DEFAULT_METRICS)
FOLDER = files("juryrank") / "demo"
INTRODUCTION = "24 questions about cooking, 105 short texts; six experts rank texts for each question."
CHOSEN = "q23"  # the consensus does well on it; the table over all questions says how far that goes
CONSENSUS = ["rrf", "isr", "borda", "median-rank", "combsum", "combmnz", "condorcet", "copeland", "mc4", "kemeny"]
LEARNED = "jury"
NEXT = """Next:
  juryrank methods                          every method, and juryrank methods rrf for one
  juryrank fuse a.run b.run -o fused.run    your own runs (TREC format or tables)
  juryrank compare DATA --labels QRELS      methods side by side on your own data
  juryrank fit DATA --labels QRELS -o model.json    learn whom to trust"""


def run(
    query: Annotated[str, typer.Option("--query", help="The question to show, q01 … q24.")] = CHOSEN,
    quiet: options.Quiet = False,
) -> None:
    """Combine the rankings of six experts on embedded data, with and without labels, and say how good that is."""
    from juryrank.evaluation.compare import compare
    from juryrank.evaluation.evaluate import evaluate
    from juryrank.io import read
    from juryrank.methods import method

    with as_file(FOLDER / "cooking.csv") as path:
        data = read(path)
    out = console()
    out.print(INTRODUCTION + "\n", style="bold")
    text = json.loads((FOLDER / "queries.json").read_text(encoding="utf-8"))
    tops, fused = one_question(data[query], method("rrf").fit_predict(data)[query])
    out.print(f"{query}: “{text[query]}”", tops, fused, "Label 2 answers it, 1 in part, 0 does not.\n", sep="\n")
    with bars(quiet=quiet) as show:
        found = compare(
            [*CONSENSUS, LEARNED],
            data,
            METRICS,
            folds=leave_one_out(data),
            progress=lambda work: show(work, "comparing"),
        )
    methods = {
        name: dict(zip(METRICS, means, strict=True))
        for name, means in zip(found.names, found.means.tolist(), strict=True)
    }
    experts = evaluate(data, data, METRICS).means()
    out.print(standings(experts, methods))
    out.print(verdict(experts, methods) + "\n\n" + NEXT)


def leave_one_out(data: Dataset) -> list[Fold]:
    """One fold per question: learn from the others, test on it."""
    from juryrank.data import Fold

    every = range(len(data))
    return [Fold(data.queries[q], tuple(i for i in every if i != q), (), (q,)) for q in every]


def one_question(data: Dataset, consensus: Consensus) -> tuple[Table, Table]:
    """The top of each expert's list for a question, and the consensus with its labels."""
    from rich.table import Table

    from juryrank.metrics.inputs import consensus_by_expert

    (query,) = data.queries
    tops = Table("expert", "1", "2", "3")
    for expert, alone in consensus_by_expert(data.rankings).items():
        tops.add_row(expert, *alone.top(3)[query])
    r = data.rankings
    labels = dict(zip(r.items[r.slot_item], data.slot_labels.tolist(), strict=True))
    fused = Table("rank", "consensus (rrf)", "label")
    for rank, item in enumerate(consensus.top(5)[query], 1):
        fused.add_row(str(rank), item, f"{labels[item]:g}".replace("nan", "unjudged"))
    return tops, fused


def standings(experts: Scores, methods: Scores) -> Table:
    """Experts and methods in one table, best first."""
    from rich.table import Table

    first = METRICS[0]
    table = Table("", "", title="All 24 questions", title_justify="left")
    for metric in METRICS:
        table.add_column(metric, justify="right", no_wrap=True)
    rows = [("expert", *row) for row in experts.items()]
    rows += [("learned" if name == LEARNED else "consensus", name, scores) for name, scores in methods.items()]
    for kind, name, scores in sorted(rows, key=lambda row: -row[2][first]):
        style = "dim" if kind == "expert" else ""
        table.add_row(kind, name, *(f"{scores[metric]:.4f}" for metric in METRICS), style=style)
    return table


def verdict(experts: Scores, methods: Scores) -> str:
    """What the numbers show, and what they do not."""
    metric = METRICS[0]
    learned, fixed = methods[LEARNED][metric], {name: methods[name][metric] for name in CONSENSUS}
    best = max(experts, key=lambda name: experts[name][metric])
    below = sum(value < learned for value in fixed.values())
    return (
        f"{LEARNED} ({learned:.4f}) learns whom to trust from the labels of the other questions, and is above {below} "
        f"of the {len(fixed)} methods that use no labels (rrf: {fixed['rrf']:.4f}).\n"
        f"The best single expert is {best} ({experts[best][metric]:.4f}); which one that is, is known only with "
        "labels, and these were made for this demo by one judge.\n"
        "24 questions are too few to tell methods apart: this is a demonstration, not a benchmark."
    )
