"""Planted faults of the kinds that this project has had are found by the everyday inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import juryrank
from everyday import labels, pairs, python_shapes, run_files, tables
from everyday.cases import Case, outcome
from juryrank import fuse
from juryrank.data import Dataset
from juryrank.data.long_table import from_long
from juryrank.errors import DataWarning, JuryrankError
from juryrank.io import read
from juryrank.kernels.ragged import parents

Make = Callable[[int], Case]


def is_found(make: Make, fault: Callable[[Case], Any], n: int) -> bool:
    """Whether one of the first cases is found to be wrong when they are answered by ``fault``."""
    for seed in range(n):
        case = make(seed)
        act = case.act
        case.act = lambda case=case, act=act: fault(Case(case.kind, case.seed, case.text, act, case.expected))
        try:
            outcome(case)
        except AssertionError:
            return True
    return False


def silent(case: Case) -> Any:
    """The answer, without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.act()


def lenient(case: Case) -> Any:
    """An empty answer where an error belongs."""
    try:
        return case.act()
    except JuryrankError:
        return {}


def vague(case: Case) -> Any:
    """An error that does not say where."""
    try:
        return case.act()
    except JuryrankError as error:
        raise type(error)("bad input") from None


def python_inside(case: Case) -> Any:
    """An error in the words of the machine."""
    try:
        return case.act()
    except JuryrankError as error:
        raise type(error)(f"'NoneType' object has no attribute 'items' ({error})") from None


def last_item_lost(case: Case) -> Any:
    """One item fewer."""
    return {query: dict(list(scores.items())[:-1]) for query, scores in case.act().items()}


def off_by_one(case: Case) -> Any:
    """Scores that are a little too small."""
    return {query: {item: score * 0.999 for item, score in scores.items()} for query, scores in case.act().items()}


def names_as_text(case: Case) -> Any:
    """Ids that come back as text."""
    return {query: {str(item): score for item, score in scores.items()} for query, scores in case.act().items()}


def noisy(case: Case) -> Any:
    """A warning without a reason."""
    warnings.warn("1 column is not used, says nobody", DataWarning, stacklevel=2)
    return case.act()


@pytest.fixture
def makers(tmp_path: Path) -> dict[str, Make]:
    files = {"run": run_files.case, "table": tables.case, "labels": labels.case, "pairs": pairs.case}
    made: dict[str, Make] = {"python": python_shapes.case}
    made.update({kind: lambda seed, case=case: case(seed, tmp_path) for kind, case in files.items()})  # type: ignore[misc]
    return made


@pytest.mark.parametrize("kind", ["python", "run", "table", "labels", "pairs"])
@pytest.mark.parametrize("fault", [silent, lenient, vague, python_inside, noisy, off_by_one], ids=lambda f: f.__name__)
def test_a_planted_fault_is_found(kind: str, fault: Callable[[Case], Any], makers: dict[str, Make]) -> None:
    assert is_found(makers[kind], fault, 60)


@pytest.mark.parametrize("fault", [last_item_lost, names_as_text], ids=lambda f: f.__name__)
def test_a_planted_fault_of_lists_in_python_is_found(fault: Callable[[Case], Any], makers: dict[str, Make]) -> None:
    assert is_found(makers["python"], fault, 60)


def test_a_lost_expert_is_found(makers: dict[str, Make], monkeypatch: pytest.MonkeyPatch) -> None:
    def first_only(source: Any, **options: Any) -> Dataset:
        r = read(source, **options).rankings
        return Dataset(rankings=r.keep_lists(r.list_expert == 0))

    monkeypatch.setattr(juryrank, "read", first_only)
    for kind in ("run", "table"):
        assert is_found(makers[kind], lambda case: case.act(), 40)


def test_experts_merged_into_one_are_found(makers: dict[str, Make], monkeypatch: pytest.MonkeyPatch) -> None:
    def merged(source: Any, **options: Any) -> Dataset:
        r = read(source, **options).rankings
        one = pl.DataFrame({"query": r.list_query[parents(r.entry_ptr)], "slot": r.entry_slot, "rank": r.entry_rank})
        names = one.select(
            query=pl.Series([r.queries[q] for q in one["query"]], dtype=pl.String),
            item=pl.Series([r.items[r.slot_item[slot]] for slot in one["slot"]], dtype=pl.String),
            expert=pl.lit("table"),
            rank="rank",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return from_long(names)

    monkeypatch.setattr(juryrank, "read", merged)
    assert is_found(makers["table"], lambda case: case.act(), 60)


def test_pairs_taken_for_items_are_found(makers: dict[str, Make], monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(lists: Any, method: str = "rrf", **params: Any) -> Any:
        def bare(listed: Any) -> Any:
            pairs = (
                isinstance(listed, list) and listed and isinstance(listed[0], tuple) and isinstance(listed[0][0], str)
            )
            return [str(pair) for pair in listed] if pairs else listed

        return fuse(
            {name: bare(listed) for name, listed in lists.items()} if isinstance(lists, dict) else lists,
            method,
            **params,
        )

    monkeypatch.setattr(juryrank, "fuse", careless)
    assert is_found(makers["python"], lambda case: case.act(), 60)


def test_a_consumed_generator_is_found(makers: dict[str, Make], monkeypatch: pytest.MonkeyPatch) -> None:
    def consumed(lists: Any, method: str = "rrf", **params: Any) -> Any:
        for listed in lists.values() if isinstance(lists, dict) else lists:
            if hasattr(listed, "__next__"):
                list(listed)
        return fuse(lists, method, **params)

    monkeypatch.setattr(juryrank, "fuse", consumed)
    assert is_found(makers["python"], lambda case: case.act(), 60)


def test_labels_that_match_nothing_are_found(makers: dict[str, Make], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("juryrank.data.dataset.check_match", lambda *given: None)
    assert is_found(makers["labels"], lambda case: case.act(), 60)
