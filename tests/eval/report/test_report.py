"""The report: self-contained, complete, escaped, and silent about sensitive memories."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from eval_world import evidence, prototype

from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import read_qrels, read_run
from hopgate.eval.gate.judge import judge
from hopgate.eval.measures import mean_score
from hopgate.eval.report import Notes, page, to_html, to_markdown, write_report, write_trec
from hopgate.eval.report.scale import AxisScale, fitted
from hopgate.eval.report.text_marks import filled, marks
from hopgate.memory import Cleared

VOID = {"meta", "line", "circle", "rect", "br", "i"}


class Reader(HTMLParser):
    """Collects tags, ids and links, and checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], set(), set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.ids |= {given["id"]} if "id" in given else set()
        self.links |= {given["href"]} if "href" in given else set()
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def made():
    base = evidence(30, helps=0.6)
    queries = {name: Query(name, f"<b>Question</b> & {name}?", query.metadata) for name, query in base.queries.items()}
    return replace(base, queries=queries, sweep={0.0: 0.4, 0.5: 0.5, 1.0: 0.55, 1.5: 0.7})


@pytest.fixture(scope="module")
def shown(made):
    gold = next(iter(made.qrels["q017"]))
    texts = {f"m{i:04d}": Cleared(f"Text of {i} <script>") for i in range(400)}
    paths = {query: dict.fromkeys(golds, "Anna → owns → nas-2") for query, golds in made.qrels.items()}
    return page(judge(made), Notes("home", {"embedder": "bge"}, texts, frozenset({gold}), paths))


def test_the_page_is_well_formed_and_reaches_for_nothing_outside(shown):
    html = to_html(shown)
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    assert {link[1:] for link in reader.links} <= reader.ids
    assert not any(tag in ("script", "link", "img", "iframe") for tag, _ in reader.tags)
    assert not any(name in given for _, given in reader.tags for name in ("src", "onclick", "onload"))
    assert "http://" not in html
    assert "https://" not in html
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_the_page_tells_everything(shown):
    html = to_html(shown)
    judged = shown.judgement
    assert judged.decision.verdict.value in html
    for check in judged.checks:
        assert f"<b>{check.name}</b>" in html
    for name in judged.evidence.arms:
        assert name in html
    assert "reachable above" in html
    assert "without the graph" in html
    assert "What to do now" in html
    assert "place among" in html
    assert "Anna → owns → nas-2" in html
    assert "graph alone" in html
    assert "prefers-color-scheme: dark" in html
    assert "max-width: 680px" in html
    assert len(shown.details) == judged.comparisons[0].wins + judged.comparisons[0].losses


def test_what_people_wrote_is_escaped(shown):
    html = to_html(shown)
    assert "<b>Question" not in html
    assert "&lt;b&gt;Question" in html
    assert "<script>" not in html


def test_a_sensitive_memory_is_shown_as_that_and_no_more(shown):
    (hidden,) = shown.notes.sensitive
    html, text = to_html(shown), to_markdown(shown)
    assert hidden not in html
    assert hidden not in text
    assert f"Text of {int(hidden[1:])} " not in html
    assert "a sensitive memory" in html


def test_markdown_has_the_same_figures(shown):
    text = to_markdown(shown)
    judged = shown.judgement
    assert text.startswith(f"# {judged.decision.verdict.value}: the graph leg on home")
    for check in judged.checks:
        assert f"| {check.name} | {check.status.value} |" in text
    assert f"{judged.comparisons[0].difference:+.3f}" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(row.count(" | ") >= 1 for row in rows)


def test_three_files_are_written(tmp_path):
    for name, source in (("bad", prototype(12)), ("few", evidence(3)), ("none", evidence(1, weight=0))):
        judged = judge(source)
        path = write_report(tmp_path / name, judged)
        assert path.name == "report.html"
        told = json.loads((tmp_path / name / "report.json").read_text())
        assert told["verdict"] == judged.decision.verdict.value
        reader = Reader()
        reader.feed(path.read_text())
        assert reader.open == []


def test_runs_and_qrels_for_other_tools_come_back_as_they_were(tmp_path, made):
    renamed = replace(made.arms["dense"], name="dense, k=60 (no prior)")
    made = replace(made, arms={**made.arms, renamed.name: renamed})
    write_trec(tmp_path / "runs", made)
    assert read_qrels(tmp_path / "runs/qrels.txt") == made.qrels
    files = {path.stem: read_run(path) for path in (tmp_path / "runs").glob("*.run")}
    assert files.keys() == {*(made.arms.keys() - {renamed.name}), "dense-k=60-no-prior"}
    for name in ("lexical+dense+graph", "lexical"):
        assert files[name] == {
            query: sorted(ranking, key=lambda p: (-p[1], p[0])) for query, ranking in made.arms[name].run.items()
        }
    assert mean_score(made.primary, files["dense"], made.qrels) == mean_score(
        made.primary, made.arms["dense"].run, made.qrels
    )


def test_scales_hold_what_they_are_given():
    scale = fitted([-0.013, 0.27])
    assert scale.low <= -0.013
    assert scale.high >= 0.27
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks())
    assert fitted([0.5, 0.5]).low < 0.5 < fitted([0.5, 0.5]).high
    assert fitted([]).ticks()
    assert AxisScale(0, 1).at(7) == 100


def test_a_report_that_says_more_is_not_overwritten(tmp_path):
    judged = judge(evidence(6))
    texts = {f"m{i:04d}": Cleared(f"Text of {i}") for i in range(400)}
    first = write_report(tmp_path, judged, Notes("home", {}, texts)).read_text()
    again = write_report(tmp_path, judged, Notes("home"), keep=True)
    assert again.name == "recomputed.html"
    assert (tmp_path / "report.html").read_text() == first
    assert "Text of" in first
    assert "Text of" not in again.read_text()


def test_marks_in_the_place_of_texts_are_filled_with_what_may_be_shown_now(tmp_path):
    """A report that hopgate keeps outlives what it shows: a memory may turn sensitive, or go."""
    texts = {f"m{i:04d}": Cleared(f"Text of {i} <script>") for i in range(400)}
    path = write_report(tmp_path, judge(evidence(6)), Notes("home", {}, marks(texts)))
    kept = path.read_text()
    assert "Text of" not in kept + (tmp_path / "report.md").read_text()
    whole = filled(kept, texts.get)
    assert "Text of" in whole and "<script>" not in whole and "\ue000" not in whole
    one = next(name for name, text in texts.items() if text.replace("<script>", "&lt;script&gt;") in whole)
    assert texts.pop(one).replace("<script>", "&lt;script&gt;") not in filled(kept, texts.get)


def test_paths_stand_only_where_an_arm_has_a_graph(shown):
    assert all(hit.path == "" for detail in shown.details for hit in detail.base)
    assert any(hit.path for detail in shown.details for hit in detail.challenger)


def test_the_sweep_marks_a_point_that_is_on_its_curve(shown):
    html = to_html(shown)
    at = html.index('id="sweep"')
    section = html[at : html.index("</section>", at)]
    assert section.count('class="point challenger"') == 1
    assert "weight 1.5: recall@10 0.700" in section
