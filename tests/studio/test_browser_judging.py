"""Judging in Chromium: from no label to an exported model, undo, skip, reload, two tabs, two judges, and a crash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

import juryrank
from server.processes import free_port
from studio.browser import COOKING, RunningStudio, chromium, opened, rows_in, show, studio
from studio.studios import cooking_labels

from playwright.sync_api import Browser, Page, expect  # isort: skip

ENOUGH = 10  # queries with a relevant item before numbers are shown, as the page says


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def cooking(browser: Browser, tmp_path: Path) -> Iterator[RunningStudio]:
    """The studio without arguments: the embedded data, of which nothing is judged."""
    with studio(folder=tmp_path) as found:
        yield found


@pytest.fixture
def page(browser: Browser, cooking: RunningStudio) -> Iterator[Page]:
    with opened(browser, cooking) as (found, _):
        show(found, "judge")
        yield found


def asked(page: Page) -> tuple[str, str]:
    """The query and the item that the page asks about."""
    query, item = page.locator(".question > .small bdi"), page.locator(".result > .small bdi")
    return query.inner_text(), item.inner_text()


def press(page: Page, key: str) -> None:
    """Press a key, and wait until the page has drawn the answer of the server."""
    drawn = "performance.getEntriesByName('judge to next question').length"
    before = page.evaluate(f"() => {drawn}")
    page.keyboard.press(key)
    page.wait_for_function(f"before => {drawn} > before", arg=before)


def grades_in(folder: Path) -> dict[tuple[str, str, str], str]:
    """The last row of each judge, query and item counts; one without a grade is none."""
    last = {(row["judge"], row["query"], row["item"]): row["grade"] for row in rows_in(folder)}
    return {key: grade for key, grade in last.items() if grade}


def expect_count(page: Page, n: int) -> None:
    expect(page.locator("#judged")).to_have_text(f"{n} judgement{'' if n == 1 else 's'}")


def test_from_no_label_to_an_exported_model(page: Page, tmp_path: Path) -> None:
    show(page, "overview")
    expect(page.locator(".verdict")).to_contain_text(f"{ENOUGH} more queries")
    assert page.locator(".expert-card", has_text="hidden").count() == 6
    show(page, "compare")
    expect(page.locator("main")).to_contain_text(f"0 of {ENOUGH}")
    assert page.locator("table").count() == 0
    show(page, "deploy")
    expect(page.get_by_role("button", name="model.json")).to_be_disabled()
    show(page, "judge")
    truth, given = cooking_labels(), {}
    while len({query for (query, _), grade in given.items() if grade > 0}) < ENOUGH or len(given) < 40:
        key = asked(page)
        assert key not in given  # nothing is asked twice
        given[key] = truth[key]
        press(page, str(given[key]))
    assert len(given) < 120
    expect_count(page, len(given))
    assert {key[1:]: int(grade) for key, grade in grades_in(tmp_path).items()} == given
    expect(page.locator("#refit")).to_contain_text("ms")
    expect(page.locator(".trust li")).to_have_count(6)
    show(page, "overview")
    expect(page.locator(".verdict .sentence")).to_contain_text("held-out queries", timeout=60_000)
    check_exports(page, given, tmp_path)


def check_exports(page: Page, given: dict[tuple[str, str], int], folder: Path) -> None:
    """The files have what was judged, and the model is the one that ``fit`` makes of it."""
    show(page, "deploy")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Qrels").click()
    lines = saved.value.path().read_text().splitlines()
    assert {(line.split()[0], line.split()[2]): int(line.split()[3]) for line in lines} == given
    with page.expect_download() as saved:
        page.get_by_role("link", name="model.json").click()
    assert saved.value.suggested_filename == "model.json"
    saved.value.save_as(folder / "model.json")
    assert json.loads((folder / "model.json").read_text())
    rows = [(query, item, grade) for (query, item), grade in given.items()]
    labels = pl.DataFrame(rows, schema=["query", "item", "label"], orient="row")
    lists = juryrank.Dataset(rankings=juryrank.read(COOKING).rankings)
    fitted = juryrank.fit(lists, labels=labels).predict(lists)
    loaded = juryrank.load(folder / "model.json").predict(lists)
    assert loaded.scores == pytest.approx(fitted.scores, abs=1e-6)


def test_undo_asks_again_and_skip_does_not(page: Page, tmp_path: Path) -> None:
    first = asked(page)
    press(page, "3")
    second = asked(page)
    assert second != first
    assert grades_in(tmp_path) == {("ann", *first): "3"}
    press(page, "u")
    assert asked(page) == first
    assert grades_in(tmp_path) == {}
    expect(page.get_by_role("status").last).to_contain_text("Taken back")
    press(page, "s")
    skipped = asked(page)
    assert skipped != first
    expect(page.locator("aside")).to_contain_text("1 item skipped")
    page.get_by_role("button", name="1 slightly").click()
    expect_count(page, 1)
    assert grades_in(tmp_path) == {("ann", *skipped): "1"}
    page.keyboard.press("7")  # no grade: nothing happens
    page.keyboard.press("x")
    page.wait_for_timeout(200)
    assert len(grades_in(tmp_path)) == 1


def test_a_reload_goes_on_where_it_was_and_keeps_the_name_of_the_judge(page: Page, tmp_path: Path) -> None:
    page.get_by_label("You judge as").fill("Zoë")
    page.get_by_label("You judge as").press("Enter")
    expect(page.locator(".question")).to_be_visible()
    first = asked(page)
    press(page, "2")
    second = asked(page)
    page.reload()
    expect(page.locator(".question")).to_be_visible()
    assert asked(page) == second
    expect(page.get_by_label("You judge as")).to_have_value("Zoë")
    expect_count(page, 1)
    assert grades_in(tmp_path) == {("Zoë", *first): "2"}
    press(page, "u")
    assert asked(page) == first


def test_a_key_that_is_pressed_too_early_never_counts_for_the_last_question(page: Page, tmp_path: Path) -> None:
    first = asked(page)
    page.evaluate("() => { for (const key of '3210') document.dispatchEvent(new KeyboardEvent('keydown', { key })) }")
    expect_count(page, 1)
    page.wait_for_timeout(200)
    assert asked(page) != first
    assert grades_in(tmp_path) == {("ann", *first): "3"}


def test_two_tabs_of_one_judge_stay_in_step(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".question")).to_be_visible()
    assert asked(other) == asked(page)
    first = asked(page)
    page.bring_to_front()
    press(page, "1")
    expect_count(other, 1)
    second = asked(page)
    expect(other.locator(".result > .small bdi")).to_have_text(second[1])
    other.bring_to_front()
    press(other, "0")
    expect_count(page, 2)
    expect(page.locator(".result > .small bdi")).to_have_text(asked(other)[1])
    assert len({first, second, asked(page)}) == 3


def test_two_judges_see_how_many_grades_each_has_given(
    browser: Browser, cooking: RunningStudio, page: Page, tmp_path: Path
) -> None:
    with opened(browser, cooking) as (other, _):
        show(other, "judge")
        other.get_by_label("You judge as").fill("ben")
        other.get_by_label("You judge as").press("Enter")
        expect(other.locator(".question")).to_be_visible()
        press(page, "2")
        for _ in range(2):
            press(other, "1")
        expect(page.locator("aside .facts")).to_contain_text(re.compile(r"ben\s*2 grades"), timeout=15_000)
        expect(page.locator("aside .facts")).to_contain_text(re.compile(r"ann\s*1 grade"))
    assert sorted(judge for judge, _, _ in grades_in(tmp_path)) == ["ann", "ben", "ben"]


def test_a_killed_server_loses_nothing_and_the_page_goes_on(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with ExitStack() as running:
        first = running.enter_context(studio(folder=tmp_path, port=port))
        page, watch = running.enter_context(opened(browser, first))
        show(page, "judge")
        for grade in "012":
            press(page, grade)
        question, before = asked(page), grades_in(tmp_path)
        assert len(before) == 3
        watch.is_server_away = True
        first.kill()
        page.keyboard.press("3")
        expect(page.locator(".banner")).to_contain_text("does not answer")
        expect(page.get_by_role("status").last).to_contain_text("Not saved")
        running.enter_context(studio(folder=tmp_path, port=port))
        expect(page.locator(".banner")).to_have_count(0)
        watch.is_server_away = False
        assert grades_in(tmp_path) == before
        expect_count(page, 3)
        assert asked(page) == question
        press(page, "3")
        expect_count(page, 4)
        assert grades_in(tmp_path) == {**before, ("ann", *question): "3"}
