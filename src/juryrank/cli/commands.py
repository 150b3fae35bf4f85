"""The commands: a command is imported when it is called, and the list of commands needs none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from juryrank.cli.option_groups import expand_groups
from juryrank.cli.plugins import PluginOptions
from juryrank.cli.quick_values import QuickCommand, convert_quickly

# The first paragraph of the help of each command, which is the docstring of ``run`` in its module.
SUMMARIES = {
    "methods": "List the methods, or describe one.",
    "fuse": "Fuse runs into one; without -o the fused run goes to stdout.",
    "rank": "Rank the items of a dataset by a method or a model; without -o a TREC run goes to stdout.",
    "leaderboard": "Rank items by all comparisons of a dataset, over all its queries, with confidence intervals.",
    "election": "Count ballots by several rules: winners and ties, rounds, pairwise majorities, where rules disagree.",
    "evaluate": "Evaluate each expert against labels (those of --labels, or those in the data).",
    "compare": "Compare methods: means, differences to a baseline, significance tests.",
    "fit": "Fit a method to labelled data and save the model; --labels also applies to --valid.",
    "judge": "Choose the items to judge next and write them to a file, or ask a person or a model for their grades.",
    "crowd": "Find the label of each task from the answers of many workers, and who and what needs another look.",
    "clicks": "Turn a click log into labels with weights, corrected for position bias.",
    "interleave": "Interleave runs, one page per query; with --log, find out from clicks which ranking people prefer.",
    "explain": "Explain a model: expert weights; with DATA also leave-one-out, agreement of experts, and one query.",
    "export": "Export a model; for search engines, weights are fitted to DATA. Without -o the text goes to stdout.",
    "convert": "Convert a dataset from one format to another.",
    "serve": "Serve models over HTTP; without MODELS, a demo model.",
    "studio": "Open a page on this machine to look at experts, judge items and watch the fusion learn.",
    "demo": "Combine 12 search systems of TREC-COVID with and without judgements, and show the gain.",
}
# Commands that take neither a method nor a model.
WITHOUT_METHODS = ("evaluate", "convert", "demo", "judge", "crowd", "clicks", "interleave", "serve", "studio")


class Group(TyperGroup):
    """All commands, by the names of their modules."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: LazyCommand(name, help=summary) for name, summary in SUMMARIES.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        convert_quickly(self, ctx)
        return super().parse_args(ctx, args)


class LazyCommand(TyperCommand):
    """The name and the summary of a command, and the command itself when it is called."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        return load_command(str(self.name)).make_context(*args, **settings)


def load_command(name: str) -> Any:
    """The command in the module of that name."""
    module = import_module(f"juryrank.cli.{name}")
    run = expand_groups(module.run, *(() if name in WITHOUT_METHODS else (PluginOptions,)))
    app = typer.Typer(add_completion=False)
    app.command(name, cls=getattr(module, "Command", QuickCommand))(run)
    return typer.main.get_command(app)
