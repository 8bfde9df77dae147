"""Adding to a graph: what follows, who waits for whom, what one memory may bring, and what is taken up again."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from graph_content import Scripted, content, of_triples, share_scopes, version
from patience import PATIENCE
from psycopg import Connection, errors
from reliability.watch import watched

from hopgate.demo import corpus
from hopgate.extract.extraction import MAX_FACTS, MAX_NAMES, ExtractorIdentity, Fact, Mention, bounded, failed, found
from hopgate.graph.build.derive import rederive_all
from hopgate.graph.build.resolve import NameResolver
from hopgate.graph.build.sink import add
from hopgate.graph.canonicalise import Canonicaliser
from hopgate.memory import Memory
from hopgate.store.extractions import Readable
from hopgate.store.graph import concept_rows

DAY = datetime(2024, 1, 1, tzinfo=UTC)


def memory(key: str, text: str = "nothing", day: int = 1, **fields) -> Memory:
    return Memory(key, text, created_at=DAY.replace(day=day), **fields)


def test_the_second_build_extends_and_a_build_with_nothing_new_changes_nothing(kb):
    kb.add(memory("a"))
    extractor = Scripted({"a": found([Mention("Ada")], []), "b": found([Mention("Ada"), Mention("Bea")], [])})
    assert not kb.build(extractor).incremental
    kb.add(memory("b"))
    built = kb.build(extractor)
    assert built.incremental and built.extraction.memories == 1 and built.resolution.new == 1
    before = version(kb)
    assert kb.build(extractor).extraction.memories == 0
    assert version(kb) == before


def test_a_name_that_comes_later_is_found_in_the_memories_that_were_there(kb):
    kb.add(memory("c", "Trains are late.", title="Norwich (city)"))
    kb.add(memory("b", "She lives there."), memory("d", "norwich"), memory("e", "A walk to Norwich"))
    with kb.store.transaction() as connection:
        ids = dict(connection.execute("SELECT external_id, id FROM memories").fetchall())
        add(connection, [(Readable(ids["b"], DAY), found([Mention("Norwich")], []))], NameResolver())
    grown = content(kb)
    titled = {row.split(",")[0] for row in grown["memory_concepts"] if '"Norwich", "titled"' in row}
    assert titled == {'["c"', '["d"'}
    with kb.store.transaction() as connection:
        rederive_all(connection)
    assert content(kb) == grown


def test_incremental_adding_and_a_rebuild_agree_on_the_synthetic_corpus(kb):
    share_scopes(kb)
    world = corpus()
    extractor = of_triples(world.triples)
    half = len(world.memories) // 2
    kb.add(*world.memories[:half])
    kb.build(extractor, single_valued=world.single_valued)
    for start in range(half, len(world.memories), 60):
        kb.add(*world.memories[start : start + 60])
        kb.build(extractor)
    grown = content(kb)
    kb.build(extractor, rebuild=True)
    rebuilt = content(kb)
    assert len(grown["names"]) == len(rebuilt["names"])
    for table in ("concepts", "edges", "memory_concepts"):
        common = len(set(grown[table]) & set(rebuilt[table]))
        assert common >= 0.95 * max(len(grown[table]), len(rebuilt[table])), table


def test_an_extractor_that_fails_takes_nothing_back(kb):
    class Dead:
        identity = ExtractorIdentity("dead")

        def extract(self, sources):
            return [failed("the server is gone") for _ in sources]

    kb.add(Memory("m", "Immich runs on nas-2."))
    kb.build("phrases")
    before = content(kb)
    assert kb.extract(Dead()).failed == 1
    assert content(kb) == before


# What one memory may bring, and how long it keeps the graph's lock: for the write alone, and in turns.


def test_what_one_memory_may_bring_is_bounded_and_what_is_left_out_is_counted():
    facts = [Fact(f"a{number}", "knows", f"b{number}") for number in range(MAX_FACTS)]
    kept = bounded(found([Mention("late"), Mention("a0")], facts))
    assert kept.facts == tuple(facts[: MAX_NAMES // 2]) and kept.mentions == (Mention("a0"),)
    assert sum(count for _, count in kept.dropped) == MAX_FACTS - MAX_NAMES // 2 + 1


def test_a_batch_of_many_names_takes_the_lock_in_turns(kb):
    kb.add(Memory("first", "x"))
    kb.build(Scripted({"first": found([Mention("Ada")], [])}))
    kb.add(*(Memory(f"m{number}", "x") for number in range(4)))
    said = {f"m{at}": found([Mention(f"n{at}x{number}") for number in range(120)], []) for at in range(4)}
    turns = []
    with watched(lambda _, statement: turns.append(statement) if "FOR NO KEY UPDATE" in statement else None):
        kb.build(Scripted({**said, "first": found([Mention("Ada")], [])}))
    assert len(turns) == 4


def test_names_are_compared_outside_the_lock_and_again_where_the_graph_changed(kb, monkeypatch):
    kb.add(*(Memory(key, "x") for key in "abc"))
    said = {key: found([Mention(f"Name {key}"), Mention("Shared")], []) for key in "abc"}
    fitted = threading.Event()

    real = Canonicaliser.fit

    def meanwhile(*given, **named):
        """Turn a memory sensitive while names are compared: under the graph's lock that would never end."""
        if not fitted.is_set():
            fitted.set()
            with ThreadPoolExecutor(1) as pool:
                pool.submit(kb.mark_sensitive, ["b"]).result(PATIENCE)
        return real(*given, **named)

    monkeypatch.setattr(Canonicaliser, "fit", meanwhile)
    kb.build(Scripted(said))
    assert fitted.is_set()
    names = content(kb)["names"]
    assert len(names) == 3 and not any("Name b" in name for name in names)


# While the whole graph is derived nobody deletes a memory that is about to be linked.


def test_nobody_deletes_a_memory_that_is_being_linked(kb, monkeypatch):
    """An owner's own program, which knows of no lock of ours, waits."""
    kb.add(*corpus().memories[:60])
    real, tried = concept_rows.link_mentions, []

    def link(connection: Connection[Any], memory_ids: list[int]) -> None:
        with psycopg.connect(kb.store.dsn) as owner:
            kb.store.find_tables(owner)
            owner.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(errors.LockNotAvailable):
                owner.execute("DELETE FROM memories WHERE id = (SELECT min(memory_id) FROM mentions)")
            tried.append(True)
            owner.rollback()
        real(connection, memory_ids)

    monkeypatch.setattr(concept_rows, "link_mentions", link)
    kb.build()
    assert tried
