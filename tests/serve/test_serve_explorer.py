"""What only the explorer's pages ask for, by HTTP: parts of the graph, the two times, and what is mended."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from graph_content import Scripted
from serving import serving

from hopgate.extract.extraction import Fact, Mention, found
from hopgate.memory import Memory

DAY, LATER = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture
def moved(kb):
    kb.add(
        Memory("m1", "Immich runs on the old tower.", created_at=DAY, scope="home"),
        Memory("m2", "Immich runs on the new server.", created_at=LATER, scope="home"),
        Memory("m3", "Immich runs on the new server.", created_at=LATER, scope="home"),
        Memory("m4", "The cat likes the basement.", created_at=LATER, scope="work"),
    )
    said = {
        "m1": found([], [Fact("Immich", "runs on", "old tower", valid_from="2024-01-01")]),
        "m2": found([], [Fact("Immich", "runs on", "new server", valid_from="2024-06-01")]),
        "m3": found([], [Fact("Immich", "runs on", "new server", valid_from="2024-06-01")]),
        "m4": found([Mention("cat"), Mention("basement")], []),
    }
    kb.embed()
    kb.build(Scripted(said), single_valued=["runs on"])
    return kb


@pytest.fixture
def running(moved):
    with serving(moved) as started:
        yield started


def test_what_is_not_there_is_not_found(running):
    for path in ("graph/view?concept=1000000000", "graph/view?cluster=1000000000", "timeline/concepts/99999"):
        assert running.get(path).status_code == 404
    (one,) = running.get("timeline/conflicts").json()
    assert one["settled"] and one["older"]["evidence"] == ["m1"]


def test_what_is_mended_is_previewed_logged_and_undone(running):
    pair = {"kept": "cat", "merged": "basement"}
    assert running.post("mend/merges", {**pair, "dry_run": True}).json()["memories"] == 1
    entry = running.post("mend/merges", pair).json()
    assert running.get("mend/log").json()[0] == entry
    assert running.post(f"mend/log/{entry['id']}/undo").json()["undone_at"]
    assert running.post(f"mend/log/{entry['id']}/undo").status_code == 422
    assert running.post("mend/log/999/undo").status_code == 404
    assert running.get("mend/merges").json() == []
    assert running.post("mend/merges/refuse", {"name": "cat"}).status_code == 422
    found = running.get("mend/curation").json()
    contradicted, one = found["proposals"]
    assert found["complete"] and not running.get("mend/curation", params={"limit": 1}).json()["complete"]
    assert (contradicted["action"], contradicted["older"]) == ("DELETE", "m1")
    assert (one["action"], one["memory"]) == ("NOOP", "m3")
    assert running.post("mend/curation", one).json()["memory_ids"] == ["m3"]
    assert running.post("mend/removal/preview", {"ids": ["m4"]}).json()["concepts"] == ["basement", "cat"]


def test_a_mark_is_taken_back_only_where_sensitive_texts_are_shown(running, moved):
    running.post("memories/m4/sensitive", {"sensitive": True})
    (entry,) = running.get("mend/log?limit=1").json()
    refused = running.post(f"mend/log/{entry['id']}/undo")
    assert refused.status_code == 403 and moved.get("m4").is_sensitive
    with serving(moved, show_sensitive=True) as open_one:
        assert open_one.post(f"mend/log/{entry['id']}/undo").status_code == 200
    assert not moved.get("m4").is_sensitive
