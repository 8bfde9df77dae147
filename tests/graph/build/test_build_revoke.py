"""Revoking takes back exactly what only the revoked memories supported."""

from datetime import UTC, datetime, timedelta

import psycopg
from graph_content import content
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Fact, Mention, found
from hopgate.graph.build.resolve import NameResolver
from hopgate.graph.build.sink import add
from hopgate.graph.canonicalise import Canonicaliser
from hopgate.memory import Memory
from hopgate.store.extractions import Readable

DAY = datetime(2024, 1, 1, tzinfo=UTC)
NO_MERGES = NameResolver(Canonicaliser(threshold=2, ask=2))
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
            add(connection, [(Readable(ids[f"m{n}"], DAY + timedelta(n)), extraction)], NO_MERGES)


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
