"""A first build: whoever reads, in whatever ranges, the graph is that of one process batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from graph_content import Scripted, content
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

import hopgate
from hopgate import Memory
from hopgate.demo import corpus
from hopgate.extract.extraction import ExtractorIdentity, Fact, found
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.runner import Extracted, Run
from hopgate.graph.build import pipeline
from hopgate.graph.build.derive import derive
from hopgate.graph.build.sink import GraphSink
from hopgate.kb import KnowledgeBase
from hopgate.scale.engine import Engine
from hopgate.store.graph import fact_rows, name_rows
from hopgate.store.graph.fact_rows import FactGroup

SOME = corpus().memories[:220]


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "RANGE", 100)


def test_the_graph_is_that_of_batches(kb: KnowledgeBase, other: str) -> None:
    odd = "Odd\tname \\ of Ada Lovelace\r\nlives in London."
    memories = [*SOME, Memory("odd", odd, tags=("a\tb",), created_at=datetime(2024, 5, 1, tzinfo=UTC))]
    kb.add(*memories)
    built = kb.build(Phrases(), engine=Engine("processes", workers=2))
    with hopgate.open(other) as second:
        second.add(*memories)
        assert second.build(Phrases(), run=Run(batch=63)).extraction.facts == built.extraction.facts
        assert content(kb) == content(second)
        assert second.extraction_states() == kb.extraction_states()


def test_a_backfill_that_was_broken_off_goes_on(kb: KnowledgeBase, small_ranges: None) -> None:
    kb.add(*SOME)

    def interrupt(progress: object) -> None:
        if progress.stage == "extracting" and progress.memories > 50:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.build(Phrases(), show=interrupt)
    done = kb.extraction_states()["pending"]
    assert 0 < done < len(SOME)
    built = kb.build(Phrases())
    assert built.extraction.memories == done and built.extraction.skipped > 50
    assert not built.incremental and kb.graph.counts()["edges"] > 0


def test_what_turns_sensitive_while_it_is_read_is_not_written(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "Ada Lovelace lives in London."), Memory("b", "Bea Byron lives in Rome."))

    class Slow(Phrases):
        def extract(self, sources):  # type: ignore[no-untyped-def]
            kb.mark_sensitive(["b"])
            return super().extract(sources)

    kb.build(Slow())
    assert kb.extraction_states() == {"complete": 1}
    assert not any("Bea" in row for row in content(kb)["names"])


DAYS = st.one_of(st.none(), st.integers(1, 28))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(("r", "single")), st.sampled_from("xyz"), DAYS, DAYS,
                  st.sampled_from((0.3, 0.5, 1.0))),
        max_size=8,
    )
)  # fmt: skip
def test_plain_groups_have_the_edges_that_their_history_gives(kb: KnowledgeBase, said: list[tuple]) -> None:
    """All edges derived in one statement, or the same groups by Python."""
    with kb.store.transaction() as connection:
        connection.execute("TRUNCATE memories, concepts, relations, graph_state CASCADE")
        connection.execute("INSERT INTO graph_state DEFAULT VALUES")
    kb.add(*(Memory(f"m{n}", f"text {n}", created_at=datetime(2024, 2, 1 + n // 2, tzinfo=UTC)) for n in range(4)))
    facts: dict[str, list[Fact]] = {f"m{n}": [] for n in range(4)}
    for at, (subject, relation, target, start, end, weight) in enumerate(said):
        first, last = (f"2024-01-{day:02}" if day else None for day in (start, end))
        facts[f"m{at % 4}"].append(Fact(subject, relation, target, first, last, weight))
    kb.build(Scripted({key: found([], some) for key, some in facts.items()}), single_valued=("single",))
    whole = content(kb)
    with kb.store.transaction() as connection:
        rows = connection.execute(
            "SELECT DISTINCT s.concept_id, r.canonical, CASE WHEN r.single_valued THEN NULL ELSE o.concept_id END "
            "FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
            "JOIN relations r ON r.raw = f.relation"
        ).fetchall()
        connection.execute("DELETE FROM concept_edges WHERE relation <> 'has in its name'")
        derive(connection, [FactGroup(*row) for row in rows])
    assert content(kb) == whole


def test_what_changed_since_it_was_read_is_not_written(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marked, changed, or read with a turn that was marked: all of it waits for the next build, or for ever."""
    started = datetime(2024, 5, 1, 10, tzinfo=UTC)
    turns = ["Kit: Grace Hopper is my aunt.", "Kit: She moved to Leeds in May."]
    kb.add(
        Memory("marked", "Ada Lovelace lives in London."),
        Memory("changed", "Alan Turing lives in Manchester."),
        Memory("kept", "Mary Somerville lives in Naples."),
        *(Memory(f"t{at}", text, thread="t", created_at=started.replace(minute=at)) for at, text in enumerate(turns)),
    )
    write = GraphSink.write

    def late(sink: GraphSink, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        with hopgate.open(kb.store.dsn) as other:
            other.mark_sensitive(["marked", "t0"])
            other.add(Memory("changed", "Nothing to see."))
        write(sink, batch, identity)

    monkeypatch.setattr(GraphSink, "write", late)
    kb.extract(Phrases())
    assert kb.extraction_states() == {"complete": 1, "pending": 2}
    with kb.store.transaction() as connection:
        rows = connection.execute("SELECT DISTINCT external_id FROM mentions JOIN memories m ON m.id = memory_id")
        assert rows.fetchall() == [("kept",)]


def test_a_scope_learns_no_name_from_another(kb: KnowledgeBase, small_ranges: None) -> None:
    kb.add(
        Memory("a", "immich runs on cedar.", scope="a"),
        Memory("a2", "Rebooted cedar again.", scope="a"),
        Memory("b", "The box smells of cedar again.", scope="b"),
    )
    kb.build(Phrases())
    assert "cedar" in kb.graph.mentions()["a2"]
    assert "cedar" not in kb.graph.mentions().get("b", [])


def test_names_refreshed_together_are_as_refreshed_one_by_one(kb: KnowledgeBase) -> None:
    kb.add(*SOME)
    kb.build(Phrases())
    asked = "SELECT id, name, kind FROM concept_names ORDER BY id"
    found = []
    with kb.store.transaction() as connection:
        ids = [row[0] for row in connection.execute(asked)]
        for which in (None, ids):
            connection.execute("UPDATE concept_names SET name = 'x', kind = 'y'")
            name_rows.refresh(connection, which)
            found.append(connection.execute(asked).fetchall())
    assert found[0] == found[1]
    assert ("x", "y") not in {row[1:] for row in found[0]}


def test_the_planner_looks_under_the_lock_of_the_graph(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it samples are texts: who marks a memory meanwhile must wait, and then find them."""
    kb.add(*SOME[:20])
    locked = []
    analyse = fact_rows.analyse

    def looked(connection: Connection[Any]) -> None:
        asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()"
        locked.append(connection.execute(asked).fetchone())
        analyse(connection)

    monkeypatch.setattr(fact_rows, "analyse", looked)
    kb.build(Phrases())
    assert locked == [(1,)]
