"""The catalogue of metrics: one file each, one line here, the import of its class."""

from juryrank.errors import ParameterError, UnknownNameError
from juryrank.metrics.average_precision import AveragePrecision as AveragePrecision
from juryrank.metrics.base import Metric as Metric
from juryrank.metrics.bpref import BinaryPreference as BinaryPreference
from juryrank.metrics.err import ERR as ERR
from juryrank.metrics.footrule import Footrule as Footrule
from juryrank.metrics.inferred_ap import InferredAP as InferredAP
from juryrank.metrics.judged import Judged as Judged
from juryrank.metrics.kendall import KendallTau as KendallTau
from juryrank.metrics.metric_names import known_to_trec_eval, split_metric
from juryrank.metrics.ndcg import NDCG as NDCG
from juryrank.metrics.precision import Precision as Precision
from juryrank.metrics.rbo import RBO as RBO
from juryrank.metrics.rbp import RBP as RBP
from juryrank.metrics.recall import Recall as Recall
from juryrank.metrics.reciprocal_rank import ReciprocalRank as ReciprocalRank
from juryrank.metrics.spearman import SpearmanRho as SpearmanRho
from juryrank.metrics.success import Success as Success
from juryrank.metrics.truth import CONVENTIONS as CONVENTIONS
from juryrank.metrics.truth import JudgedConsensus as JudgedConsensus
from juryrank.metrics.truth import Truth as Truth
from juryrank.metrics.truth import judge as judge
from juryrank.params import parameters

METRICS: dict[str, type[Metric]] = {
    cls.name: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Metric) and cls is not Metric
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


def parse_metric(text: str | Metric | object) -> Metric:
    """The metric with this name, such as ``nDCG@10``; case does not matter.

    Instead of text, it may be a thing whose text is that of a metric, as a measure of ir_measures.

    >>> parse_metric("ndcg@10")
    NDCG(cutoff=10, dcg='log2')
    >>> str(parse_metric("map(rel=2)"))
    'AP(rel=2)'
    >>> str(parse_metric("ndcg_cut_10"))
    'nDCG@10'
    """
    if isinstance(text, Metric):
        return text
    text = str(text)
    if known_to_trec_eval(text):
        raise UnknownNameError(f"{text.strip()} of trec_eval is not available; known: {', '.join(METRICS)}")
    name, params = split_metric(text)
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
