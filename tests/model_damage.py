"""Damage to model files: ``python tests/model_damage.py FOLDER COUNT`` damages each of its files COUNT times.

Run it with UNCOMPILED_KERNELS=1: kernels are then plain Python, where numpy checks every index. A damaged model is
loaded and ranks two datasets; that gives one JuryrankError or finite scores. What else happens is printed.
"""

import base64
import copy
import json
import random
import signal
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from conftest import random_dataset, suited
from juryrank.errors import JuryrankError
from juryrank.models import from_json, to_json

SECONDS = 60  # that one case may take: none is slow, so this is a hang
NUMBERS = (-1, 0, 0.5, 2, 10**6, 10**25, -(10**9), 1e308, -1e308, True, None, "x", [], {})
PARAMETERS = (-1, 0, 0.5, 2, 3.0, True, None, "x", [], {})  # extreme but allowed ones are no damage
EMPTY = {"array": {"dtype": "float64", "shape": [0], "values": []}}
THINGS = (None, 7, "x", [], {}, [[]], {"dict": {}}, {"array": {}}, EMPTY)
SHAPES = ([-1], [2**40], [2**62, 4], [0], [True], [1.0], "3", [1] * 70)
Where = tuple[Any, ...]


def places(content: Any, at: Where = ()) -> list[Where]:
    """The way to every value inside a JSON value."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


def at(content: Any, place: Where) -> Any:
    for key in place:
        content = content[key]
    return content


def put(content: Any, place: Where, value: Any) -> None:
    at(content, place[:-1])[place[-1]] = value


def is_array(value: Any) -> bool:
    """Whether this is an array that was not damaged yet, but for its numbers."""
    held = isinstance(value, dict) and (value.get("values"), value.get("base64"), value.get("shape"))
    return bool(held) and isinstance(held[2], list) and (isinstance(held[0], list) or isinstance(held[1], str))


def damaged_array(packed: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """An array with other numbers, another shape or another type."""
    values, shape, dtype = packed.get("values"), packed["shape"], packed.get("dtype")
    if values is None:
        return {**packed, "base64": rng.choice(("", "????", "AAAA", 5, packed["base64"][:-16], packed["base64"] * 2))}
    n = len(values)
    kind = rng.choice(
        ("empty", "shorter", "longer", "huge", "number", "special", "dtype", "shape", "turned", "garbage")
    )
    if kind in ("shorter", "longer", "empty"):
        size = {"empty": 0, "shorter": max(0, n - 1), "longer": n + rng.choice((1, 7))}[kind]
        shape = [size] if len(shape) == 1 else [size, *[1] * (len(shape) - 1)]
        return {"dtype": dtype, "shape": shape, "values": (values * 9 + [0] * 9)[:size]}
    if kind == "number" and n:
        values = list(values)
        values[rng.randrange(n)] = rng.choice(NUMBERS)
        return {**packed, "values": values}
    if kind == "special" and n:
        special = np.zeros(n)
        special[rng.randrange(n)] = rng.choice((np.nan, np.inf, -np.inf))
        return {"dtype": "float64", "shape": shape, "base64": base64.b64encode(special.tobytes()).decode()}
    if kind == "dtype":
        other = rng.choice(("float64", "int64", "int32", "bool", "object", "float32", 3))
        return {**packed, "dtype": other}
    if kind == "shape":
        return {**packed, "shape": rng.choice((*SHAPES, [n, -1], [n, 1]))}
    if kind == "turned":
        return {**packed, "shape": shape[::-1]}
    if kind == "huge":
        return {"dtype": dtype, "shape": [2**50], "values": values}
    return {"dtype": dtype, "shape": shape, "base64": rng.choice(("", "????", "AAAA", "ä", 5, "A" * 8 * (n + 1)))}


def damaged_value(content: Any, rng: random.Random) -> None:
    """Damage one value in place; which one is drawn."""
    spots = [place for place in places(content) if place]
    arrays = [place for place in spots if is_array(at(content, place))]
    if arrays and rng.random() < 0.6:
        place = rng.choice(arrays)
        put(content, place, damaged_array(at(content, place), rng))
        return
    inside = [place for place in spots if len(place) > 1]
    place = rng.choice(inside if inside and rng.random() < 0.9 else spots)
    value, kind = at(content, place), rng.choice(("other", "drop", "twice", "swap", "rename"))
    if kind == "drop" and isinstance(at(content, place[:-1]), dict | list):
        del at(content, place[:-1])[place[-1]]
    elif kind == "twice" and isinstance(value, list) and value:
        value.append(rng.choice(value))
    elif kind == "swap":
        other = rng.choice(spots)
        if other[: len(place)] != place and place[: len(other)] != other:
            mine, its = value, at(content, other)
            put(content, place, its)
            put(content, other, mine)
    elif kind == "rename" and isinstance(value, dict) and value:
        value["x"] = value.pop(rng.choice(list(value)))
    elif isinstance(value, int | float):
        put(content, place, rng.choice(PARAMETERS if "params" in place else NUMBERS))
    else:
        put(content, place, copy.deepcopy(rng.choice(THINGS)))


def damaged(text: str, rng: random.Random) -> str:
    """The text of a model file with some damage."""
    if rng.random() < 0.1:
        start = rng.randrange(len(text))
        return text[:start] + rng.choice(("", "7", '"', "[", "-", "NaN", "1e999")) + text[start + rng.randrange(9) :]
    content = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        damaged_value(content, rng)
    return json.dumps(content)


def outcome(text: str, datasets: list[Any]) -> str:
    """What comes of a model file: ``refused``, or ``scored`` where all scores are finite; else it raises."""
    try:
        model = from_json(text)
        for data in datasets:
            assert np.isfinite(model.predict(suited(model, data)).scores).all()
        if hasattr(model, "report"):
            model.report()
        model.expert_weights()
        assert to_json(from_json(to_json(model))) == to_json(model)
    except JuryrankError as error:
        return "refused" if "\n" not in str(error) else f"refused in more than one line: {error}"
    return "scored"


def too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def main(folder: Path, count: int) -> int:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, too_slow)
    datasets = [random_dataset(seed, n_queries=3, n_items=6, n_experts=n) for seed, n in ((1, 5), (2, 7))]
    problems = 0
    for file in sorted(folder.glob("*.json")):
        text, rng, found = file.read_text(), random.Random(file.stem), Counter[str]()
        assert outcome(text, datasets) == "scored", file
        for n in range(count):
            case = damaged(text, rng)
            signal.alarm(SECONDS)
            try:
                result = outcome(case, datasets)
                assert result in ("refused", "scored"), result
                found[result] += 1
            except Exception:
                problems += 1
                print(f"{file.stem}, case {n}: {case[:2000]}\n{traceback.format_exc()[-1500:]}")
            signal.alarm(0)
        print(f"{file.stem}: {dict(found)}")
    return problems


if __name__ == "__main__":
    sys.exit(min(99, main(Path(sys.argv[1]), int(sys.argv[2]))))
