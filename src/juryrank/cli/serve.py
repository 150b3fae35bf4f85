"""``juryrank serve``: fusion, explanations, models and feedback over HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import note
from juryrank.errors import MissingExtraError, ParameterError

KEYS = Path("keys.json")


def run(
    models: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODELS]", help="A folder of model files, NAME.json; without it, a demo model is served."
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on; default: 127.0.0.1, this machine.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="The port; default: 8347. 0 is any free port.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer requests; default: 1.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings; options have precedence.")] = None,
    keys: Annotated[Path | None, typer.Option(help="The file of API keys; without it, no key is asked for.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Where feedback is kept: an SQLite file, or postgresql://…; default: MODELS/feedback.db."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow an address that other machines can reach without keys.")
    ] = False,
    allow_host: options.AllowedHosts = None,
    create_key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Create an API key in --keys, print it, and exit.")
    ] = None,
    remove_key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Remove an API key from --keys, and exit.")
    ] = None,
    scopes: Annotated[str, typer.Option(help="What the new key allows: fuse, feedback, admin.")] = "fuse,feedback",
    quiet: options.Quiet = False,
) -> None:
    """Serve models over HTTP; without MODELS, a demo model."""
    try:
        from juryrank.server import run as server
        from juryrank.server.keys import create_key as create
        from juryrank.server.keys import remove_key as remove
        from juryrank.server.settings import read_settings
    except ImportError as error:
        raise MissingExtraError.of("serve", f"juryrank serve needs {error.name}") from None
    if create_key is not None and remove_key is not None:
        raise ParameterError("give --create-key or --remove-key, not both")
    if create_key is not None:
        print(create(keys or KEYS, create_key, tuple(filter(None, map(str.strip, scopes.split(","))))))
        note(f"{keys or KEYS}: has the hash of this key, which is not shown again", quiet=quiet)
        return
    if remove_key is not None:
        remove(keys or KEYS, remove_key)
        return
    given = {
        "models": models, "host": host, "port": port, "workers": workers, "keys": keys, "store": store,
        "insecure": insecure or None, "allow_hosts": tuple(allow_host or ()) or None,
        "log_level": "warning" if quiet else None,
    }  # fmt: skip
    server.run(read_settings(config, given))
