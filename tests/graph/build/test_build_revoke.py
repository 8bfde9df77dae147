"""Revoking takes back exactly what only the revoked memories supported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
from graph_content import Scripted, content, version
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Fact, Mention, found
from hopgate.graph.build.sink import DatedExtraction, add
from hopgate.memory import Memory

DAY = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ["Ada", "Ada Mill", "mill", "Bea", "NAS", "the nas", "Mill Street", "Mill Street NAS"]
TABLES = "concept_edges, memory_concepts, facts, mentions, extractions, journal, concept_names, concepts, memories"

names = st.sampled_from(NAMES)
told = st.builds(
    lambda mentions, facts: found([Mention(*one) for one in mentions], facts),
    st.lists(st.tuples(names, st.sampled_from(["", "tool", "person"])), max_size=3),
    st.lists(
        st.builds(
            Fact, names, st.sampled_from(["runs on", "knows"]), names, st.sampled_from([None, "2023-05", "2024-02"])
        ),
        max_size=2,
    ),
)
stories = st.lists(st.tuples(names, told, st.booleans()), min_size=1, max_size=6)


def write(kb, rows) -> None:
    kb.add(*(Memory(f"m{n}", "x", title=text, created_at=DAY + timedelta(n)) for n, text, _ in rows))
    with kb.store.transaction() as connection:
        connection.execute(
            "INSERT INTO relations (raw, canonical, single_valued) VALUES ('runs on', 'runs on', true) "
            "ON CONFLICT DO NOTHING"
        )
        ids = dict(connection.execute("SELECT external_id, id FROM memories").fetchall())
        for n, _, extraction in rows:
            add(connection, [DatedExtraction(ids[f"m{n}"], DAY + timedelta(n), extraction)])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stories)
def test_revoking_some_memories_is_as_if_they_had_never_been(kb, dsn, story):
    rows = [(n, text, extraction) for n, (text, extraction, _) in enumerate(story)]
    gone = [n for n, (_, _, revoked) in enumerate(story) if revoked]
    with psycopg.connect(dsn) as connection:
        connection.execute(f"TRUNCATE {TABLES} CASCADE")
    write(kb, rows)
    if gone:
        kb.delete([f"m{n}" for n in gone])
    after = content(kb)
    with psycopg.connect(dsn) as connection:
        connection.execute(f"TRUNCATE {TABLES} CASCADE")
    write(kb, [row for row in rows if row[0] not in gone])
    assert after == content(kb)


def test_an_interval_that_a_deleted_memory_had_closed_opens_again(kb):
    kb.add(Memory("a", "x", created_at=DAY), Memory("b", "y", created_at=DAY + timedelta(9)))
    said = {
        "a": found([], [Fact("immich", "runs on", "nas", "2024-01-01")]),
        "b": found([], [Fact("immich", "runs on", "server", "2024-01-08")]),
    }
    kb.build(Scripted(said), single_valued=["runs on"])
    assert any("2024-01-08" in row and '"nas"' in row for row in content(kb)["edges"])
    before = version(kb)
    kb.delete(["b"])
    assert version(kb) > before
    (edge,) = content(kb)["edges"]
    assert '"nas"' in edge and "2024-01-08" not in edge
    assert not any("server" in row for row in content(kb)["concepts"])


def test_a_memory_that_only_carries_a_name_is_unlinked_too(kb):
    kb.add(Memory("a", "one"), Memory("b", "is here", title="Ada"))
    kb.build(Scripted({"a": found([Mention("Ada")], [])}))
    assert any(row.startswith('["b"') for row in content(kb)["memory_concepts"])
    kb.mark_sensitive(["b"])
    assert not any(row.startswith('["b"') for row in content(kb)["memory_concepts"])
    assert content(kb)["concepts"] == ['["Ada", ["Ada"], null, 1]']
