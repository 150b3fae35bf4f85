"""``juryrank fit``: fit a method and save the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options
from juryrank.cli.quick_values import QuickCommand
from juryrank.cli.reading import FullReadOptions, use_tags
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset
    from juryrank.methods import Aggregator


class Command(QuickCommand):
    """Refuses ``train --valid a b``: ``b`` would be training data, although it looks like validation data."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = list(args)
        rest = super().parse_args(ctx, args)
        training = set(map(str, ctx.params.get("data") or ()))  # none where a shell asks for completions
        for at, word in enumerate(words):
            start = at + 2 if word == "--valid" else at + 1
            if word.partition("=")[0] != "--valid" or training.isdisjoint(words[:at]):
                continue
            if (after := words[start : start + 1]) and after[0] in training:
                raise typer.BadParameter(
                    f"--valid takes one path, and {after[0]!r} follows it; repeat the option for more validation data "
                    "(--valid a --valid b), and give all training data before it"
                )
        return rest


def run(
    data: options.Sources,
    out: Annotated[Path, typer.Option("--out", "-o", callback=options.a_file, help="The model file, JSON.")],
    method: options.Method = "jury",
    valid: Annotated[
        list[Path] | None,
        typer.Option(
            "--valid",
            callback=options.stdin_once,
            help="Validation queries, for methods that use them: one file or folder; repeat the option for more.",
        ),
    ] = None,
    *,
    parameters: options.ParameterOptions,
    reading: FullReadOptions,
    memory: options.Memory = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a method to labelled data and save the model; --labels also applies to --valid."""
    if out == Path("-"):
        raise typer.BadParameter("a model is saved to a file, not to stdout", param_hint="--out")
    chosen = parameters.method(method)
    if memory is not None:
        if valid:
            raise typer.BadParameter("methods that are fitted with --memory use no validation queries: omit --valid")
        from juryrank.tasks.files.fit_files import fit_and_count

        with bars(quiet=quiet):
            counts = fit_and_count(data, chosen, **reading.by_query(data, memory))
        _finish(chosen, out, quiet=quiet)
        note(f"{out}: {chosen.name}, {counts}", quiet=quiet)
        return
    train = reading.read(data)
    validation = reading.read(valid) if valid else None
    use_tags(chosen, train)
    with bars(quiet=quiet):
        chosen.fit(train, valid=validation)
    _finish(chosen, out, quiet=quiet)
    note(f"{out}: {chosen.name}, {training_note(train) if chosen.supervised else f'fitted to {train!r}'}", quiet=quiet)


def _finish(model: Aggregator, out: Path, *, quiet: bool) -> None:
    """Save the model, and print what it says about itself."""
    from juryrank.models import save

    save(model, out)
    if report := getattr(model, "report", None):
        print(report())
    if model.supervised and model.verdict() is None:
        advice = f"juryrank compare … --methods rrf,{model.name} --folds 5 --experts"
        note(f"{model.name} holds out no queries by itself; to compare with RRF and each expert: {advice}", quiet=quiet)


def training_note(data: Dataset) -> str:
    """The number of queries and labels that a method learned from."""
    import numpy as np

    from juryrank.kernels.ragged import parents

    if data.labels is None:
        return f"learned from {data!r}"
    r, judged = data.rankings, ~np.isnan(data.slot_labels)
    queries = len(np.unique(parents(r.slot_ptr)[judged]))
    return f"learned from {queries} of {len(data)} queries with {int(judged.sum())} labels of {r.n_slots} items"
