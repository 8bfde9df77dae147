"""Settings of the store: below the file, read by the next query, written by hand or by a gate, with their source."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from hopgate import HopgateError, Memory
from hopgate.graph.walk.config import Walk
from hopgate.kb import KnowledgeBase
from hopgate.recall.fuse import RRF, MinMax
from hopgate.recall.legs.graph import GraphLeg
from hopgate.recall.settings import NAMES
from hopgate.recall.store_settings import MEANINGS


def test_the_store_is_between_the_defaults_and_the_file(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.store_settings.set({"k": 3, "graph": 2, "depth": 20})
    assert (kb.settings().k, kb.settings().depth, kb.settings(k=7).k) == (3, 20, 7)
    path = tmp_path / "mine.toml"
    path.write_text("k = 4")
    monkeypatch.setenv("HOPGATE_SETTINGS", str(path))
    monkeypatch.setenv("HOPGATE_PRIOR", "0.9")
    found = kb.store_settings.resolve()
    assert (found.settings.k, found.settings.fuser.graph, found.settings.prior) == (4, 2, 0.9)
    assert {name: found.sources[name] for name in ("k", "graph", "depth", "prior", "lexical")} == {
        "k": str(path), "graph": "hopgate settings", "depth": "hopgate settings", "prior": "HOPGATE_PRIOR",
        "lexical": "default",
    }  # fmt: skip


def _walked(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, *meanwhile: Walk) -> list[Walk]:
    """The walks of a query, and of others that are asked between what it looks up and its own walk."""
    walks, others, look_up = [], list(meanwhile), GraphLeg.look_up

    def looked_up(leg: GraphLeg, *given: Any, **options: Any) -> Any:
        found = look_up(leg, *given, **options)
        if others:
            kb.recall("Immich", walk=others.pop())
        walks.append(leg.walk)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(GraphLeg, "look_up", looked_up)
        kb.recall("Immich")
    return walks


def test_queries_at_once_walk_each_as_they_were_asked_to(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.add(Memory("a", "Ada runs Immich."))
    kb.build()
    other = Walk(damping=0.25)
    assert _walked(kb, monkeypatch, other) == [other, Walk()]
    assert kb.graph_leg.walk == Walk()


def test_a_gate_writes_what_it_chose_and_the_graph_may_leave_it_behind(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add(Memory("a", "Ada runs Immich."))
    kb.build()
    kb.store_settings.set({"graph": 1, "k": 3})
    walk = Walk(damping=0.5)
    kb.store_settings.apply_gate("1f3c", fuser="RRF(k=10, graph=2)", depth=30, walk=asdict(walk))
    found = kb.store_settings.resolve()
    assert found.settings.fuser == RRF(k=10, graph=2) and found.settings.depth == 30 and found.settings.k == 3
    assert {found.sources[name] for name in ("fuser", "graph", "depth", "walk")} == {"gate 1f3c"}
    assert _walked(kb, monkeypatch) == [walk]
    assert kb.store_settings.stale_gate() is None
    kb.add(Memory("b", "Bea runs Grafana."))
    kb.build()
    assert kb.store_settings.stale_gate() == "gate 1f3c"
    kb.store_settings.unset(["walk", "fuser"])
    assert _walked(kb, monkeypatch) == [Walk()] and isinstance(kb.settings().fuser, MinMax)


def test_what_is_no_setting_is_refused(kb: KnowledgeBase) -> None:
    for wrong in (
        {"colour": 1},
        {"k": 0},
        {"fuser": "XYZ()"},
        {"walk": {"speed": 1}},
        {"walk": "Walk()"},
        {"walk": {"seeding": {"dates": 1, "speed": 1}}},
    ):
        with pytest.raises(HopgateError):
            kb.store_settings.set(wrong)
    with pytest.raises(HopgateError, match="no setting 'colour'"):
        kb.store_settings.unset(["colour"])
    with pytest.raises(HopgateError, match="does not set 'k'"):
        kb.store_settings.unset(["k"])


def test_every_setting_has_its_line() -> None:
    assert set(MEANINGS) == set(NAMES)
