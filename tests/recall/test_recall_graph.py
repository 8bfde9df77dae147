"""The graph leg in recall: memories that no other leg finds, paths in words, and the filters that every leg honours."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hopgate import Memory
from hopgate.extract.files import Replay
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import Filters, Query
from hopgate.store import memories
from hopgate.store.graph import graph_vectors

MEMORIES = (
    Memory("owner", "Quillon looks after Immich.", scope="home", created_at=datetime(2024, 1, 1, tzinfo=UTC)),
    Memory("host", "Immich was put on whimbrel.", scope="home", created_at=datetime(2024, 1, 2, tzinfo=UTC)),
    Memory("moved", "Since March on hazel: Immich.", scope="home", created_at=datetime(2024, 3, 2, tzinfo=UTC)),
    Memory("rack", "whimbrel stands in the attic.", scope="home", created_at=datetime(2024, 1, 3, tzinfo=UTC)),
    Memory("other", "Tax papers are in the blue folder.", scope="work", created_at=datetime(2024, 1, 4, tzinfo=UTC)),
    Memory("secret", "Quillon's door code is kestrel-nine.", is_sensitive=True, scope="home"),
)
TRIPLES = (
    {"doc_id": "owner", "subject": "Quillon", "relation": "looks after", "object": "Immich"},
    {"doc_id": "host", "subject": "Immich", "relation": "runs on", "object": "whimbrel", "valid_from": "2024-01-02"},
    {"doc_id": "moved", "subject": "Immich", "relation": "runs on", "object": "hazel", "valid_from": "2024-03-01"},
    {"doc_id": "rack", "subject": "whimbrel", "relation": "stands in", "object": "attic"},
    {"doc_id": "other", "entity": "tax papers"},
)


@pytest.fixture
def built(kb: KnowledgeBase, tmp_path: Path) -> KnowledgeBase:
    path = tmp_path / "triples.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in TRIPLES))
    kb.add(*MEMORIES)
    kb.build(Replay(str(path)), single_valued={"runs on"})
    return kb


BOTH = ("lexical", "graph")


def _ids(kb: KnowledgeBase, query: str, legs: tuple[str, ...] = ("graph",), **options: Any) -> list[str]:
    return [hit.external_id for hit in kb.recall(query, legs=legs, prior=1.0, **options)]


def test_it_reaches_what_shares_no_word_with_the_query(built: KnowledgeBase) -> None:
    assert "rack" not in {hit.external_id for hit in built.recall("Quillon", legs=("lexical",))}
    assert "rack" in _ids(built, "Quillon") and _ids(built, "zzz") == []
    built.delete([memory.external_id for memory in MEMORIES])
    assert _ids(built, "Quillon") == []


def test_the_path_tells_seed_relation_concept_and_memory(built: KnowledgeBase) -> None:
    hits = built.recall("Quillon", legs=("graph",), explain=True)
    path = next(hit.path for hit in hits if hit.external_id == "rack")
    assert path[0] == "Quillon" and path[-1] == "rack"
    assert any("looks after [owner]" in step for step in path) and any("runs on" in step for step in path)


def test_scope_exclude_and_sensitivity(built: KnowledgeBase) -> None:
    assert _ids(built, "Quillon", scope="work") == []
    assert "rack" not in _ids(built, "Quillon", exclude=["rack"])
    assert "secret" not in _ids(built, "Quillon kestrel-nine")
    built.mark_sensitive(["rack"])
    assert "rack" not in _ids(built, "Quillon")


def test_as_of_and_known_at_walk_the_graph_of_that_time(built: KnowledgeBase) -> None:
    before, after = datetime(2024, 2, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)
    assert "rack" in _ids(built, "Quillon", as_of=before)
    edges = {(edge.source, edge.target) for edge in built.graph.edges("Immich", as_of=after)}
    assert ("Immich", "hazel") in edges and ("Immich", "whimbrel") not in edges
    assert "moved" not in _ids(built, "Immich", known_at=before)
    assert "moved" in _ids(built, "Immich", known_at=after)


def test_an_evaluation_compares_every_fact(built: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    real_read = graph_vectors.near_facts

    def read(connection: Any, view: Any, nearest: graph_vectors.Nearest) -> list[tuple[int, float]]:
        asked.append(nearest.exact)
        return real_read(connection, view, nearest)

    built.embed()
    monkeypatch.setattr(graph_vectors, "near_facts", read)
    built.recall("Quillon")
    built.recall("Quillon", exact=True)
    built.legs("Quillon", exact=True)
    assert asked == [False, True, True]


CHAT = tuple(
    Memory(
        f"{scope}{number}",
        text,
        scope=scope,
        thread="evening",
        created_at=datetime(2024, 5, 1, 20, number, tzinfo=UTC),
    )
    for scope in ("ann", "bea")
    for number, text in enumerate(("Where did you put the ladder?", "Behind the shed.", "Thanks, found it.", "Bye!"))
)


@pytest.fixture
def chat(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(*CHAT)
    kb.build("phrases")
    return kb


def test_a_memory_outside_the_graph_gets_no_score_of_it_and_is_said_to_be_outside(built: KnowledgeBase) -> None:
    built.add(Memory("new", "Quillon looks after the boat.", scope="home"))
    with built.store.transaction() as connection:
        new, owner = memories.ids_of(connection, ["new"])[0], memories.ids_of(connection, ["owner"])[0]
    ranking = built.graph_leg.rank(Query("Quillon", Filters("home")), [(new, 1.0), (owner, 1.0)], 10)
    assert new not in dict(ranking.hits) and new not in ranking.scores and owner in ranking.scores
    assert ranking.blind == {new}


def test_an_answer_is_found_beside_its_question_in_its_scope_and_not_through_a_sensitive_turn(
    chat: KnowledgeBase,
) -> None:
    hits = chat.recall("ladder", legs=BOTH, scope="ann", explain=True)
    assert [hit.external_id for hit in hits] == ["ann0", "ann1", "ann2", "ann3"]
    assert hits[1].path[-3:] == ("ann0", "said just before", "ann1")
    chat.mark_sensitive(["ann1"])
    assert [hit.external_id for hit in chat.recall("ladder", scope="ann")] == ["ann0"]
