"""Frames of pandas, read with and without pyarrow: the same data."""

import json
import subprocess
import sys

import pandas as pd
import pytest

pytestmark = pytest.mark.slow  # starts processes

BLOCK = """
import sys

class NoArrow:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError("no pyarrow here", name=name)

sys.meta_path.insert(0, NoArrow())
"""
READ = """
import json
import warnings
import pandas as pd
import juryrank
from juryrank.errors import JuryrankError
from juryrank.io.dataset_frames import entries_of, labels_frame

columns = {"query": ["q1", "q1", "q2"], "item": ["a", "b", "c"], "score": [2.0, 1.0, 0.5]}
frame = pd.DataFrame(columns)
frames = {
    "default": frame,
    "str": frame.astype({"query": "str", "item": "str"}),
    "string": frame.astype({"query": "string", "item": "string"}),
    "object": frame.astype({"query": object, "item": object}),
    "category": frame.astype({"query": "category", "item": "category"}),
    "index": frame.set_index("query"),
    "index of two": frame.set_index(["query", "item"]),
    "filtered": frame[frame["query"] == "q1"],
    "whole numbers": frame.assign(query=[1, 1, 2], item=pd.array([7, 8, 9], dtype="Int64")),
    "floats": frame.assign(item=[7.0, 8.0, 9.0]),
    "missing score": frame.assign(score=pd.array([2, None, 1], dtype="Int64")),
    "missing NaN": frame.assign(score=[2.0, float("nan"), 1.0]),
    "missing name": frame.assign(item=["a", None, "c"]),
    "mixed names": frame.assign(item=["a", 7, "c"]),
    "dates": frame.assign(query=pd.to_datetime(["2026-01-01", "2026-01-01", "2026-01-02"])),
    "text scores": frame.assign(score=["2", "1", "0.5"]),
    "booleans": frame.assign(score=pd.array([True, False, None], dtype="boolean")),
    "two columns of a name": pd.concat([frame, frame[["item"]]], axis=1),
    "no rows": frame.iloc[:0],
    "labels": frame.rename(columns={"score": "label"}),
}
found = {}
for name, each in frames.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = juryrank.read(each)
            rows = entries_of(data.rankings).rows() if data.labels is None else labels_frame(data).rows()
            found[name] = [list(map(str, data.queries)), rows, [str(warning.message) for warning in caught]]
        except JuryrankError as error:
            found[name] = type(error).__name__
labels = frame.rename(columns={"score": "relevance", "query": "query_id", "item": "doc_id"})
found["as labels"] = juryrank.evaluate(frame, labels, ["nDCG@10", "P@5"]).means()
found["by name"] = juryrank.read({"x": frame, "y": frame.iloc[:1]}).experts
data = juryrank.from_dicts({"e": {"q1": {"a": 1.0, "b": 2.0}}})
found["out"] = juryrank.Borda().fit_predict(data).to_pandas().to_dict("list")
found["pyarrow"] = "pyarrow" in __import__("sys").modules
print(json.dumps(found, default=str))
"""


@pytest.fixture(scope="module")
def answers() -> tuple[dict, dict]:
    return tuple(
        json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for code in (READ, BLOCK + READ)
    )


def test_pyarrow_is_only_in_one_of_the_processes(answers) -> None:
    assert [answer["pyarrow"] for answer in answers] == [True, False]


def test_frames_are_read_alike_with_and_without_pyarrow(answers) -> None:
    (with_arrow, without) = answers
    assert {**with_arrow, "pyarrow": False} == without


@pytest.mark.parametrize("name", ["default", "str", "string", "object", "category", "index", "index of two"])
def test_texts_of_every_type_are_names(answers, name: str) -> None:
    wanted = [["q1", "a", 2.0], ["q1", "b", 1.0], ["q2", "c", 0.5]]
    for answer in answers:
        queries, rows, warned = answer[name]
        assert queries == ["q1", "q2"]
        assert [[row[0], row[1], row[6]] for row in rows] == wanted
        assert warned == []


def test_numbers_and_gaps_without_pyarrow(answers) -> None:
    without = answers[1]
    assert (
        [row[1] for row in without["whole numbers"][1]] == [row[1] for row in without["floats"][1]] == ["7", "8", "9"]
    )
    assert without["whole numbers"][0] == ["1", "2"]
    for name in ("missing score", "missing NaN"):
        assert [row[1] for row in without[name][1]] == ["a", "c"]
    for name in ("missing name", "mixed names", "two columns of a name", "no rows"):
        assert without[name] == "DataError"
    assert without["labels"][1] == [["q1", "a", 2.0], ["q1", "b", 1.0], ["q2", "c", 0.5]]
    assert without["by name"] == ["x", "y"]
    assert without["out"]["item"] == ["b", "a"]


def test_this_is_pandas_3_or_newer() -> None:
    """Its texts are a type of their own, which pandas 2 has only on request."""
    if int(pd.__version__.partition(".")[0]) < 3:
        pytest.skip(f"pandas {pd.__version__}")
    assert str(pd.Series(["a"]).dtype) == "str"
