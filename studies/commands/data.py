"""``python -m studies data``: public datasets, their licences and files; verifies a folder, downloads if allowed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from juryrank.errors import DataError
from studies.console import Quiet, note, show, split_names

app = typer.Typer(help="The datasets of `reproduce`: without a subcommand, list them.", invoke_without_command=True)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that contains one folder per dataset.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A dataset, for example ml-100k.")]


@app.callback()
def list_sets(context: typer.Context) -> None:
    """List the datasets of `reproduce`; `verify DIR` checks and `fetch NAME DIR` downloads them."""
    if context.invoked_subcommand is not None:
        return
    from studies.datasets import data_sets

    for each in data_sets().values():
        show(f"{each.name}: {each.what}")
        show(f"  home     {each.home}")
        show(f"  licence  {each.licence}")
        show(f"  used by  {', '.join(each.papers) or 'tests and benchmarks'}")
        known = sum(map(bool, each.files.values()))
        show(f"  files    {len(each.files)}, {known} with a checksum{'; can be fetched' if each.address else ''}")


@app.command()
def files(name: Name) -> None:
    """List the files of one dataset with their SHA-256 (of the uncompressed text)."""
    from studies.datasets import data_set

    for file, digest in data_set(name).files.items():
        show(f"{digest or 'not known':64}  {name}/{file}")


@app.command()
def verify(
    folder: Folder,
    names: Annotated[str | None, typer.Option("--only", metavar="NAME,…", help="Datasets; by default all.")] = None,
) -> None:
    """Check the files of the datasets in a folder; the exit code is 1 if a file differs from the expected one."""
    from studies.datasets import data_set, data_sets
    from studies.datasets.verify import DIFFERENT, MISSING
    from studies.datasets.verify import verify as check

    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; give the folder that contains MQ2008-agg, ml-100k and others")
    wrong = False
    for each in [data_set(name) for name in split_names(names)] if names else data_sets().values():
        states = check(each, folder)
        counts = {state: list(states.values()).count(state) for state in dict.fromkeys(states.values())}
        show(f"{each.name}: {', '.join(f'{n} {state}' for state, n in counts.items())}")
        wrong |= DIFFERENT in counts
        if set(counts) != {MISSING}:
            for file, state in states.items():
                if state in (DIFFERENT, MISSING):
                    show(f"  {each.name}/{file}: {state}")
    if wrong:
        raise typer.Exit(1)


@app.command()
def fetch(name: Name, folder: Folder, quiet: Quiet = False) -> None:
    """Download a dataset whose licence allows it; an interrupted download is resumed."""
    from studies.datasets import data_set
    from studies.datasets.fetch import fetch as download

    def show_progress(file: str, so_far: int, total: int | None) -> None:
        if not quiet and sys.stderr.isatty():
            share = f"{so_far / total:4.0%}" if total else f"{so_far:,} bytes"
            print(f"\r{file}: {share}", end="\n" if so_far == total else "", file=sys.stderr, flush=True)

    wanted = data_set(name)
    note(f"{name}: {wanted.licence}", quiet=quiet)
    fetched = download(wanted, folder, show_progress)
    note(f"{folder / name}: {len(fetched)} files fetched, {len(wanted.files) - len(fetched)} were there", quiet=quiet)
