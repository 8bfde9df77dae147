"""What a memory gave to others goes with it: names that later turns took over, sentences about them, their vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hopgate import Memory
from hopgate.embed import EmbeddingCache
from hopgate.kb import KnowledgeBase
from hopgate.store import vectors

DAY = datetime(2024, 1, 1, tzinfo=UTC)
SISTER = Memory("m1", "Ada is my sister.", scope="a", thread="t", created_at=DAY)
LATER = Memory("m2", "She moved to Rome.", scope="a", thread="t", created_at=DAY + timedelta(1))


def names(kb: KnowledgeBase, scope: str | None = None) -> set[str]:
    return {concept.name for concept in kb.graph.concepts(scope=scope)}


def rows(kb: KnowledgeBase, statement: str) -> list[Any]:
    with kb.store.transaction() as connection:
        return connection.execute(statement).fetchall()


@pytest.mark.parametrize("text", ["She moved to Rome.", "She moved to Canada."])
def test_a_name_goes_though_another_word_holds_its_letters(kb: KnowledgeBase, text: str) -> None:
    kb.add(SISTER, replace(LATER, text=text))
    kb.build()
    assert "Ada" in names(kb)
    kb.mark_sensitive(["m1"])
    kb.build()
    assert "Ada" not in names(kb)
    assert not rows(kb, "SELECT 1 FROM mentions WHERE spelling = 'Ada'")


@pytest.mark.parametrize(
    "moved", [{"scope": "b"}, {"thread": "u"}, {"thread": None}, {"created_at": DAY - timedelta(1)}]
)
@pytest.mark.parametrize("which", ["m1", "m2"])
def test_a_memory_that_moves_takes_nothing_along(kb: KnowledgeBase, moved: dict[str, Any], which: str) -> None:
    kb.add(SISTER, LATER)
    kb.build()
    assert {"Ada", "Rome"} <= names(kb, "a")
    kb.add(replace(SISTER if which == "m1" else LATER, **moved))
    kb.build()
    at = {one.external_id: one for one in (kb.get("m1"), kb.get("m2"))}
    told = (at["m1"].scope, at["m1"].thread) == (at["m2"].scope, at["m2"].thread)
    told = told and at["m1"].created_at < at["m2"].created_at
    (found,) = rows(
        kb,
        "SELECT count(*) FROM mentions n JOIN memories m ON m.id = n.memory_id "
        "WHERE m.external_id = 'm2' AND n.spelling = 'Ada'",
    )
    assert found[0] == told
    if moved == {"scope": "b"} and which == "m2":
        assert names(kb, "b") == {"Rome"}
    kb.mark_sensitive(["m1"])
    assert "Ada" not in names(kb)


def test_a_scope_is_not_told_the_name_of_another(kb: KnowledgeBase) -> None:
    mine = Memory("m1", "I live in Rome.", scope="a", thread="t", created_at=DAY)
    kb.add(mine)
    kb.build()
    kb.add(replace(mine, scope="b"))
    kb.build()
    assert not [name for name in names(kb, "b") if "(a)" in name.lower()]


def test_statements_about_later_turns_go(kb: KnowledgeBase, tmp_path: Path, cache: Any) -> None:
    told = "Ada moved to Rome."
    kb.add(SISTER, LATER, Memory("m3", "The NAS is in the cellar.", scope="a", thread="u", created_at=DAY))
    file = tmp_path / "statements.jsonl"
    lines = [{"doc_id": "m2", "statement": told}, {"doc_id": "m3", "statement": "The NAS is in the cellar."}]
    file.write_text("\n".join(map(json.dumps, lines)))
    kb.embed()
    kb.build(statements=file)
    with kb.store.transaction() as connection:
        space = vectors.space(connection)
    assert space is not None
    identity, kept = space.identity, EmbeddingCache.default()
    assert len(kept.get(identity, [told, "Ada lives in Rome"], "document")) == 2
    kb.mark_sensitive(["m1"])
    assert [one["statement"] for one in kb.graph.statements()] == ["The NAS is in the cellar."]
    assert not kept.get(identity, [told, "Ada lives in Rome"], "document")
