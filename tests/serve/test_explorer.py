"""The explorer in a real browser: ask, expand, filter, slide time; nothing for axe to find.

Chromium is Debian's own. Under CI a missing browser is a failure, not a skip.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import browser as explorer
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif("CI" not in os.environ and explorer.found() is None, reason="no chromium: apt-get install it"),
]
PAGES = ("recall", "graph", "time")
QUESTION = "Which room do I have to visit to touch the machine behind Immich?"
CANARY = "globladax"
# In milliseconds, as the browser counts; nothing waits that long when all is well.
PATIENCE = 300_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("explorer") / "store"
    explorer.fill(place)
    return place


@pytest.fixture(scope="module")
def address(store):
    with explorer.served(store) as found:
        yield found


@pytest.fixture(scope="module")
def chromium():
    with explorer.chromium() as started:
        yield started


@pytest.fixture
def page(chromium, address):
    """A page that is let in; whatever the console, the network or the policy complains of fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    own = urlsplit(address).netloc
    opened.on("request", lambda one: complaints.append(one.url) if urlsplit(one.url).netloc not in (own, "") else None)
    opened.goto(address)
    yield opened
    context.close()
    assert not [said for said in complaints if "GPU stall due to ReadPixels" not in said]


def visit(page: Page, address: str, place: str) -> None:
    parts = urlsplit(address)
    page.goto(f"{parts.scheme}://{parts.netloc}{place}")
    expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")


def drawn(page: Page) -> int:
    """How many nodes the picture has, once it has some."""
    expect(page.locator(".stage")).to_have_attribute("data-nodes", re.compile(r"^[1-9]\d*$"))
    expect(page.locator(".stage")).not_to_have_attribute("aria-busy", "true")
    return int(page.locator(".stage").get_attribute("data-nodes") or 0)


def test_the_start_says_what_is_there_and_its_questions_find_something(page, address):
    visit(page, address, "/recall")
    expect(page.locator(".figures")).to_contain_text("memories")
    expect(page.locator(".chips a").first).to_have_attribute("href", re.compile("^/graph"))
    questions = page.locator(".questions a")
    expect(questions).to_have_count(3)
    for number in range(3):
        questions.nth(number).click()
        expect(page.locator(".hit").first).to_be_visible()
        page.go_back()


def test_one_list_has_the_graph_as_a_switch_and_lights_the_words_that_matched(page, address):
    visit(page, address, "/recall")
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("textbox", name="Question").press("Enter")
    hits = page.locator(".hit")
    expect(hits).to_have_count(10)
    expect(hits.first.locator(".legs li")).to_have_count(4)
    expect(hits.first.locator("mark").first).to_have_text("Immich")
    expect(page.locator(".neighbour mark", has_text="Immich").first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Path: Immich")).first).to_be_visible()
    expect(page.locator(".hit.outdated .tag", has_text="over").first).to_be_visible()
    expect(hits.locator(".tag", has_text="without the graph").first).to_be_visible()
    page.get_by_label("With the graph").uncheck()
    expect(hits.locator(".tag", has_text="with the graph").first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Path:"))).to_have_count(0)
    assert "graph_off=1" in page.url


def test_tabs_show_what_an_assistant_gets_and_why_a_memory_is_not_here_and_can_be_kept(page, address):
    visit(page, address, f"/recall?q={QUESTION}")
    page.get_by_role("tab", name="For an assistant").click()
    expect(page.locator(".context")).to_contain_text("[1] 20")
    page.get_by_label("At most").select_option("500")
    expect(page.locator(".tab-panel p").first).to_contain_text(re.compile(r"^[34]\d\d tokens"))
    page.get_by_role("tab", name="Why not here?").click()
    page.get_by_label("Memory", exact=True).fill("m0003")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".explanation")).to_contain_text("It is not here")
    expect(page.locator(".explanation tbody tr")).to_have_count(4)
    kept = page.url
    page.get_by_role("link", name="Time").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Time")
    page.go_back()
    expect(page.locator(".explanation")).to_contain_text("It is not here")
    assert page.url == kept


def test_a_small_graph_opens_on_what_edges_join(page, address):
    visit(page, address, "/graph")
    joined, status = drawn(page), page.locator(".status")
    expect(status).to_contain_text(f"{joined} concepts")
    expect(status).to_contain_text("more without an edge")
    expect(page.locator(".relations")).not_to_contain_text("mentioned together")
    page.get_by_role("button", name="All concepts").click()
    expect(page.locator(".relations")).to_contain_text("mentioned together")
    assert drawn(page) > joined


def test_a_concept_is_found_expanded_and_its_edges_filtered(page, address):
    visit(page, address, "/graph")
    drawn(page)
    search = page.get_by_role("combobox", name="Find a concept")
    search.fill("immich")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    search.press("Enter")
    expect(page.locator(".detail h2")).to_have_text("Immich")
    assert "concept=" in page.url
    before = drawn(page)
    page.locator(".detail summary").first.click()
    expect(page.locator(".detail .text").first).to_be_visible()
    # A neighbour that is not all of it yet: one click and its own neighbours join.
    names = page.locator(".names button")
    expect(names.nth(1)).to_be_visible()
    for name in names.all_inner_texts():  # read first: the list is in another order as soon as neighbours join
        names.get_by_text(name, exact=True).first.click()
        expect(page.locator(".detail h2")).to_have_text(name)
        if drawn(page) > before:
            break
    expect(page.locator(".stage")).not_to_have_attribute("data-nodes", str(before))
    edges = page.locator(".stage").get_attribute("data-edges")
    page.locator(".relations input").first.uncheck()
    expect(page.locator(".stage")).not_to_have_attribute("data-edges", edges or "")
    assert "without=" in page.url
    page.get_by_label("Colour by").select_option("time")
    expect(page.locator(".legend li").first).to_contain_text("20")


def test_time_is_slid_and_what_changed_is_shown(page, address):
    visit(page, address, "/time")
    count = page.locator("#then-count")
    expect(count).to_contain_text("of any time")
    slider = page.get_by_role("slider", name=re.compile("Valid time"))
    slider.focus()
    slider.press("PageDown")
    expect(count).to_contain_text("true on 20")
    assert "as_of=20" in page.url
    slider.press("Home")
    expect(count).to_contain_text(re.compile(r"^\d+ edges? true on 20"))
    page.get_by_role("button", name="Show what changed").click()
    expect(page.locator("#changes .began").first).to_be_visible()
    page.get_by_role("combobox", name="A concept's history").fill("Lukas Meier")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    page.get_by_role("combobox", name="A concept's history").press("Enter")
    expect(page.locator("#history svg.history rect").first).to_be_visible()
    expect(page.locator("#conflicts .card").first).to_be_visible()


def test_no_sensitive_text_reaches_a_page(page, address):
    visit(page, address, f"/recall?q={CANARY}")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".hit .tag.warn").first).to_be_visible()
    assert CANARY not in page.locator("#results").inner_text()


def test_a_phone_needs_no_sideways_scrolling(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    for name in (*PAGES, f"recall?q={QUESTION}", f"recall?q={QUESTION}&tab=context"):
        visit(page, address, f"/{name}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} is {wide} pixels too wide"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, address, theme):
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=theme)
    # What is not a colour is the same in both themes.
    options = {"runOnly": ["color-contrast"]} if theme == "dark" else {}
    found = {}
    places = [
        "/recall",
        f"/recall?q={QUESTION}&k=3",
        f"/recall?q={QUESTION}&tab=context",
        f"/recall?q={QUESTION}&why=m0003",
        "/time?since=2024-06-01&until=2024-07-01",
    ]
    for place in places:
        visit(page, address, place)
        for one in Axe().run(page, options=options).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                found[f"{place} {one['id']}"] = [node["html"][:200] for node in one["nodes"]][:3]
    assert not found, found
