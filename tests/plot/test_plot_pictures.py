from __future__ import annotations

from datetime import UTC, datetime

import matplotlib
import pytest

matplotlib.use("agg")

from matplotlib import pyplot

import hopgate
from hopgate import plot
from hopgate.errors import HopgateError
from hopgate.eval.data.queries import Query
from hopgate.eval.gate.evidence import Arm, Evidence
from hopgate.eval.gate.judge import judge
from hopgate.graph.inspect.edges import Edge
from hopgate.kb import KnowledgeBase
from hopgate.plot.pictures import COLOURS, GREY, colours
from hopgate.recall.fuse import parse


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
        hopgate.Memory("m1", "Gitea runs on birch."),
        hopgate.Memory("m2", "The host birch stands in the Cellar."),
        hopgate.Memory("m3", "Gitea is looked after by Ada Lovelace."),
        hopgate.Memory("s1", "Gitea hides the word Xylophon.", is_sensitive=True),
    )
    kb.embed()
    kb.build()
    return kb


def test_a_map_draws_every_concept_and_names_the_first(small: KnowledgeBase) -> None:
    found = plot.read_concepts(small)
    assert "Gitea" in found.names and "Xylophon" not in found.names
    points = plot.project(found.vectors, "pca")
    ax = plot.concept_map(points, found.names, groups=found.kinds, sizes=found.memories, label=2)
    assert len(ax.collections[0].get_offsets()) == len(found.names)
    assert [text.get_text() for text in ax.texts] == list(found.names[:2])
    html = plot.hover_map(points, ["<b>", *found.names[1:]])._repr_html_()
    assert html.count("<circle") == len(found.names) and "<b>" not in html


def test_a_walk_shows_its_seed_and_no_isolated_dot(small: KnowledgeBase) -> None:
    walk = small.graph.walk("Where does Gitea run?")
    assert walk.nodes["Gitea"].is_seed and not walk.nodes["Gitea"].is_memory
    assert walk.nodes["m1"].is_memory
    joined = {name for line in walk.lines for name in line}
    assert joined == set(walk.nodes) and "s1" not in joined
    assert plot.walk_picture(walk).get_title(loc="left") == "Where does Gitea run?"
    plot.by_degree(walk)


def test_an_empty_graph_is_refused_in_words(kb: KnowledgeBase) -> None:
    with pytest.raises(HopgateError, match="hopgate build"):
        plot.read_concepts(kb)
    with pytest.raises(HopgateError, match="nothing in the graph"):
        kb.graph.walk("anything")


def test_a_timeline_has_a_bar_for_each_edge_and_holds_the_day_asked_for() -> None:
    edges = [edge("Gitea", "runs on", "alder", 6), edge("Gitea", "runs on", "birch", 3, 6)]
    ax = plot.timeline(edges, as_of=datetime(2023, 6, 1))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["runs on birch", "runs on alder"]
    assert len(ax.patches) == 2
    with pytest.raises(HopgateError, match="no edge"):
        plot.timeline([])


def test_a_neighbourhood_names_concepts_and_relations() -> None:
    ax = plot.neighbourhood([edge("Gitea", "runs on", "birch"), edge("birch", "stands in", "cellar")], "birch")
    assert {"Gitea", "birch", "cellar", "runs on", "stands in"} <= {text.get_text() for text in ax.texts}


def test_a_gate_is_drawn_from_its_evidence() -> None:
    names = [f"q{number}" for number in range(12)]
    legs = {
        "dense": {name: [("x", 0.9), ("y", 0.8)] for name in names},
        "graph": {name: [("gold", 0.5)] if number % 2 else [] for number, name in enumerate(names)},
    }
    arms = {"with": ("RRF(k=60, lexical=0, dense=1, graph=2)", {}), "without": ("RRF(k=60, dense=1, graph=0)", {})}
    for fuser, run in arms.values():
        for name in names:
            fused = parse(fuser).fuse({leg: lists[name] for leg, lists in legs.items()})
            run[name] = [(hit.id, hit.score) for hit in fused]
    made = Evidence(
        queries={name: Query(name, name) for name in names},
        qrels={name: {"gold": 1} for name in names},
        arms={name: Arm(name, run, fuser, legs) for name, (fuser, run) in arms.items()},
        challenger="with",
        base="without",
        sweep={0.0: 0.0, 2.0: 0.5},
    )
    judgement = judge(made)
    assert [label.get_text() for label in plot.slices(judgement).get_yticklabels()] == ["all (12)"]
    assert len(plot.gains(judgement).patches) == len(judgement.evidence.qrels)
    assert "0.871" in plot.weight_sweep(judgement.evidence).get_title(loc="left")


def test_functions_draw_on_the_axes_they_are_given() -> None:
    _, mine = pyplot.subplots()
    assert plot.timeline([edge("a", "r", "b", 1, 2)], ax=mine) is mine


def test_groups_beyond_the_palette_are_grey() -> None:
    found = colours([str(number) for number in range(12)])
    assert list(found.values())[: len(COLOURS)] == list(COLOURS) and list(found.values())[-1] == GREY
