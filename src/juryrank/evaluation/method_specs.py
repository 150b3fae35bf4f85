"""Methods written as text (``rrf:k=10``), and the methods of a comparison by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from juryrank.errors import ParameterError
from juryrank.methods import Aggregator, method
from juryrank.params import check_parameters, value_of

Methods = str | Aggregator | Sequence[str | Aggregator] | Mapping[str, str | Aggregator]

OPENING, CLOSING = "([{", ")]}"


def methods_by_label(methods: Methods) -> dict[str, Aggregator]:
    """Methods by label; the labels of a list are the names or texts of its methods."""
    if isinstance(methods, str | Aggregator):
        methods = [methods]
    if isinstance(methods, Mapping):
        pairs = [(str(label), m) for label, m in methods.items()]
    elif isinstance(methods, Sequence):
        pairs = [(m.strip() if isinstance(m, str) else getattr(m, "name", ""), m) for m in methods]
    else:
        raise ParameterError(f"methods are names or methods, in a list or by label; got {type(methods).__name__}")
    if (wrong := next((m for _, m in pairs if not isinstance(m, str | Aggregator)), None)) is not None:
        raise ParameterError(f"methods are names or methods, in a list or by label; got {wrong!r:.60} among them")
    if not pairs:
        raise ParameterError("at least one method is needed, for example rrf")
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise ParameterError(f"labels of methods must be unique, got {label!r} twice; give {{label: method}}")
    chosen = {label: parse_method(m) if isinstance(m, str) else m for label, m in pairs}
    for m in chosen.values():
        check_parameters(m)
    return chosen


def parse_method(text: str) -> Aggregator:
    """The method that a text stands for: a name, and parameters after a colon.

    >>> parse_method("rrf:k=10,dialect=qdrant").params()["k"]
    10
    """
    name, _, rest = text.partition(":")
    params = {}
    for piece in _split(rest):
        parameter, equals, value = piece.partition("=")
        if not (parameter.strip() and equals):
            raise ParameterError(
                f"a method with parameters is written name:parameter=value, for example rrf:k=10; got {text!r}"
            )
        params[parameter.strip()] = value_of(value)
    return method(name.strip(), **params)


def split_methods(text: str) -> list[str]:
    """The methods in a comma-separated text; a ``parameter=value`` after a comma belongs to the method before it.

    >>> split_methods("rrf:k=10,dialect=qdrant, borda")
    ['rrf:k=10,dialect=qdrant', 'borda']
    """
    found: list[str] = []
    for piece in _split(text):
        if "=" in piece.partition(":")[0]:
            if not found or ":" not in found[-1]:
                raise ParameterError(
                    f"a method with parameters is written name:parameter=value, for example rrf:k=10; got {text!r}"
                )
            found[-1] += f",{piece}"
        else:
            found.append(piece)
    return found


def _split(text: str) -> list[str]:
    """The non-empty pieces between commas outside of brackets and quotes."""
    pieces, depth, quoted = [""], 0, False
    for sign in text:
        quoted ^= sign == '"'
        if not quoted:
            depth += (sign in OPENING) - (sign in CLOSING)
        if sign == "," and not quoted and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    return [piece.strip() for piece in pieces if piece.strip()]
