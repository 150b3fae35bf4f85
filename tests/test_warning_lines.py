"""Warnings about data point to the line of the user's code, however deep in the library they arise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import juryrank as jr
from juryrank.errors import DataWarning

LISTS = {"x": {"q": ["a", "b"], "r": ["a"]}, "y": {"q": ["b", "a"], "r": ["b"]}}
LABELS = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 1}}


def rank_with_unknown_weights(folder: Path) -> Any:
    for name in ("x", "y"):
        (folder / f"{name}.run").write_text(f"q Q0 a 1 2.0 {name}\nq Q0 b 2 1.0 {name}\n")
    model = jr.method("rrf", weights={"z": 2.0})
    return jr.rank_files([folder / "x.run", folder / "y.run"], model, folder / "out.run", memory=1 << 30)


CASES: dict[str, Callable[[Path], Any]] = {
    "an item twice": lambda folder: jr.from_dicts({"x": {"q": ["a", "a"]}}),
    "some lists without scores": lambda folder: jr.fuse({"x": {"a": 1.0}, "y": ["a"]}, "combsum"),
    "an entry without a score": lambda folder: jr.from_dicts({"x": {"q": {"a": 1.0, "b": float("nan")}}}),
    "ids in several types": lambda folder: jr.from_dicts({"x": {"q": ["1", 2]}, "y": {"q": [1, 2]}}),
    "pairs as ids": lambda folder: jr.from_dicts({"x": {"q": [("a", 1), ("a", 2)]}}),
    "labels of other items": lambda folder: jr.from_dicts(
        LISTS | {"z": {"s": ["a"]}}, labels={"q": {"a": 1}, "r": {"c": 1}, "s": {"d": 1}}
    ),
    "labels of other queries": lambda folder: jr.from_dicts(
        {"x": {name: ["a"] for name in "qrstu"}}, labels={name: {"a": 1} for name in "qRSTU"}
    ),
    "a query without labels": lambda folder: jr.evaluate(LISTS, {"q": {"a": 1}}, "nDCG"),
    "a method that fails": lambda folder: jr.compare(
        ["retargeting", "rrf"], jr.from_dicts(LISTS, labels=LABELS), ["RR"], folds=2
    ),
    "weights of no expert": rank_with_unknown_weights,
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_warning_about_data_points_to_the_line_of_the_user(case: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.warns(DataWarning) as said:
        case(tmp_path)
    assert {warning.filename for warning in said} == {__file__}
