"""The graph leg in recall: memories that no other leg finds, paths in words, and the filters that every leg honours."""

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


def found(kb: KnowledgeBase, query: str, **options: Any) -> list[str]:
    return [hit.external_id for hit in kb.recall(query, legs=("graph",), prior=1.0, **options)]


def test_it_reaches_what_shares_no_word_with_the_query_and_tells_the_path(built):
    assert "rack" not in {hit.external_id for hit in built.recall("Quillon", legs=("lexical",))}
    paths = {hit.external_id: hit.path for hit in built.recall("Quillon", legs=("graph",), explain=True)}
    assert paths["rack"][0] == "Quillon" and paths["rack"][-1] == "rack"
    assert any("looks after [owner]" in step for step in paths["rack"])
    assert any("runs on" in step for step in paths["rack"])
    assert found(built, "zzz") == []
    built.delete([memory.external_id for memory in MEMORIES])
    assert found(built, "Quillon") == []


def test_a_memory_outside_the_graph_gets_no_score_of_it_and_is_said_to_be_outside(built):
    built.add(Memory("new", "Quillon looks after the boat.", scope="home"))
    with built.store.transaction() as connection:
        new, owner = (memories.ids_of(connection, [key])[0] for key in ("new", "owner"))
    query = Query("Quillon", Filters("home"))
    ranking = built.graph_leg.rank(query, built.graph_leg.look_up(query), [(new, 1.0), (owner, 1.0)], 10)
    assert new not in dict(ranking.hits) and new not in ranking.scores and owner in ranking.scores
    assert ranking.unseen == {new}


def test_an_answer_is_found_beside_its_question_in_its_scope_and_not_through_a_sensitive_turn(kb):
    turns = ("Where did you put the ladder?", "Behind the shed.", "Thanks, found it.", "Bye!")
    for scope in ("ann", "bea"):
        times = [datetime(2024, 5, 1, 20, minute, tzinfo=UTC) for minute in range(len(turns))]
        kb.add(
            *(
                Memory(f"{scope}{n}", text, scope=scope, thread="evening", created_at=times[n])
                for n, text in enumerate(turns)
            )
        )
    kb.build("phrases")
    hits = kb.recall("ladder", legs=("lexical", "graph"), scope="ann", explain=True)
    assert [hit.external_id for hit in hits] == ["ann0", "ann1", "ann2", "ann3"]
    assert hits[1].path[-3:] == ("ann0", "said just before", "ann1")
    kb.mark_sensitive(["ann1"])
    assert [hit.external_id for hit in kb.recall("ladder", scope="ann")] == ["ann0"]
