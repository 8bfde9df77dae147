"""Writing extractions: one concept for one name, whoever writes; readers see whole batches; versions move."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest
from graph_content import Scripted, content, of_triples, share_scopes, version

import hopgate
from hopgate.demo import corpus
from hopgate.extract.extraction import ExtractorIdentity, Fact, Mention, failed, found
from hopgate.graph.build.derive import rederive_all
from hopgate.graph.build.sink import DatedExtraction, add
from hopgate.memory import Memory
from hopgate.store.graph import version as graph_version

DAY = datetime(2024, 1, 1, tzinfo=UTC)


def memory(key: str, text: str = "nothing", day: int = 1, **fields) -> Memory:
    return Memory(key, text, created_at=DAY.replace(day=day), **fields)


def test_mentions_and_facts_become_concepts_and_edges_with_evidence(kb):
    kb.add(memory("a"), memory("b", day=2))
    fact = Fact("Immich", "runs on", "nas-2", confidence=0.5)
    kb.build(Scripted({"a": found([Mention("immich", "tool")], [fact]), "b": found([Mention("NAS-2")], [fact])}))
    found_in = content(kb)
    assert found_in["concepts"] == ['["immich", ["immich"], "tool", 2]', '["nas-2", ["nas-2"], null, 2]']
    assert len(found_in["edges"]) == 1 and '"runs on", "nas-2", 1.0' in found_in["edges"][0]
    assert found_in["edges"][0].endswith('["a", "b"]]')


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


def test_a_name_that_comes_later_is_found_in_the_memories_and_names_that_were_there(kb):
    kb.add(memory("a", "The shop closed."), memory("c", "Trains are late.", title="Norwich (city)"))
    kb.add(memory("b", "She lives there."))
    with kb.store.transaction() as connection:
        ids = dict(connection.execute("SELECT external_id, id FROM memories").fetchall())
        for key, name in (("a", "Mill Street, Norwich"), ("b", "Norwich")):
            add(connection, [DatedExtraction(ids[key], DAY, found([Mention(name)], []))])
    grown = content(kb)
    assert any('"c", "Norwich", "titled"' in row for row in grown["memory_concepts"])
    assert [row for row in grown["edges"] if '"Mill Street, Norwich", "has in its name", "Norwich"' in row]
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


def test_what_is_no_name_is_left_out(kb):
    kb.add(memory("a"))
    facts = [Fact("x" * 500, "is", "Ada"), Fact("Ada", " ", "Bea"), Fact("Ada", "met", "Bea", "2024", "2023")]
    kb.build(Scripted({"a": found([Mention("..."), Mention("Ada")], facts)}))
    assert content(kb)["edges"] == []


def test_two_writers_adding_the_same_concept_end_with_one(kb, dsn):
    kb.add(memory("seed"))
    kb.build(Scripted({"seed": found([Mention("Seed")], [])}))
    kb.add(*(memory(f"m{n}") for n in range(40)))
    said = {f"m{n}": found([Mention("The Hub"), Mention(f"leaf {n % 7}")], []) for n in range(40)}
    errors: list[BaseException] = []

    def write(part: int) -> None:
        try:
            with hopgate.open(dsn) as other:
                other.build(Scripted(said), only=[f"m{n}" for n in range(part, 40, 4)])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    found_in = content(kb)
    assert [row for row in found_in["concepts"] if "Hub" in row] == ['["The Hub", ["The Hub"], null, 40]']
    assert len(found_in["concepts"]) == 9


def test_readers_never_see_half_a_batch_and_every_batch_moves_the_version(kb):
    """Each batch adds a memory with one mention and one edge: at every version their counts agree."""
    kb.add(memory("seed"))
    kb.build(Scripted({"seed": found([], [Fact("a", "r", "seed")])}))
    kb.add(*(memory(f"m{n}") for n in range(25)))
    said = {f"m{n}": found([], [Fact("a", "r", f"b{n}")]) for n in range(25)}
    seen: list[tuple[int, int, int]] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            with kb.store.transaction() as connection:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                row = connection.execute(
                    "SELECT (SELECT version FROM graph_state), (SELECT count(*) FROM concept_edges), "
                    "(SELECT count(*) FROM memory_concepts)"
                ).fetchone()
            seen.append(tuple(row))

    reader = threading.Thread(target=read)
    reader.start()
    start = version(kb)
    for key in said:
        kb.build(Scripted(said), only=[key])
    over.set()
    reader.join()
    assert version(kb) >= start + 25
    assert len({row[0] for row in seen}) > 3
    for at, edges, links in seen:
        assert links == 2 * edges and edges == 1 + at - start


def test_a_build_that_was_broken_off_is_taken_up(kb):
    kb.add(*(memory(f"m{n}") for n in range(6)))
    said = {f"m{n}": found([], [Fact("a", "r", f"b{n}")]) for n in range(6)}

    class Breaks(Scripted):
        def extract(self, sources):
            if any(source.memory_id == "m4" for source in sources):
                raise KeyboardInterrupt
            return super().extract(sources)

    from hopgate.extract.runner import Run

    with pytest.raises(KeyboardInterrupt):
        kb.build(Breaks(said), run=Run(batch=2))
    with kb.store.transaction() as connection:
        assert not graph_version.is_derived(connection)
    assert content(kb)["edges"] == []
    built = kb.build(Scripted(said), run=Run(batch=2))
    assert not built.incremental and built.extraction.memories == 2
    assert len(content(kb)["edges"]) == 6


def test_writers_of_memories_and_of_the_graph_never_wait_for_each_other(kb, dsn):
    """One changes texts, one builds, one deletes: all of the same memories, and none is a victim of a deadlock."""
    keys = [f"m{n}" for n in range(12)]
    titles = ["Hub", "Norwich", "Ada"]
    said = {key: found([Mention(titles[n % 3]), Mention(f"leaf {n}")], []) for n, key in enumerate(keys)}
    kb.add(*(memory(key, title=titles[n % 3]) for n, key in enumerate(keys)))
    kb.build(Scripted(said))
    errors: list[BaseException] = []

    def change(number: int) -> None:
        try:
            with hopgate.open(dsn) as other:
                for turn in range(6):
                    if number == 0:
                        other.add(*(memory(key, f"text {turn}", title=titles[turn % 3]) for key in keys[:8]))
                    elif number == 1:
                        other.build(Scripted(said, str(turn)), only=keys)
                    else:
                        other.delete([keys[8 + turn % 4]])
                        other.add(memory(keys[8 + turn % 4], title=titles[turn % 3]))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    kb.build(Scripted(said, "last"))
    grown = content(kb)
    kb.build(Scripted(said, "last"), rebuild=True)
    assert content(kb)["names"] == grown["names"]


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


def test_what_one_note_shows_of_a_name_is_known_to_the_next_one_that_has_it_with_an_s(kb):
    for one in (memory("a", "My sister Tola lives in Bradford."), memory("b", "Tola's moved to Manchester!", day=9)):
        kb.add(one)
        kb.build()
    homes = {edge.target: edge.valid_to is None for edge in kb.graph.edges() if edge.relation == "lives in"}
    assert homes == {"Bradford": False, "Manchester": True}
