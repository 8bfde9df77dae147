"""Backfills in one process: each memory once, a batch whole or not at all, poisoned rows aside, secrets unread."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from cli_run import Runner
from oracle import broken, digest
from shard_files import LONG, POISON, SECRET, TAGGED, notes, write_shards
from word_endpoint import WordEndpoint, embed

import hopgate
from hopgate.errors import HopgateError, LostServerError
from hopgate.extract.extraction import Extraction, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.graph.build.range_reading import RangeReader
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.scale.embedded_texts import EmbeddedTexts
from hopgate.scale.lost_items import REASON, in_place_of
from hopgate.sensitivity import SensitivityRules
from hopgate.store import retry
from hopgate.store.memory_ranges import IdRange, id_ranges


def _digest(kb: KnowledgeBase) -> dict[str, str]:
    with kb.store.transaction() as connection:
        assert broken(connection) == {}
        return digest(connection)


def test_a_backfill_makes_the_store_that_ingest_and_build_make(
    kb: KnowledgeBase, other: str, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    given = [*notes(60), LONG, SECRET]
    done = kb.backfill(write_shards(tmp_path / "shards", given), embedder=endpoint.spec, batch=16)
    assert (done.read, done.added, done.sensitive, done.set_aside) == (62, 62, 1, 0)
    assert (done.embedded, done.linked) == (61, 61)
    assert {"reading", "guarding", "embedding", "writing"} <= {stage.stage for stage in done.stages}
    assert "62 memories are new" in str(done)
    with hopgate.open(other) as plain:
        plain.load(iter(given))
        plain.embed(endpoint.spec)
        plain.build()
        assert _digest(kb) == _digest(plain)


def test_what_is_there_is_neither_embedded_nor_written_again(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    shards = write_shards(tmp_path / "shards", [*notes(30), LONG, SECRET])
    kb.backfill(shards, embedder=endpoint.spec, batch=8)
    before, rows = _digest(kb), kb.store.run(lambda c: c.execute("SELECT id, xmin::text FROM memories").fetchall())
    endpoint.bodies.clear()
    again = kb.backfill(shards, batch=5)
    assert (again.added, again.changed, again.settled, again.embedded) == (0, 0, 32, 0)
    assert endpoint.bodies == []
    assert _digest(kb) == before
    assert kb.store.run(lambda c: c.execute("SELECT id, xmin::text FROM memories").fetchall()) == rows


def test_a_memory_that_changed_in_its_source_is_brought_up_to_date(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    given = notes(20)
    shards = write_shards(tmp_path / "shards", given, 1)
    kb.backfill(shards, embedder=endpoint.spec, batch=8)
    given[3] = Memory(given[3].external_id, "Immich runs on alder now.", created_at=given[3].created_at)
    done = kb.backfill(write_shards(tmp_path / "shards", given, 1), batch=8)
    assert (done.added, done.changed, done.settled, done.embedded) == (0, 1, 19, 1)
    kept = kb.get(given[3].external_id)
    assert kept is not None and kept.text == "Immich runs on alder now."
    assert kb.pending_vectors() == 0


def test_the_last_row_of_an_id_counts_wherever_it_lies(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    given = [Memory("a", "one"), Memory("a", "two"), Memory("b", "other"), Memory("a", "three")]
    done = kb.backfill(write_shards(tmp_path / "s", given, 1), embedder=endpoint.spec, batch=3, build=False)
    assert (done.read, done.repeated, len(kb)) == (4, 1, 2)
    assert [memory.text for memory in kb.export()] == ["three", "other"]


def test_rows_that_are_no_memories_are_set_aside_and_come_back_when_mended(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    given = notes(40)
    shards = write_shards(tmp_path / "shards", given, 2, tuple(POISON))
    endpoint.vector = lambda text: [] if text == given[7].content else embed(text)
    with kb.store.transaction() as connection:
        # A rule of the table's owner.
        connection.execute(f"ALTER TABLE memories ADD CHECK (external_id <> '{given[11].external_id}')")
    done = kb.backfill(shards, embedder=endpoint.spec, batch=10)
    aside = kb.upkeep.set_aside()
    assert (done.set_aside, len(kb), kb.upkeep.status()["set_aside"]) == (6, 38, 6)
    assert [row.place for row in aside if row.stage == "read"] == ["line 3", "line 6", "line 9", "line 12"]
    assert [row.external_id for row in aside if row.stage == "embed"] == [given[7].external_id]
    assert [row.external_id for row in aside if row.stage == "write"] == [given[11].external_id]
    assert {row.source for row in aside} == {str(shards / "part-0.jsonl")}
    assert "the field 'text' is missing" in {row.reason for row in aside}
    # Not a word of the rows themselves.
    assert given[7].text[:20] not in str(aside) and given[11].text[:20] not in str(aside)
    endpoint.vector = embed
    with kb.store.transaction() as connection:
        connection.execute("ALTER TABLE memories DROP CONSTRAINT memories_external_id_check")
    kb.backfill(write_shards(shards, given, 2), batch=10)
    assert (kb.upkeep.set_aside(), len(kb)) == ([], 40)


def test_an_embedder_that_refuses_everything_is_not_the_rows_fault(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    endpoint.vector = lambda _: []
    shards = write_shards(tmp_path / "shards", notes(60), 1)
    with pytest.raises(HopgateError, match="a vector that is not a list of numbers"):
        kb.backfill(shards, embedder=endpoint.spec, batch=60)
    assert (len(kb), kb.upkeep.set_aside()) == (0, [])


def test_sensitive_memories_by_flag_rule_or_mark_reach_no_model(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    given = notes(10)
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    kb.add(given[4])
    kb.mark_sensitive([given[4].external_id])
    kb.backfill(write_shards(tmp_path / "s", [*given, SECRET, TAGGED], 1), embedder=endpoint.spec, batch=5)
    sent = " ".join(endpoint.texts)
    assert "quibble" not in sent and "wobblefish" not in sent and given[4].text not in sent
    assert kb.upkeep.status()["sensitive"] == 3
    _digest(kb)


def test_a_rule_that_comes_while_a_batch_is_embedded_holds(
    kb: KnowledgeBase, other: str, endpoint: WordEndpoint, dsn: str, tmp_path: Path
) -> None:
    marked = threading.Event()

    def vector(text: str) -> list[float]:
        if not marked.is_set():
            marked.set()
            with hopgate.open(dsn) as beside:
                beside.add_sensitivity(SensitivityRules(tags=("private",)))
        return embed(text)

    endpoint.vector = vector
    kb.backfill(write_shards(tmp_path / "s", [*notes(5), TAGGED], 1), embedder=endpoint.spec, batch=10)
    kept = kb.get("tagged")
    assert kept is not None and kept.is_sensitive
    _digest(kb)


def test_two_runs_at_once_double_nothing(kb: KnowledgeBase, other: str, endpoint: WordEndpoint, tmp_path: Path) -> None:
    shards = write_shards(tmp_path / "shards", notes(48), 2)
    with hopgate.open(other) as plain:
        plain.backfill(shards, embedder=endpoint.spec, batch=8)
        wanted = _digest(plain)
    results: list[Any] = []

    def run(batch: int) -> None:
        with hopgate.open(kb.store.dsn) as mine:
            results.append(mine.backfill(shards, embedder=endpoint.spec, batch=batch))

    threads = [threading.Thread(target=run, args=(batch,)) for batch in (8, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(result.added for result in results) == 48
    assert _digest(kb) == wanted


def test_parquet_globs_and_queries_are_sources_too(
    kb: KnowledgeBase, other: str, endpoint: WordEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hopgate.exports.memories import write_parquet

    given = notes(12)
    write_parquet(given[:6], tmp_path / "a-1.parquet")
    write_parquet(given[6:], tmp_path / "a-2.parquet")
    run = Runner(capsys)
    run("backfill", f"{tmp_path}/a-*.parquet", "--embedder", endpoint.spec, "--dsn", kb.store.dsn, "--rows-only")
    assert [memory.external_id for memory in kb.export()] == [memory.external_id for memory in given]
    assert kb.pending_vectors() == 0
    with hopgate.open(other) as copied:
        query = "SELECT external_id AS _id, content AS text FROM hopgate.memories WHERE id BETWEEN 3 AND 5 ORDER BY id"
        options = hopgate.sources.source.ReadOptions(query=query)
        address = _address(kb.store.dsn)
        done = copied.backfill(address, options=options, embedder=endpoint.spec, build=False)
        assert (done.added, len(copied)) == (3, 3)


def _address(dsn: str) -> str:
    from urllib.parse import quote

    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(dsn)
    return f"postgresql://{parts['user']}@/{parts['dbname']}?host={quote(str(parts['host']), safe='')}"


def test_what_cannot_be_read_is_refused_before_anything_is_done(kb: KnowledgeBase, tmp_path: Path) -> None:
    for source, reason in (
        (tmp_path / "none.jsonl", "no such file"),
        (f"{tmp_path}/*.jsonl", "correct the pattern"),
        (tmp_path, "holds no shard"),
    ):
        with pytest.raises(HopgateError, match=reason):
            kb.backfill(source)
    for options, reason in (({"engine": "dask"}, "no engine"), ({"workers": 2}, "--engine ray"), ({"batch": 0}, "one")):
        with pytest.raises(HopgateError, match=reason):
            kb.backfill(tmp_path, **options)  # type: ignore[typeddict-item]


def test_the_command_lists_what_was_set_aside(
    kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = write_shards(tmp_path / "shards", notes(6), 1, tuple(POISON[:2]))
    run = Runner(capsys, "--dsn", kb.store.dsn)
    ran = run("backfill", str(shards), "--embedder", endpoint.spec, "--batch", "4")
    assert "6 memories are new" in ran.out and "2 rows were set aside" in ran.out
    assert "2 rows are set aside" in run("backfill", "--set-aside").out
    assert [row["stage"] for row in run("backfill", "--set-aside", "--json").json] == ["read", "read"]
    assert "set aside     2 rows" in run("status").out
    assert run("backfill", str(shards), "--json").json["settled"] == 6
    assert "say what to read" in run("backfill", status=2).refused()


def test_a_memory_that_no_worker_lives_to_read_is_answered_for(kb: KnowledgeBase) -> None:
    kb.add(*notes(2))
    ids = kb.store.run(lambda connection: id_ranges(connection, 1))[0]
    refused: EmbeddedTexts = in_place_of("embedded", tuple(notes(1)), kb.store, _Silent())
    assert list(refused.refused.values()) == [REASON]
    assert in_place_of("surveyed", ids, kb.store, _Silent()) == {}
    assert in_place_of("extracted", ids, kb.store, _Silent()).progress.failed == 1
    with pytest.raises(HopgateError, match="workers died over a name"):
        in_place_of("vectors", ("x",), kb.store, _Silent())


class _Silent:
    """A model that reads one memory at a time and finds nothing."""

    identity = ExtractorIdentity("silent", prompt="say nothing")

    def extract(self, sources: list[Source]) -> list[Extraction]:
        return [found([], []) for _ in sources]


def test_a_range_is_read_by_a_model_without_what_other_memories_show(kb: KnowledgeBase) -> None:
    kb.add(*notes(3))
    with kb.store.transaction() as connection:
        [ids] = id_ranges(connection, 3)
        assert isinstance(ids, IdRange)
        prepared = RangeReader(_Silent()).prepared(connection, ids)
    assert [source.known for source in prepared.sources] == [()] * 3
    assert RangeReader(_Silent()).read(prepared).progress.memories == 3


def test_a_server_that_stays_away_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "RETURN_PAUSES", (0.0, 0.0))
    asked = []

    def work() -> None:
        asked.append(1)
        raise LostServerError("it is gone")

    with pytest.raises(LostServerError):
        retry.patiently(work)
    assert len(asked) == 3
