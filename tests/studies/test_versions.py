"""Two versions of juryrank are timed in turns, each in its own process."""

import json
from pathlib import Path
from typing import Any

import pytest

import juryrank
from juryrank.errors import DataError, UnknownNameError
from studies.speed.versions import Comparison, Pair, Version, compare_call, compare_versions, same_parts, source_tree

SRC = Path(juryrank.__file__).parents[1]


class Recorded:
    """A version with made-up answers; ``log`` is common to both versions."""

    def __init__(self, name: str, log: list[str], seconds: float, scores: str = "same", error: str = "") -> None:
        self.tree, self.log, self.seconds = Path(name), log, seconds
        self.first = {"error": error} if error else {"digests": ["order", scores]}

    def ask(self, **request: Any) -> dict[str, Any]:
        if "seconds" not in request:
            return self.first
        self.log.append(self.tree.name)
        slowed = 5.0 if len(self.log) < 20 else 1.0  # other load on the machine, at first
        return {"clock": slowed * self.seconds, "cpu": self.seconds / 2}


def test_the_fastest_batches_of_both_versions_are_compared() -> None:
    log: list[str] = []
    pair = compare_call("files", "read", [Recorded("new", log, 0.002), Recorded("old", log, 0.003)])
    assert isinstance(pair, Pair)
    assert (pair.clock, pair.cpu, pair.same) == ((0.002, 0.003), (0.001, 0.0015), "yes")
    assert (pair.ratio, pair.cpu_ratio) == (pytest.approx(1.5), pytest.approx(1.5))


def test_versions_take_turns_and_neither_is_always_first() -> None:
    log: list[str] = []
    compare_call("files", "read", [Recorded("new", log, 1e-9), Recorded("old", log, 1e-9)])
    turns = list(zip(log[::2], log[1::2], strict=True))
    assert {frozenset(turn) for turn in turns} == {frozenset(("new", "old"))}
    assert len(set(turns)) == 2


def test_different_results_and_calls_that_fail_are_reported() -> None:
    log: list[str] = []
    other = compare_call("files", "read", [Recorded("new", log, 1.0), Recorded("old", log, 1.0, scores="another")])
    assert isinstance(other, Pair)
    assert other.same == "order"
    assert (same_parts(["a"], ["b"]), same_parts(["a", "c"], ["b", "c"])) == ("NO", "NO")
    failed = compare_call("files", "read", [Recorded("new", log, 1.0), Recorded("old", log, 1.0, error="KeyError: x")])
    assert failed == "read with old: KeyError: x"
    text = str(Comparison([other], ("new", "old"), "No data.", [str(failed)]))
    assert " order " in text
    assert "Failed: read with old: KeyError: x." in text


def test_a_task_is_summarised_by_the_geometric_mean_of_its_ratios() -> None:
    pairs = [Pair("files", name, (1.0, ratio), (1.0, 1.0), "yes") for name, ratio in (("a", 2.0), ("b", 8.0))]
    last = Comparison(pairs, ("new", "old"), "No data.", []).tables()[0].rows[-1]
    assert last[:2] == ["files", "geometric mean"]
    assert (last[4], last[7]) == ("4.00×", "1.00×")


def test_a_version_answers_from_its_own_process(tmp_path: Path) -> None:
    lists = {"a": ["x", "y"], "b": ["y", "z"]}
    (tmp_path / "lists.json").write_text(json.dumps({"two lists": lists}))
    version = Version(SRC, tmp_path)
    try:
        assert version.ask(call="absent")["error"].startswith("KeyError")
        assert version.ask(task="single-query") == {"calls": ["two lists"]}
        assert len(version.ask(call="two lists")["digests"]) == 2
        spent = version.ask(call="two lists", seconds=0.0)
    finally:
        version.close()
    assert spent["clock"] > 0
    assert version.process.returncode == 0


def test_a_tree_without_the_package_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a folder with the package"):
        compare_versions(["files"], tmp_path, tmp_path)
    with pytest.raises(UnknownNameError, match="'kemeny'"):
        compare_versions(["kemeny"], SRC, tmp_path)
    assert source_tree(SRC.parent) == source_tree(SRC) == SRC.resolve()
