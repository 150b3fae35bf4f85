"""Saved models: JSON with arrays in it, versioned; loading one executes nothing."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import DataError, JuryrankError
from juryrank.methods import METHODS, Aggregator

FORMAT = "juryrank-model"
VERSION = 1  # grows when an older reader could misread a file; older files stay readable
PLAIN_UP_TO = 1000  # numbers of an array that are written as text; more are packed
DTYPES = {"float64": "<f8", "int64": "<i8", "int32": "<i4", "bool": "|b1"}


def save(model: Aggregator, path: str | os.PathLike[str]) -> None:
    """Write a fitted method to a JSON file, whole or not at all."""
    from juryrank.readers.atomic import save as save_bytes

    save_bytes(Path(path), to_json(model).encode())


def load(path: str | os.PathLike[str]) -> Aggregator:
    """The fitted method in a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not a juryrank model: it is not text") from None
    return from_json(text, str(path))


def to_json(model: Aggregator) -> str:
    """A fitted method as JSON text."""
    if not getattr(model, "_fitted", False):
        raise JuryrankError(f"{model.name} must be fitted before it is saved; call fit(data) first")
    head = {"format": FORMAT, "version": VERSION, "method": model.name, "params": model.params()}
    return json.dumps({**head, "learned": _pack(model.learned())}, indent=1, allow_nan=False) + "\n"


def from_json(text: str, source: str = "the model") -> Aggregator:
    """The fitted method in JSON text; a JuryrankError says what is wrong with it."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{source}:{error.lineno}: not a juryrank model, or cut short: {error.msg}") from None
    except RecursionError:
        raise DataError(f"{source}: not a juryrank model: it is nested too deeply") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{source}: not a juryrank model: it has no format {FORMAT!r}")
    version = content.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise DataError(f"{source}: model version {version!r} is newer than {VERSION}; upgrade juryrank to read it")
    cls = METHODS.get(str(content.get("method")))
    if cls is None:
        raise DataError(f"{source}: no method {content.get('method')!r} in this version of juryrank")
    try:
        return cls.from_learned(content["params"], _unpack(content["learned"]))
    except JuryrankError as error:
        raise DataError(f"{source}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{source}: the model is damaged: {type(error).__name__}: {error}") from None


def _pack(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": _pack_array(value)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {"dict": {str(key): _pack(v) for key, v in value.items()}}
    if isinstance(value, list | tuple):
        return [_pack(v) for v in value]
    return value


def _pack_array(value: NDArray[Any]) -> dict[str, Any]:
    head = {"dtype": str(value.dtype), "shape": list(value.shape)}
    if head["dtype"] not in DTYPES:
        raise JuryrankError(f"arrays of {head['dtype']} cannot be saved")
    if value.size <= PLAIN_UP_TO and np.isfinite(value).all():
        return {**head, "values": value.ravel().tolist()}
    packed = np.ascontiguousarray(value, DTYPES[str(value.dtype)]).tobytes()
    return {**head, "base64": base64.b64encode(packed).decode()}


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _unpack_array(value["array"])
    return {key: _unpack(v) for key, v in value["dict"].items()}


def _unpack_array(packed: dict[str, Any]) -> NDArray[Any]:
    dtype = packed["dtype"]
    if dtype not in DTYPES:
        raise ValueError(f"unknown dtype {dtype!r}")
    if "base64" in packed:
        flat = np.frombuffer(base64.b64decode(packed["base64"], validate=True), DTYPES[dtype]).astype(dtype)
    else:
        flat = np.array(packed["values"], dtype)
    return flat.reshape(packed["shape"])
