"""A first build: whoever reads, in whatever ranges, the graph is that of one process batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from graph_content import content
from hypothesis import strategies as st

import hopgate
from hopgate import Memory
from hopgate.demo import corpus
from hopgate.extract.extraction import ExtractorIdentity
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.runner import Extracted, Run
from hopgate.graph.build import pipeline
from hopgate.graph.build.sink import GraphSink
from hopgate.kb import KnowledgeBase
from hopgate.scale.engine import Engine

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
