"""Random everyday inputs end in the right answer (with a warning for what was dropped or repaired) or one clear line.

1,500 of them by default; all 10,000 with ``EVERYDAY=10000`` in the environment. A failure names the kind and the seed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

import pytest

from everyday import command_line, labels, pairs, python_shapes, run_files, tables
from everyday.cases import Case, outcome

ALL = 10_000
ASKED = int(os.environ.get("EVERYDAY", "1500"))
MAKERS: dict[str, Callable[[int, Path], Case]] = {
    "python": lambda seed, folder: python_shapes.case(seed),
    "run": run_files.case,
    "table": tables.case,
    "labels": labels.case,
    "pairs": pairs.case,
}
# How many of the 10,000 there are of each kind, by way: in Python, on the command line here, in a process of its own.
PLAN = {
    ("python", "library"): 4000,
    ("run", "library"): 1600,
    ("table", "library"): 2200,
    ("labels", "library"): 900,
    ("pairs", "library"): 900,
    ("run", "here"): 120,
    ("table", "here"): 150,
    ("labels", "here"): 100,
    ("run", "elsewhere"): 10,
    ("table", "elsewhere"): 12,
    ("labels", "elsewhere"): 8,
}
LEAST = {"library": 0.2, "here": 0.15, "elsewhere": 0.0}  # of the cases of a kind that end in each way


def share(kind: str, way: str) -> int:
    """How many cases of the plan are run."""
    return max(1, round(PLAN[kind, way] * ASKED / ALL)) if way != "elsewhere" or ASKED >= ALL else 1


def some(kind: str, way: str, folder: Path) -> Iterator[Case]:
    """Cases of a kind, others for every way."""
    first = {"library": 0, "here": 100_000, "elsewhere": 200_000}[way]
    cases = (MAKERS[kind](seed, folder) for seed in count(first))
    return islice((case for case in cases if way == "library" or case.command), share(kind, way))


def test_the_plan_has_ten_thousand_cases() -> None:
    assert sum(PLAN.values()) == ALL


@pytest.mark.parametrize(("kind", "way"), PLAN, ids=["-".join(key) for key in PLAN])
def test_everyday_inputs_end_in_the_right_answer_or_one_clear_line(
    kind: str, way: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    ended: Counter[str] = Counter()
    wrong: list[str] = []
    for case in some(kind, way, tmp_path):
        try:
            run = {"here": command_line.here, "elsewhere": command_line.elsewhere}.get(way)
            ended[outcome(case) if run is None else command_line.outcome(case, run)] += 1
        except Exception as error:  # whatever it is, it must not be
            text = str(error).partition("\nassert")[0]
            wrong.append(
                text if isinstance(error, AssertionError) else f"{case.kind} {case.seed} {case.text}: {error!r}"
            )
    record_property("ended", dict(ended))
    assert not wrong, f"{len(wrong)} of {sum(ended.values()) + len(wrong)}:\n" + "\n".join(wrong[:20])
    assert sum(ended.values()) == share(kind, way)
    if ASKED >= ALL and way != "elsewhere":  # a generator of nothing but refusals would show nothing
        assert ended["answered"] + ended["warned"] >= sum(ended.values()) * LEAST[way]
        assert ended["refused"] >= sum(ended.values()) * 0.05
        assert ended["warned"]
