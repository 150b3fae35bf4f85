"""``juryrank rank``: the consensus of a data set."""

from juryrank.cli import options
from juryrank.cli.screen import bars, note


def run(
    data: options.Sources,
    method: options.Method,
    out: options.Output = None,
    param: options.Params = None,
    weights: options.Weights = None,
    labels: options.Labels = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Rank the items of a data set by one method; without -o a TREC run goes to stdout."""
    chosen = options.chosen_method(method, param, weights)
    given = options.read_data(data, labels=labels, source_format=source_format, columns=columns, values=values)
    with bars(quiet=quiet):
        consensus = chosen.fit(given).predict(given)
    if out is None:
        print(consensus.to_trec(), end="")
        return
    from juryrank.readers import write

    write(consensus, out)
    note(f"{out}: {len(consensus)} queries, {len(consensus.scores)} items ranked by {chosen.name}", quiet=quiet)
