"""What the shell offers at the TAB key; names only, so that it is quick."""

CUTOFFS = (5, 10, 20, 100, 1000)


def methods(incomplete: str) -> list[str]:
    """Methods that begin so."""
    from juryrank.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def several_methods(incomplete: str) -> list[str]:
    """Methods for the end of a list with commas: ``borda,r`` becomes ``borda,rrf``."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in methods(last) if name not in before.split(",")]


def metrics(incomplete: str) -> list[str]:
    """Metrics that begin so, with usual cutoffs; also as trec_eval spells them."""
    from juryrank.metrics import METRICS
    from juryrank.metrics.metric_names import TREC_CUTOFFS
    from juryrank.params import parameters

    names = ["map", "ndcg", "recip_rank"]
    for name, cls in METRICS.items():
        names += [] if cls.needs_cutoff else [name]
        names += [f"{name}@{k}" for k in CUTOFFS if any(f.name == "cutoff" for f in parameters(cls))]
    names += [f"{name}_{k}" for name in TREC_CUTOFFS for k in CUTOFFS]
    return [name for name in names if name.startswith(incomplete)]


def forms(incomplete: str) -> list[str]:
    """Formats of results that begin so."""
    from juryrank.report import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def conventions(incomplete: str) -> list[str]:
    """Conventions of metrics that begin so."""
    from juryrank.metrics import CONVENTIONS

    return [name for name in CONVENTIONS if name.startswith(incomplete)]
