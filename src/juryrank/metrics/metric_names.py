"""The text of a metric: name, parameters and cutoff, as in ir_measures or in trec_eval."""

import ast
import re
from typing import Any

from juryrank.errors import ParameterError

SHAPE = re.compile(r"\s*(?P<name>[A-Za-z]\w*)\s*(?:\((?P<params>[^()]*)\))?\s*(?:@\s*(?P<cutoff>[^\s@]+))?\s*")

# Metrics of trec_eval with a cutoff in their name: ndcg_cut_10 or ndcg_cut.10; judged_10 is Pyserini's.
TREC_CUTOFFS = {"judged": "Judged", "map_cut": "AP", "ndcg_cut": "nDCG", "P": "P", "recall": "R", "success": "Success"}
TREC_SHAPE = re.compile(r"\s*(?P<name>[A-Za-z_]+?)[_.](?P<cutoff>\d+)\s*")
# Metrics of trec_eval that are not available here, some with a number at the end.
TREC_OTHERS = (
    "11pt_avg", "bing", "g", "gm_bpref", "gm_map", "iprec_at_recall", "ndcg_rel",
    "num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret", "official", "relative_p", "relstring",
    "rndcg", "rprec", "rprec_mult", "runid", "set_f", "set_map", "set_p", "set_recall", "set_relative_p", "utility",
    "yaap",
)  # fmt: skip


def split_metric(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in the text of a metric.

    >>> split_metric("nDCG(dcg='exp-log2')@10")
    ('nDCG', {'dcg': 'exp-log2', 'cutoff': 10})
    >>> split_metric("ndcg_cut_10")
    ('nDCG', {'cutoff': 10})
    """
    trec = TREC_SHAPE.fullmatch(text)
    for name, ours in TREC_CUTOFFS.items():
        if trec is not None and trec["name"].lower() == name.lower():
            return ours, {"cutoff": int(trec["cutoff"])}
    if text.strip().lower() in ("map_cut", "ndcg_cut"):
        raise ParameterError(f"{text.strip()} needs a cutoff, for example {text.strip()}_10")
    shape = SHAPE.fullmatch(text)
    if shape is None:
        raise ParameterError(f"a metric is written Name, Name@10 or Name(param=value)@10, one per text; got {text!r}")
    params: dict[str, Any] = {}
    for part in filter(None, (shape["params"] or "").split(",")):
        key, sign, value = part.partition("=")
        if not sign:
            raise ParameterError(f"parameters of a metric are written name=value, got {part.strip()!r} in {text!r}")
        params[key.strip()] = _value(value.strip())
    if shape["cutoff"]:
        params["cutoff"] = _value(shape["cutoff"])
    return shape["name"], params


def known_to_trec_eval(text: str) -> bool:
    """Whether a text is the name of a trec_eval metric that is not available here."""
    name = re.sub(r"[_.]?[\d.,]+$", "", text.strip().lower()) or text.strip().lower()
    return name in TREC_OTHERS


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # a shell removes quotes: nDCG(dcg=exp-log2)
