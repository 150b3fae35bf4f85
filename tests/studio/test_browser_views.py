"""Every view of the studio in Chromium: what it shows, by mouse and by keys, in both sizes and both colour schemes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import partly_judged
from juryrank.io.dataset_frames import long_table
from studio.browser import (
    COOKING,
    COOKING_TEXTS,
    NARROW,
    WIDE,
    RunningStudio,
    Watch,
    chromium,
    opened,
    show,
    studio,
)  # fmt: skip

from playwright.sync_api import Browser, Page, Route, expect  # isort: skip

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core checks accessibility")
VIEWS = ("overview", "query", "judge", "compare", "deploy")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def labelled(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """The cooking data with all its labels, so every number is shown; tests only look at it."""
    with studio(COOKING, *COOKING_TEXTS, folder=tmp_path_factory.mktemp("labelled")) as found:
        yield found


@pytest.fixture
def page(browser: Browser, labelled: RunningStudio) -> Iterator[Page]:
    with opened(browser, labelled) as (found, _):
        yield found


def lists_of(query: str) -> dict[str, list[str]]:
    """The lists of a query, from the file itself."""
    with COOKING.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["query"] == query]
    rows.sort(key=lambda row: int(row["rank"]))
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["expert"], []).append(row["item"])
    return found


def rrf_order(query: str) -> list[float]:
    """The scores of reciprocal rank fusion, best first."""
    scores: dict[str, float] = {}
    for items in lists_of(query).values():
        for rank, item in enumerate(items, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (60 + rank)
    return sorted(scores.values(), reverse=True)


def consensus_items(page: Page) -> list[str]:
    """The first items of the consensus that are drawn."""
    return page.locator(".cell.consensus").evaluate_all("cells => cells.map(cell => cell.dataset.item)")


def test_the_overview_has_a_card_for_each_expert_the_verdict_and_the_learning_curve(page: Page) -> None:
    show(page, "overview")
    expect(page.locator(".expert-card")).to_have_count(6)
    expect(page.locator(".verdict .sentence")).to_contain_text("held-out queries")
    expect(page.locator(".verdict .choice")).to_have_text(re.compile("^(Use|Stay with|Not shown, but) "))
    expect(page.locator(".expert-card path.line")).to_have_count(6)
    expect(page.locator("path.band")).to_have_count(1)
    matrix = page.locator(".matrix tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    assert [len(row) for row in matrix] == [6] * 6
    assert matrix == [list(column) for column in zip(*matrix, strict=True)]  # symmetric


def test_while_labels_are_read_the_page_says_so_and_misses_no_query(browser: Browser, labelled: RunningStudio) -> None:
    reading = {"now": 0, "needed": 10, "text": "The labels are being read.", "reading": True}
    nothing = {"verdict": None, "learning_curve": None, "advice": None, "enough": reading, "working": ["labels"]}

    def not_ready(route: Route) -> None:
        found = route.fetch().json()
        if route.request.url.endswith("/state"):
            route.fulfill(json={**found, "enough": reading, "judged_items": None})
        else:
            experts = [{**expert, "quality": None, "curve": None} for expert in found["experts"]]
            route.fulfill(json={**found, **nothing, "experts": experts})

    with opened(browser, labelled) as (page, _):
        show(page, "overview")
        numbers = re.compile("/studio/api/(state|overview)$")
        page.route(numbers, not_ready)
        page.reload()
        expect(page.locator(".verdict")).to_contain_text("Reading the labels")
        expect(page.locator("#judged")).to_have_text("reading the labels …")
        assert "more quer" not in page.locator("main").inner_text()
        assert "too few" not in page.locator("main").inner_text()
        page.unroute(numbers, not_ready)
        expect(page.locator(".verdict .sentence")).to_contain_text("held-out queries")
        expect(page.locator("#judged")).to_have_text(re.compile("^[1-9][0-9]* judgements$"))


def test_all_judgements_of_the_page_are_one_number(page: Page) -> None:
    show(page, "overview")
    judged = page.locator("#judged").inner_text().removesuffix(" judgements")
    expect(page.locator("circle.point title").last).to_contain_text(f"{judged} judgements")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_message_lies_on_the_header_and_covers_nothing_else(
    browser: Browser, labelled: RunningStudio, size: tuple[int, int]
) -> None:
    with opened(browser, labelled, size) as (page, _):
        show(page, "deploy")
        for scroll in (0, 10_000):
            page.evaluate("y => window.scrollTo(0, y)", scroll)
            with page.expect_download():
                page.locator("a.button").filter(visible=True).nth(0 if not scroll else -1).evaluate("e => e.click()")
            message = page.locator(".toast.shown")
            expect(message).to_contain_text("is saved")
            inside = message.evaluate(
                "toast => { const [a, b] = [toast, toast.closest('header')].map((e) => e.getBoundingClientRect());"
                " return a.top >= Math.max(0, b.top) && a.bottom <= b.bottom && a.left >= 0 && a.right <= b.right }"
            )
            assert inside
            expect(page.locator(".toast")).not_to_have_class(re.compile("shown"))


def test_where_there_is_enough_no_goal_is_shown(browser: Browser, tmp_path: Path) -> None:
    long_table(partly_judged(60, n_judged=12, knowing=2)).write_csv(tmp_path / "lists.csv")
    with studio("lists.csv", folder=tmp_path) as found, opened(browser, found) as (page, _):
        show(page, "overview")
        expect(page.locator(".verdict")).to_contain_text("Enough: ")
        show(page, "judge")
        expect(page.locator(".question > .small")).to_have_text(re.compile("^Query .* · 1$"))
        assert "of 100" not in page.locator("main").inner_text()


def test_where_the_gain_is_not_shown_the_overview_says_so(page: Page) -> None:
    """In the cooking data jury and one of the experts are equally good."""
    show(page, "overview")
    expect(page.locator(".verdict")).to_contain_text("Not shown yet: ")
    assert "Enough" not in page.locator("main").inner_text()


def test_the_lists_of_a_query_are_those_of_the_file(page: Page) -> None:
    show(page, "query/q05")
    for name, items in lists_of("q05").items():
        shown = page.locator(f"ol[aria-label='List of {name}'] li")
        expect(shown.first).to_be_visible()
        found = shown.evaluate_all("cells => cells.map(cell => cell.dataset.item)")
        assert found == items[: len(found)]
        assert len(found) >= min(len(items), 13)


def test_contributions_add_up_to_the_score_of_rrf(page: Page) -> None:
    show(page, "query/q05")
    page.locator(".cell.consensus").first.click()
    adds = page.locator(".contributions td:nth-child(3)").all_text_contents()
    assert sum(float(text) for text in adds if text != "–") == pytest.approx(rrf_order("q05")[0], abs=4e-4)


def test_hovering_an_item_lights_it_up_in_every_list_that_has_it(page: Page) -> None:
    show(page, "query/q05")
    cell = page.locator(".cell.consensus").nth(2)
    cell.hover()
    item = cell.get_attribute("data-item")
    lit = page.locator(".cell.lit").evaluate_all("cells => cells.map(cell => cell.dataset.item)")
    assert lit == [item] * (1 + sum(item in items for items in lists_of("q05").values()))
    expect(page.locator(".trace.lit")).to_have_count(1)
    page.locator("h1").hover()
    expect(page.locator(".cell.consensus.lit")).not_to_have_attribute("data-item", str(item))


def test_a_change_of_the_method_moves_items_and_says_by_how_much(page: Page) -> None:
    show(page, "query/q05")
    before = consensus_items(page)
    page.evaluate(
        "() => { window.moved = 0; const animate = Element.prototype.animate; Element.prototype.animate ="
        " function (...args) { window.moved++; return animate.apply(this, args) } }"
    )
    page.get_by_text("jury", exact=True).click()
    page.wait_for_function("() => document.querySelector('.column.first small').textContent.startsWith('jury')")
    after = consensus_items(page)
    moved = [item for item in after if item in before and before.index(item) != after.index(item)]
    assert moved
    assert page.evaluate("() => window.moved") >= len(moved)
    expect(page.locator(".move.up, .move.down").first).to_be_visible()
    marks = page.locator(".move.up").count() + page.locator(".move.down").count()
    assert marks >= len(moved)


def test_nothing_is_animated_for_those_who_do_not_want_it(browser: Browser, labelled: RunningStudio) -> None:
    with opened(browser, labelled, reduced_motion="reduce") as (page, _):
        show(page, "query/q05")
        page.evaluate("() => { window.moved = 0; Element.prototype.animate = () => { window.moved++ } }")
        page.get_by_text("jury", exact=True).click()
        page.wait_for_function("() => document.querySelector('.column.first small').textContent.startsWith('jury')")
        assert page.evaluate("() => window.moved") == 0


def test_a_difference_leads_to_the_queries_that_make_it(page: Page) -> None:
    show(page, "compare")
    row = page.locator(".comparison tbody tr", has_text="title").first
    mean = float(row.get_by_role("button").inner_text().replace("−", "-"))
    row.get_by_role("button").click()
    expect(page.locator(".deciding-list li").first).to_be_visible()
    texts = page.locator(".deciding-list li > .number:last-child").all_text_contents()
    differences = [float(text.replace("−", "-")) for text in texts]
    assert [abs(x) for x in differences] == sorted((abs(x) for x in differences), reverse=True)
    assert sum(differences) / 24 == pytest.approx(mean, abs=1.1e-3)  # both are rounded to three digits
    page.locator(".deciding-list a").first.click()
    page.wait_for_function("() => location.hash.startsWith('#/query/')")
    expect(page.locator(".cell.consensus").first).to_be_visible()


def test_another_metric_gives_other_numbers(page: Page) -> None:
    show(page, "compare")
    before = page.locator(".comparison tbody").inner_text()
    page.get_by_label("Metric").select_option("AP")
    expect(page.locator(".comparison thead")).to_contain_text("AP")
    assert page.locator(".comparison tbody").inner_text() != before


def test_every_target_can_be_saved_and_says_its_loss(page: Page) -> None:
    show(page, "deploy")
    targets = page.locator(".target")
    expect(targets).to_have_count(9)
    for n in range(targets.count()):
        target = targets.nth(n)
        expect(target.locator(".badge")).to_have_text(re.compile("^(exact|approximation)$"))
        expect(target).to_contain_text(re.compile("No loss|instead of|of the first"))
        with page.expect_download() as saved:
            target.get_by_role("link", name="Download").click()
        assert saved.value.path().stat().st_size > 100
    expect(page.locator("pre")).to_contain_text("curl")


def test_a_target_and_the_curl_line_are_copied(browser: Browser, labelled: RunningStudio) -> None:
    with opened(browser, labelled, permissions=["clipboard-read", "clipboard-write"]) as (page, _):
        show(page, "deploy")
        page.get_by_role("button", name="Copy the commands").click()
        expect(page.get_by_role("status").last).to_contain_text("clipboard")
        assert page.evaluate("() => navigator.clipboard.readText()") == page.locator("pre").inner_text()


def test_the_keyboard_alone_reaches_every_view_and_moves_in_lists(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    for letter, view in zip("cdjqo", ("compare", "deploy", "judge", "query", "overview"), strict=True):
        page.keyboard.press("g")
        page.keyboard.press(letter)
        expect(page.locator(f"nav a[href='#/{view}']")).to_have_attribute("aria-current", "page")
    show(page, "query/q01")
    page.keyboard.press("n")
    page.wait_for_function("() => location.hash === '#/query/q02'")
    page.keyboard.press("/")  # the keys that follow are typed into the field
    page.keyboard.type("caramel")
    expect(page.locator(".query-row")).to_have_count(1)
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#/query/q16'")
    page.get_by_role("listbox", name=re.compile("Consensus")).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    third = page.locator(".cell.consensus").nth(2)
    expect(third).to_have_attribute("aria-selected", "true")
    assert page.locator(".cell.lit").count() > 1


def test_a_key_before_the_list_of_queries_is_there_is_not_lost(page: Page) -> None:
    held: list[Route] = []
    page.route(re.compile(r"/queries\?"), lambda route: held.append(route), times=1)
    show(page, "query/q01")
    for _ in range(2):
        page.keyboard.press("n")
    assert page.evaluate("location.hash") == "#/query/q01"
    held[0].continue_()
    page.wait_for_function("() => location.hash === '#/query/q03'")
    for _ in range(3):
        page.keyboard.press("n")
    page.wait_for_function("() => location.hash === '#/query/q06'")


def test_on_a_phone_the_list_of_queries_opens_and_closes(browser: Browser, labelled: RunningStudio) -> None:
    with opened(browser, labelled, NARROW) as (page, _):
        show(page, "query/q01")
        expect(page.locator(".query-row").first).to_be_hidden()
        page.get_by_role("button", name="Choose a query").click()
        page.locator(".query-row", has_text="q03").click()
        page.wait_for_function("() => location.hash === '#/query/q03'")
        expect(page.locator(".query-row").first).to_be_hidden()
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()


def test_shortcuts_can_be_switched_off(page: Page) -> None:
    page.get_by_role("button", name="Help").click()
    page.get_by_label("Keys act as shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_timeout(200)
    assert "compare" not in page.url


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "light"), (WIDE, "dark")])
def test_no_view_has_accessibility_violations_or_is_wider_than_the_screen(
    browser: Browser, labelled: RunningStudio, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, labelled, size, color_scheme=scheme) as (page, _):
        for view in VIEWS:
            show(page, view)
            if view == "compare":
                page.locator("button.link").first.click()
                page.locator(".deciding-list").wait_for()
            found = axe.Axe().run(page).response
            assert len(found["passes"]) > 20, view  # it has looked at something
            assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == [], view
            assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0, view


def test_the_help_has_no_accessibility_violations(page: Page) -> None:
    page.keyboard.press("?")
    assert [each["id"] for each in axe.Axe().run(page).response["violations"]] == []


def test_without_the_token_nothing_is_shown(browser: Browser, labelled: RunningStudio) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(labelled.url)
    assert answer is not None
    assert answer.status == 403
    assert "q01" not in page.content()
    context.close()


def test_a_watch_hears_what_goes_wrong(browser: Browser, labelled: RunningStudio) -> None:
    """The other tests rely on it."""
    watch = Watch(labelled.url)
    page = browser.new_page()
    page.on("console", watch.hear)
    page.on("request", watch.see)
    page.goto("data:text/html,<img src='http://127.0.0.1:9/x.png'><script>console.error('heard')</script>")
    assert any("heard" in text for text in watch.errors)
    assert watch.foreign == ["http://127.0.0.1:9/x.png"]
    page.close()


def test_the_static_files_name_no_other_host() -> None:
    static = Path(__file__).parents[2] / "src/juryrank/studio/static"
    files = [
        path for path in static.rglob("*") if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts
    ]
    assert len(files) > 10
    for path in files:
        text = path.read_text()
        assert not re.search(r"https?://|innerHTML|dangerouslySet|document\.write|\beval\(", text), path
