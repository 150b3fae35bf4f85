"""Work in the background: versions, errors, and plans that are made ahead."""

import threading
from dataclasses import replace

import pytest

from conftest import random_dataset
from juryrank.errors import DataError, JuryrankError
from juryrank.studio.background import Background
from juryrank.studio.current_labels import CurrentLabels
from juryrank.studio.plan_ahead import EVERY, PLANNED, PlanAhead
from juryrank.tasks.judge.plan import judging_plan
from studio.studios import wait_for


def test_of_the_versions_that_wait_only_the_last_is_computed() -> None:
    background, begin, done = Background(), threading.Event(), []

    def work(version: int) -> int:
        begin.wait(30)
        done.append(version)
        return version

    assert background.get("x", 0, lambda: work(0)).working
    wait_for(lambda: background.get("x", 0, lambda: work(-1)).working, bool)
    for version in (1, 2, 3, 2):
        background.get("x", version, lambda version=version: work(version))
    begin.set()
    assert background.wait("x", 3, lambda: work(99)) == 3
    assert done in ([0, 3], [3])  # whether the first had begun is left to the threads
    assert background.get("x", 2, lambda: work(2)) == (3, 3, False)  # newer ones will do
    assert background.latest("x") == 3
    assert background.latest("y") is None


@pytest.mark.parametrize("error", [DataError("too few"), ValueError("a fault")])
def test_an_error_is_a_result_and_the_work_goes_on(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    background = Background()

    def fail() -> None:
        raise error

    found = background.wait("x", 0, fail)
    assert isinstance(found, JuryrankError)
    assert str(error) in str(found)
    assert background.wait("y", 0, lambda: 7) == 7


def test_the_first_plan_is_that_of_judging_plan() -> None:
    data = random_dataset(0, n_queries=20)
    plan, labels = PlanAhead(data), CurrentLabels(data)
    wait_for(lambda: plan.begin(labels), bool)
    expected = [(row["query"], row["item"]) for row in judging_plan(data, budget=PLANNED).rows()]
    assert plan(replace(data, labels=None), None, 25).to_frame().rows() == expected[:25]
    assert plan(data, None, 10**6).to_frame().rows() == [
        (row["query"], row["item"]) for row in judging_plan(data, budget=10**6).rows()
    ]


def test_a_plan_leaves_out_what_has_been_graded_meanwhile() -> None:
    data = replace(random_dataset(0, n_queries=20), labels=None)
    plan, labels = PlanAhead(data), CurrentLabels(data)
    wait_for(lambda: plan.begin(labels), bool)
    first = plan(data, None, 25).to_frame().rows()
    graded: dict[str, dict[str, tuple[float, float]]] = {}
    for query, item in first[:10]:
        graded.setdefault(query, {})[item] = (1.0, 1.0)
    now = CurrentLabels(data, graded)
    for _ in range(EVERY):
        plan.answered(now, 0)
    again = plan(data, now.whole, 25).to_frame().rows()
    assert not set(first[:10]).intersection(again)
    assert len(again) == 25
