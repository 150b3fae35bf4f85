"""The benchmark of adapters compares like with like: ours and the framework's fusion give the same order."""

from dataclasses import replace
from functools import partial

import pytest

import juryrank
from studies.speed.clock import Timing
from studies.speed.integrations import (
    BEST,
    FRAMEWORKS,
    Calls,
    Framework,
    gives_the_order_of_the_peer,
    overhead,
    results_of,
)
from studies.speed.peers import silent
from studies.speed.single_query import Lists, random_lists

LISTS = random_lists(3, 30)


@pytest.fixture(params=FRAMEWORKS, ids=[framework.name for framework in FRAMEWORKS])
def framework(request: pytest.FixtureRequest) -> Framework:
    if (missing := request.param.missing) is not None:
        pytest.skip(f"{missing} is not installed")
    return request.param


def test_both_give_the_same_order(framework: Framework) -> None:
    with silent():
        assert gives_the_order_of_the_peer(framework, LISTS)


def test_every_call_fuses_the_same_documents(framework: Framework) -> None:
    expected = list(juryrank.fuse(LISTS))
    with silent():
        calls = framework.prepare(LISTS, None)
        assert calls.ids(calls.every()) == calls.ids(calls.whole()) == expected
        assert calls.ids(calls.best()) == expected[:BEST]
        assert set(calls.ids(calls.whole_theirs())) == set(expected)


def test_a_peer_with_another_order_is_noticed(framework: Framework) -> None:
    def prepare_reversed(lists: Lists, dialect: str | None) -> Calls:
        calls = framework.prepare(lists, dialect)
        own = calls.whole_theirs()
        return calls._replace(
            whole_theirs=lambda: own, ids=lambda result: calls.ids(result)[:: -1 if result is own else 1]
        )

    with silent():
        assert not gives_the_order_of_the_peer(replace(framework, prepare=prepare_reversed), LISTS)


def test_there_is_a_row_for_the_fuser_and_for_the_peer(framework: Framework) -> None:
    rows, targets = results_of(framework, LISTS, most=1)
    own = [] if framework.peer == framework.whole_peer == "QueryFusionRetriever" else [framework.peer]
    assert [row.peer for row in rows] == ["Fuser on ids", *own, "Fuser on ids", framework.whole_peer]
    for row in rows:
        if row.peer == "Fuser on ids":
            assert row.ours.seconds > row.theirs.seconds
        else:
            assert row.agrees
    assert [target.target for target in targets] == [
        f"overhead over Fuser: {framework.name}, 3×30 documents ≤ 100 µs",
        f"overhead over Fuser: {framework.name}, best 10 of 3×30 documents ≤ 100 µs",
    ]
    assert all(target.peer.startswith("Fuser: ") for target in targets)


def test_a_framework_that_is_not_installed_is_not_measured() -> None:
    absent = Framework(
        "Other", ("json", "no_such_package"), "Join", "Join", "cormack", partial(pytest.fail, "prepared")
    )
    rows, targets = results_of(absent, LISTS)
    assert rows == []
    assert [(target.met, target.peer) for target in targets] == [
        (None, "skipped: no_such_package is not installed")
    ] * 2


@pytest.mark.parametrize(
    ("adapter", "clock", "cpu"), [(130e-6, True, True), (150e-6, False, True), (170e-6, False, False)]
)
def test_the_time_of_the_fuser_does_not_count(adapter: float, clock: bool, cpu: bool) -> None:
    fuser = Timing(None, 45e-6, 1, 44e-6)
    target = overhead("an adapter", Timing(None, adapter, 1, adapter - 10e-6), fuser)
    assert (target.by_clock, target.by_cpu) == (clock, cpu)
    assert target.measured == f"{(adapter - 45e-6) * 1e6:.3g} µs"
