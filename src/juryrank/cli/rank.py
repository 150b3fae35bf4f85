"""``juryrank rank``: the consensus of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import completion, options
from juryrank.cli.reading import FullReadOptions, ReadOptions, use_tags
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.methods import Aggregator


@dataclass(frozen=True)
class RankOptions:
    """How ``rank`` and ``fuse`` rank and write."""

    model: options.Fitted = None
    out: options.Output = None
    memory: options.Memory = None
    top: options.Top = None
    tag: options.Tag = None
    tie_break: options.TieBreakRule = "none"
    seed: Annotated[int, typer.Option("--seed", help="Random seed of --tie-break random.")] = 0
    quiet: options.Quiet = False


def run(
    data: options.Sources,
    method: Annotated[
        str | None, typer.Option("--method", help="A name from `juryrank methods`.", autocompletion=completion.methods)
    ] = None,
    *,
    ranking: RankOptions,
    parameters: options.ParameterOptions,
    reading: FullReadOptions,
) -> None:
    """Rank the items of a dataset by a method or a model; without -o a TREC run goes to stdout."""
    rank(data, method, ranking, parameters, reading)


def rank(
    sources: list[Path],
    name: str | None,
    ranking: RankOptions,
    parameters: options.ParameterOptions,
    reading: ReadOptions,
) -> None:
    """Rank the sources by the named method or by the model, and write the result."""
    chosen = chosen_method(name, ranking.model, parameters)
    if ranking.memory is not None:
        _rank_by_query(sources, chosen, ranking, ranking.memory, reading)
        return
    from juryrank.io import write
    from juryrank.io.files import stdout

    data = reading.read(sources)
    use_tags(chosen, data)
    with bars(quiet=ranking.quiet):
        consensus = (chosen if ranking.model is not None else chosen.fit(data)).predict(data)
    consensus = consensus.break_ties(options.tie_break(ranking.tie_break), seed=ranking.seed)
    top, tag, out = ranking.top, ranking.tag, ranking.out
    write(consensus, stdout() if out is None else out, top=top, tag=tag)
    if out is None:
        return
    items = sum(min(int(size), top or size) for size in consensus.rankings.query_size)
    note(f"{out}: {len(consensus)} queries, {items} items ranked by {chosen.name}", quiet=ranking.quiet)


def chosen_method(name: str | None, model: Path | None, parameters: options.ParameterOptions) -> Aggregator:
    """The method of ``--method``, or the model of ``--model``."""
    if (name is None) == (model is None):
        raise typer.BadParameter("exactly one of --method and --model is required")
    if name is not None:
        return parameters.method(name)
    if parameters.param or parameters.weights:
        raise typer.BadParameter("--param and --weights cannot be used with --model, which has its own parameters")
    from juryrank.models import load

    return load(str(model))


def _rank_by_query(
    sources: list[Path], chosen: Aggregator, ranking: RankOptions, memory: str, reading: ReadOptions
) -> None:
    if options.STDIN in sources:
        raise typer.BadParameter("stdin cannot be read query by query; save it to a file", param_hint="--memory")
    if not reading.only_lists:
        raise typer.BadParameter("--labels and --features cannot be used with --memory")
    from juryrank.io.files import stdout
    from juryrank.tasks.files.rank_files import rank_files

    out = ranking.out
    with bars(quiet=ranking.quiet):
        queries, items = rank_files(
            sources, chosen, stdout() if out is None else out, memory=options.size(memory),
            format=reading.source_format, options=reading.table_options(), top=ranking.top,
            tag=ranking.tag, tie_break=options.tie_break(ranking.tie_break), seed=ranking.seed,
        )  # fmt: skip
    if out is not None:
        note(f"{out}: {queries} queries, {items} items ranked by {chosen.name}", quiet=ranking.quiet)
