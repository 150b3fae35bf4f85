"""``python -m studies``: reproduce papers, compare its speed with other libraries, check and download datasets."""

import typer

from studies.commands import (
    advice,
    bench,
    clicks,
    crowds,
    curves,
    data,
    few_judgements,
    interleaving,
    judges,
    judging,
    load,
    reproduce,
    spark_equality,
    studio_story,
    unjudged,
    verdict,
)
from studies.console import run_app

app = typer.Typer(help="Experiments and benchmarks of juryrank.", no_args_is_help=True, pretty_exceptions_enable=False)
app.command("reproduce")(reproduce.run)
app.command("advice")(advice.run)
app.command("bench")(bench.run)
app.command("clicks")(clicks.run)
app.command("crowds")(crowds.run)
app.command("curves")(curves.run)
app.command("few-judgements")(few_judgements.run)
app.command("interleaving")(interleaving.run)
app.command("judges")(judges.run)
app.command("judging")(judging.run)
app.command("load")(load.run)
app.command("spark-equality")(spark_equality.run)
app.command("studio-story")(studio_story.run)
app.command("unjudged")(unjudged.run)
app.command("verdict")(verdict.run)
app.add_typer(data.app, name="data")


def main() -> None:
    """Run the commands."""
    run_app(app, "python -m studies")


if __name__ == "__main__":
    main()
