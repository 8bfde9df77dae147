"""Pictures of a store, a gate and time."""

from datetime import UTC, datetime

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")

import pictures
from eval_world import evidence, gains
from matplotlib import pyplot
from pictures import COLOURS, GREY, colours

import hopgate
from hopgate.errors import HopgateError
from hopgate.eval.verdict import judge
from hopgate.kb import KnowledgeBase
from hopgate.store.graph.edge_rows import Edge


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


def test_a_map_of_a_store(small):
    concepts = small.graph.concepts()
    names = [concept.name for concept in concepts]
    assert "Gitea" in names and "Xylophon" not in names
    ax = pictures.concept_map(pictures.project(small.graph.concept_vectors(concepts), "pca"), concepts, label=2)
    assert len(ax.collections[0].get_offsets()) == len(names)
    assert [text.get_text() for text in ax.texts] == names[:2]
    with pytest.raises(HopgateError, match="hopgate build"):
        pictures.project(np.eye(2))


def test_edges_are_drawn_over_time_and_around_a_concept_on_the_axes_given():
    edges = [edge("Gitea", "runs on", "alder", 6), edge("Gitea", "runs on", "birch", 3, 6)]
    _, mine = pyplot.subplots()
    ax = pictures.timeline(edges, as_of=datetime(2023, 6, 1), ax=mine)
    assert ax is mine and len(ax.patches) == 2
    assert [label.get_text() for label in ax.get_yticklabels()] == ["runs on birch", "runs on alder"]
    ax = pictures.neighbourhood([edge("Gitea", "runs on", "birch"), edge("birch", "stands in", "cellar")], "birch")
    assert {"Gitea", "birch", "cellar", "runs on", "stands in"} <= {text.get_text() for text in ax.texts}
    shown = list(colours([str(number) for number in range(12)]).values())
    assert shown[: len(COLOURS)] == list(COLOURS) and shown[-1] == GREY


def test_a_gate_is_drawn_from_its_evidence():
    judgement = judge(evidence(*gains(60, 1.5)))
    assert [label.get_text() for label in pictures.ladder(judgement).get_yticklabels()] == ["concepts: OPEN"]
    assert len(pictures.gains(judgement).patches) == 60
