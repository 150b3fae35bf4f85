"""The catalogue of metrics: one file each, one line here."""

from juryrank.errors import ParameterError, UnknownNameError
from juryrank.metrics.average_precision import AveragePrecision
from juryrank.metrics.base import Metric
from juryrank.metrics.err import ERR
from juryrank.metrics.footrule import Footrule
from juryrank.metrics.kendall import KendallTau
from juryrank.metrics.metric_names import known_to_trec_eval, split
from juryrank.metrics.ndcg import NDCG
from juryrank.metrics.precision import Precision
from juryrank.metrics.rbo import RBO
from juryrank.metrics.rbp import RBP
from juryrank.metrics.recall import Recall
from juryrank.metrics.reciprocal_rank import ReciprocalRank
from juryrank.metrics.spearman import SpearmanRho
from juryrank.metrics.success import Success
from juryrank.metrics.truth import CONVENTIONS, Judged, Truth, judge
from juryrank.params import parameters

__all__ = [
    "CONVENTIONS",
    "ERR",
    "METRICS",
    "NDCG",
    "RBO",
    "RBP",
    "AveragePrecision",
    "Footrule",
    "Judged",
    "KendallTau",
    "Metric",
    "Precision",
    "Recall",
    "ReciprocalRank",
    "SpearmanRho",
    "Success",
    "Truth",
    "judge",
    "parse_metric",
]

METRICS: dict[str, type[Metric]] = {
    cls.name: cls
    for cls in (
        AveragePrecision,
        ERR,
        Footrule,
        KendallTau,
        NDCG,
        Precision,
        RBO,
        RBP,
        Recall,
        ReciprocalRank,
        SpearmanRho,
        Success,
    )
}

ALIASES: dict[str, str] = {
    "hit_rate": "Success",
    "hits": "Success",
    "kendall": "KendallTau",
    "map": "AP",
    "mrr": "RR",
    "precision": "P",
    "recall": "R",
    "recip_rank": "RR",
    "spearman": "SpearmanRho",
    "tau": "KendallTau",
}


def parse_metric(text: str | Metric) -> Metric:
    """The metric that a text means; upper and lower case are the same.

    >>> parse_metric("ndcg@10")
    NDCG(cutoff=10, dcg='log2')
    >>> str(parse_metric("map(rel=2)"))
    'AP(rel=2)'
    >>> str(parse_metric("ndcg_cut_10"))
    'nDCG@10'
    """
    if isinstance(text, Metric):
        return text
    if known_to_trec_eval(text):
        raise UnknownNameError(f"{text.strip()} of trec_eval is not available; known: {', '.join(METRICS)}")
    name, params = split(text)
    lower = name.lower()
    known = {key.lower(): cls for key, cls in METRICS.items()}
    cls = known.get(ALIASES.get(lower, lower).lower())
    if cls is None:
        raise UnknownNameError.of("metric", name, METRICS)
    allowed = [f.name for f in parameters(cls)]
    for param in params:
        if param not in allowed:
            raise ParameterError(f"{cls.name} has no parameter {param!r}; it has {', '.join(allowed) or 'none'}")
    return cls(**params)
