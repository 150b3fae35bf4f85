"""Models: fit, save and load; a file is JSON with arrays in it, versioned, and loading one executes nothing."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from copy import copy
from math import prod
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.errors import DataError, JuryrankError, ParameterError
from juryrank.methods import METHODS, Aggregator
from juryrank.methods import method as make_method
from juryrank.methods.plugins import missing_method

FORMAT = "juryrank-model"
PATH_CHARACTERS = frozenset("./\\")  # a text with one of these is a path; no method has them in its name
A_MODEL = "a model is a fitted method such as RRF()"
VERSION = 1  # grows when an older reader could misread a file; older files stay readable
PLAIN_UP_TO = 1000  # numbers of an array that are written as text; more are packed
LARGEST = 2 << 30  # bytes of a file: a model of 5,000 experts has half of that
DEEPEST = 100  # lists and dicts in each other; a blend inside auto has fewer than 10
DIMENSIONS = 3
DTYPES = {"float64": "<f8", "int64": "<i8", "int32": "<i4", "bool": "|b1"}


def fit(
    data: Any, method: str | Aggregator = "jury", *, labels: Any = None, valid: Any = None, **params: Any
) -> Aggregator:
    """A method fitted to data. ``method`` is a name, with its parameters, or a method, of which a copy is fitted.

    ``data`` and ``valid`` (validation queries, for methods that use them) are a Dataset, ``{expert: {query: list}}`` or
    anything that ``read`` takes; ``labels`` are for both, as ``read`` takes them. In ``weights``, experts may also be
    identified by their file names.

    >>> fit({"bm25": {"q": ["a", "b"]}, "dense": {"q": ["b", "a"]}}, "ridge", labels={"q": {"b": 1, "a": 0}}).name
    'ridge'
    """
    if isinstance(method, Aggregator) and params:
        raise ParameterError(f"{method.name} has its parameters already; give the method by name to set them here")
    model = copy(method) if isinstance(method, Aggregator) else make_method(method, **params)
    from juryrank.io.records import consume

    labels = consume(labels)  # an iterator is used up by the training data
    train, held_out = (None if part is None else labelled_dataset(part, labels) for part in (data, valid))
    if train is None:
        raise DataError("fit needs data: a Dataset, {expert: {query: list}} or anything that read takes")
    if weights := getattr(model, "weights", None):
        from juryrank.io.experts import resolve_aliases

        model.set_params(weights=resolve_aliases(weights, train.aliases))
    return model.fit(train, valid=held_out)


def labelled_dataset(data: Any, labels: Any = None) -> Dataset:
    """The Dataset of ``data`` and ``labels`` as ``fit`` takes them."""
    from juryrank.data.build import from_dicts
    from juryrank.io import read, read_labels
    from juryrank.io.python_inputs import merge_frames, runs_by_expert

    data = merge_frames(data)
    if isinstance(data, Mapping):
        data = from_dicts(runs_by_expert(data))
    if not isinstance(data, Dataset | Rankings):
        return read(data, labels=labels)
    found = as_dataset(data)
    return found if labels is None else found.with_labels(read_labels(labels))


def save(model: Aggregator, path: str | os.PathLike[str]) -> None:
    """Write a fitted method to a JSON file; writing is atomic."""
    from juryrank.io.files import save as save_bytes

    save_bytes(Path(path), to_json(model).encode())


def load(path: str | os.PathLike[str], *, largest: int = LARGEST) -> Aggregator:
    """The fitted method in a JSON file of at most ``largest`` bytes."""
    try:
        with open(path_of_model(path), "rb") as file:
            content = file.read(len(FORMAT))
            if content.lstrip()[:1] in (b"", b"{"):  # else it is no model, and may have no end
                content += file.read(largest + 1 - len(content))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > largest:
        raise DataError(f"{path}: a model file must have at most {largest} bytes; to read it, raise largest of load()")
    try:
        return from_json(content.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        raise DataError(f"{path}: not a juryrank model: it is not text") from None


def path_of_model(path: str | os.PathLike[str]) -> str:
    """The path as text; a number would be taken for an open file."""
    try:
        return os.fspath(path)
    except TypeError:
        raise ParameterError(f"{A_MODEL} or the path of a model file, got {shortened(path)}") from None


def as_method(model: Aggregator | str | os.PathLike[str], params: Mapping[str, Any]) -> Aggregator:
    """A copy of the method, or that of a name with parameters, or that in a file."""
    if isinstance(model, str) and not PATH_CHARACTERS.intersection(model):
        named = make_method(model, **params)
        named.check()
        if (weights := params.get("weights")) is not None:
            named.set_params(weights=dict(weights))  # the caller's may be changed later
        return named
    if params:
        raise ParameterError("a model has its parameters already; give a method by name to set them here")
    if isinstance(model, Aggregator):
        return model.snapshot()
    return load(model)


def demand_model(model: Any) -> None:
    """An error for what is no method."""
    if not isinstance(model, Aggregator):
        load = "; juryrank.load reads one from a file" if isinstance(model, str | os.PathLike) else ""
        raise ParameterError(f"{A_MODEL}, got {shortened(model)}{load}")


def to_json(model: Aggregator) -> str:
    """A fitted method as JSON text."""
    demand_model(model)
    if not model.is_fitted:
        raise JuryrankError(f"{model.name} must be fitted before it is saved; call fit(data) first")
    head = {"format": FORMAT, "version": VERSION, "method": model.name, "params": model.params()}
    return json.dumps({**head, "learned": pack(model.learned())}, indent=1, allow_nan=False) + "\n"


def from_json(text: str, source: str = "the model") -> Aggregator:
    """The fitted method in JSON text; a JuryrankError says what is wrong with it."""
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_not_a_number)
    except json.JSONDecodeError as error:
        raise DataError(f"{source}:{error.lineno}: not a juryrank model, or cut short: {error.msg}") from None
    except ValueError as error:  # a number of thousands of digits, a key that is there twice
        reason = str(error).partition("; use sys.")[0]  # Python's advice is not for readers of files
        raise DataError(f"{source}: not a juryrank model: {reason}") from None
    except RecursionError:
        raise DataError(f"{source}: not a juryrank model: it is nested too deeply") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{source}: not a juryrank model: it has no format {FORMAT!r}")
    _check_version(content.get("version"), source)
    name = content.get("method")
    if not isinstance(name, str) or name not in METHODS:
        raise DataError(f"{source}: model of {missing_method(name)}")
    if absent := [key for key in ("params", "learned") if key not in content]:
        raise DataError(f"{source}: the model is damaged: it has no {absent[0]}")
    try:
        return METHODS[name].from_learned(content["params"], unpack(content["learned"]))
    except JuryrankError as error:
        raise DataError(f"{source}: {' '.join(str(error).split())}") from None


def _check_version(version: Any, source: str) -> None:
    if type(version) is not int or version < 1:
        text = f"the version of a model must be a whole number from 1 to {VERSION}, found {shortened(version)}"
        raise DataError(f"{source}: {text}; the model is damaged")
    if version > VERSION:
        raise DataError(f"{source}: model version {version} is newer than {VERSION}; upgrade juryrank to read it")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of keys that are there twice, one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return found


def _not_a_number(word: str) -> None:
    raise ValueError(f"numbers must be finite, found {word}")


def pack(value: Any) -> Any:
    """Arrays, numbers, texts, lists and dicts of these as values for JSON."""
    if isinstance(value, np.ndarray):
        return {"array": _pack_array(value)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {"dict": {str(key): pack(v) for key, v in value.items()}}
    if isinstance(value, list | tuple):
        return [pack(v) for v in value]
    return value


def _pack_array(value: NDArray[Any]) -> dict[str, Any]:
    head = {"dtype": str(value.dtype), "shape": list(value.shape)}
    if head["dtype"] not in DTYPES:
        raise JuryrankError(f"arrays of {head['dtype']} cannot be saved")
    if value.size <= PLAIN_UP_TO and np.isfinite(value).all():
        return {**head, "values": value.ravel().tolist()}
    packed = np.ascontiguousarray(value, DTYPES[str(value.dtype)]).tobytes()
    return {**head, "base64": base64.b64encode(packed).decode()}


def unpack(value: Any, depth: int = 0) -> Any:
    """What ``pack`` was given; a DataError if that is not what the values are of."""
    if depth > DEEPEST:
        raise DataError(f"the model is damaged: it is nested more than {DEEPEST} deep")
    if isinstance(value, list):
        return [unpack(v, depth + 1) for v in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array"}:
        return _unpack_array(value["array"])
    if value.keys() == {"dict"} and isinstance(value["dict"], dict):
        return {key: unpack(v, depth + 1) for key, v in value["dict"].items()}
    raise DataError(f"the model is damaged: neither an array nor a dict: {shortened(value)}")


def _unpack_array(packed: Any) -> NDArray[Any]:
    wanted = ({"dtype", "shape", "values"}, {"dtype", "shape", "base64"})
    if not isinstance(packed, dict) or packed.keys() not in wanted:
        raise DataError(f"the model is damaged: an array has dtype, shape and values, found {shortened(packed)}")
    dtype, shape = packed["dtype"], packed["shape"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise DataError(f"the model is damaged: dtype must be one of {', '.join(DTYPES)}, found {shortened(dtype)}")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise DataError(f"the model is damaged: a shape has sizes >= 0, found {shortened(shape)}")
    flat = _from_base64(packed["base64"], dtype) if "base64" in packed else _from_list(packed["values"], dtype)
    if prod(shape) != len(flat) or len(shape) > DIMENSIONS:
        raise DataError(f"the model is damaged: an array of shape {shortened(shape)} has {len(flat)} values")
    return flat.reshape(shape)


def _from_base64(text: Any, dtype: str) -> NDArray[Any]:
    try:
        content = base64.b64decode(text, validate=True)
        if dtype == "bool" and content.strip(b"\0\1"):
            raise ValueError("a bool must be 0 or 1")
        return np.frombuffer(content, DTYPES[dtype]).astype(dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"the model is damaged: numbers of an array cannot be decoded: {error}") from None


def _from_list(values: Any, dtype: str) -> NDArray[Any]:
    kinds = {"float64": (float, int), "bool": (bool,)}.get(dtype, (int,))
    if not isinstance(values, list) or not all(type(value) in kinds for value in values):
        raise DataError(f"the model is damaged: values must be a list of {dtype} numbers, found {shortened(values)}")
    try:
        return np.array(values, dtype)
    except OverflowError:
        raise DataError(f"the model is damaged: a number is too large for {dtype}") from None
