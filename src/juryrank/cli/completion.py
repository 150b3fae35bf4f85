"""Shell completion: names of methods, metrics, formats and conventions."""

CUTOFFS = (5, 10, 20, 100, 1000)


def methods(incomplete: str) -> list[str]:
    """Methods with this prefix; a warning about a plugin would be written into the command line."""
    import warnings

    from juryrank.methods import METHODS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [name for name in METHODS if name.startswith(incomplete)]


def several_methods(incomplete: str) -> list[str]:
    """Methods for the last item of a comma-separated list: ``borda,r`` becomes ``borda,rrf``."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in methods(last) if name not in before.split(",")]


def metrics(incomplete: str) -> list[str]:
    """Metrics with this prefix, with common cutoffs; also in the spelling of trec_eval."""
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
    """Formats of results with this prefix."""
    from juryrank.report import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def conventions(incomplete: str) -> list[str]:
    """Conventions of metrics with this prefix."""
    from juryrank.metrics import CONVENTIONS

    return [name for name in CONVENTIONS if name.startswith(incomplete)]
