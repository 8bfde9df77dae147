"""Pictures of a store, a gate and time; and the graph to look around in, safe for odd names."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")

from browser import FLAGS, found
from eval_world import evidence, gains
from matplotlib import pyplot

import hopgate
from hopgate import plot
from hopgate.errors import HopgateError
from hopgate.eval.verdict import judge
from hopgate.kb import KnowledgeBase
from hopgate.plot.pictures import COLOURS, GREY, colours
from hopgate.store.graph.edge_rows import Edge

CHROMIUM = found()


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def edge(source: str, relation: str, target: str, since: int | None = None, until: int | None = None) -> Edge:
    days = [datetime(2024, month, 1, tzinfo=UTC) if month else None for month in (since, until)]
    return Edge(source, relation, target, 1.0, days[0], days[1], datetime(2024, 1, 1, tzinfo=UTC), None, ("m1",))


@pytest.fixture
def small(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        hopgate.Memory("m1", "Gitea runs on birch.", tags=("homelab",)),
        hopgate.Memory("m2", "The host birch stands in the Cellar."),
        hopgate.Memory("m3", "Gitea is looked after by Ada Lovelace.", tags=("</script><img src=x onerror=alert(1)>",)),
        hopgate.Memory("s1", "Gitea hides the word Xylophon.", is_sensitive=True),
    )
    kb.embed()
    kb.build()
    return kb


def test_a_map_of_a_store(small: KnowledgeBase) -> None:
    concepts = small.graph.concepts()
    names = [concept.name for concept in concepts]
    assert "Gitea" in names and "Xylophon" not in names
    ax = plot.concept_map(plot.project(small.graph.concept_vectors(concepts), "pca"), concepts, label=2)
    assert len(ax.collections[0].get_offsets()) == len(names)
    assert [text.get_text() for text in ax.texts] == names[:2]


def test_an_empty_graph_and_odd_limits_are_refused_in_words(kb: KnowledgeBase) -> None:
    for refused, reason in (
        (lambda: plot.project(np.eye(2)), "hopgate build"),
        (lambda: plot.explore(kb), "no concepts"),
        (lambda: plot.explore(kb, limit=0), "limit"),
        (lambda: plot.explore(kb, limit=5000), "limit"),
        (lambda: plot.timeline([]), "no edge"),
    ):
        with pytest.raises(HopgateError, match=reason):
            refused()


def test_edges_are_drawn_over_time_and_around_a_concept_on_the_axes_given() -> None:
    edges = [edge("Gitea", "runs on", "alder", 6), edge("Gitea", "runs on", "birch", 3, 6)]
    _, mine = pyplot.subplots()
    ax = plot.timeline(edges, as_of=datetime(2023, 6, 1), ax=mine)
    assert ax is mine and len(ax.patches) == 2
    assert [label.get_text() for label in ax.get_yticklabels()] == ["runs on birch", "runs on alder"]
    ax = plot.neighbourhood([edge("Gitea", "runs on", "birch"), edge("birch", "stands in", "cellar")], "birch")
    assert {"Gitea", "birch", "cellar", "runs on", "stands in"} <= {text.get_text() for text in ax.texts}
    shown = list(colours([str(number) for number in range(12)]).values())
    assert shown[: len(COLOURS)] == list(COLOURS) and shown[-1] == GREY


def test_a_gate_is_drawn_from_its_evidence() -> None:
    judgement = judge(evidence(*gains(60, 1.5)))
    assert [label.get_text() for label in plot.ladder(judgement).get_yticklabels()] == ["concepts: OPEN"]
    assert len(plot.gains(judgement).patches) == 60


def page_of(shown: str) -> str:
    matched = re.search(r'srcdoc="([^"]*)"', shown)
    assert matched
    return html.unescape(matched[1])


@pytest.mark.full
def test_a_browser_draws_the_graph_with_no_request_and_no_error(small: KnowledgeBase, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "apt-get install chromium"
    shown = plot.explore(small, height=400)._repr_html_()
    text = page_of(shown)
    assert "Xylophon" not in text and "default-src 'none'" in text
    assert text.count("</script>") == 2 and "<img src=x" not in text
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


def test_a_store_without_typed_edges_is_shown_by_the_memories_that_concepts_share(kb: KnowledgeBase) -> None:
    kb.add(hopgate.Memory("m1", "x", tags=("alpha", "beta")), hopgate.Memory("m2", "y", tags=("alpha", "gamma")))
    kb.build()
    assert not [edge for edge in kb.graph.edges() if edge.evidence]
    assert page_of(plot.explore(kb)._repr_html_()).count('"relation": null') == 2
