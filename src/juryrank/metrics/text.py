"""A metric as text: name, parameters and cutoff, as ir_measures writes them."""

import ast
import re
from typing import Any

from juryrank.errors import ParameterError

SHAPE = re.compile(r"\s*(?P<name>[A-Za-z]\w*)\s*(?:\((?P<params>[^()]*)\))?\s*(?:@\s*(?P<cutoff>[^\s@]+))?\s*")


def split(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in the text of a metric.

    >>> split("nDCG(dcg='exp-log2')@10")
    ('nDCG', {'dcg': 'exp-log2', 'cutoff': 10})
    """
    shape = SHAPE.fullmatch(text)
    if shape is None:
        raise ParameterError(f"a metric is written Name, Name@10 or Name(param=value)@10, got {text!r}")
    params: dict[str, Any] = {}
    for part in filter(None, (shape["params"] or "").split(",")):
        key, sign, value = part.partition("=")
        if not sign:
            raise ParameterError(f"parameters of a metric are written name=value, got {part.strip()!r} in {text!r}")
        params[key.strip()] = _value(value.strip())
    if shape["cutoff"]:
        params["cutoff"] = _value(shape["cutoff"])
    return shape["name"], params


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # a shell takes quotes away: nDCG(dcg=exp-log2)
