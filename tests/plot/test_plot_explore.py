"""The graph in a notebook: whole in itself, drawn by a real browser without any request, and safe for odd names."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from browser import FLAGS, found
from playwright.sync_api import sync_playwright

import hopgate
from hopgate import plot
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase

CHROMIUM = found()


@pytest.fixture
def small(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        hopgate.Memory("m1", "Gitea runs on birch.", tags=("homelab",)),
        hopgate.Memory("m2", "The host birch stands in the Cellar."),
        hopgate.Memory("m3", "Gitea is looked after by Ada Lovelace.", tags=("</script><img src=x onerror=alert(1)>",)),
        hopgate.Memory("s1", "Gitea hides the word Xylophon.", is_sensitive=True),
    )
    kb.build()
    return kb


def page_of(shown: str) -> str:
    matched = re.search(r'srcdoc="([^"]*)"', shown)
    assert matched
    return html.unescape(matched[1])


def test_a_browser_draws_it_with_no_request_and_no_error(small: KnowledgeBase, tmp_path: Path) -> None:
    assert CHROMIUM, "apt-get install chromium"
    shown = plot.explore(small, height=400)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8><title>n</title>{shown}", "utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page()
        asked, errors = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / "notebook.html").as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("body[data-drawn]").wait_for(timeout=120_000)
        assert int(frame.locator("body").get_attribute("data-drawn") or 0) == len(small.graph.concepts())
        assert frame.locator("canvas").count() > 1
        frame.locator("#find").fill("Gitea")
        assert "Gitea runs on birch" in frame.locator("#about").inner_text()
        frame.locator("#by").select_option("kind")
        frame.locator("#shared").uncheck()
        assert not errors, errors
        assert [one for one in asked if one.startswith("http")] == []
        browser.close()


def test_nothing_sensitive_is_in_it_and_a_name_ends_no_script(small: KnowledgeBase) -> None:
    page = page_of(plot.explore(small)._repr_html_())
    assert "Xylophon" not in page
    assert page.count("</script>") == 2 and "<img src=x" not in page
    assert "default-src 'none'" in page


def test_a_store_without_typed_edges_is_shown_by_the_memories_that_concepts_share(kb: KnowledgeBase) -> None:
    kb.add(hopgate.Memory("m1", "x", tags=("alpha", "beta")), hopgate.Memory("m2", "y", tags=("alpha", "gamma")))
    kb.build()
    assert not [edge for edge in kb.graph.edges() if edge.evidence]
    page = page_of(plot.explore(kb)._repr_html_())
    assert page.count('"relation": null') == 2


@pytest.mark.parametrize("limit", [0, 5000])
def test_too_many_and_none_are_refused(kb: KnowledgeBase, limit: int) -> None:
    with pytest.raises(HopgateError, match="limit"):
        plot.explore(kb, limit=limit)
    with pytest.raises(HopgateError, match="no concepts"):
        plot.explore(kb)
