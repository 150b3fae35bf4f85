"""``python -m studies``: reproduce papers, time juryrank beside other libraries, look after data sets."""

import typer

from juryrank.cli import run_app
from studies.commands import bench, data, reproduce

app = typer.Typer(help="Experiments and benchmarks of juryrank.", no_args_is_help=True, pretty_exceptions_enable=False)
app.command("reproduce")(reproduce.run)
app.command("bench")(bench.run)
app.add_typer(data.app, name="data")

if __name__ == "__main__":
    run_app(app, "python -m studies")
