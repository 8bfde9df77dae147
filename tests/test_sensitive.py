"""The canary: a sensitive text is in no vector, cache file, log line or request, and turning sensitive removes it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
import pytest
from word_endpoint import WordEndpoint, serving

import hopgate
from hopgate import Memory
from hopgate.embed import EmbeddingCache
from hopgate.extract import Extraction, ExtractorIdentity, Phrases, Source
from hopgate.kb import KnowledgeBase
from hopgate.store.server import SERVER_LOG, EmbeddedServer

CANARY = "zyxcanaryzyx"
SECRET = f"The door code {CANARY} opens Vault Nine for Ada Byron."
OPEN = "Ada Byron owns the wiki service on host Atlas."


@pytest.fixture
def endpoint() -> Iterator[WordEndpoint]:
    with serving() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("HOPGATE_CACHE", str(folder))
    return folder


def in_files(folder: Path, needle: str = CANARY) -> list[Path]:
    found = needle.encode()
    return [path for path in folder.rglob("*") if path.is_file() and found in path.read_bytes()]


def everywhere(kb: KnowledgeBase, needle: str = CANARY) -> list[str]:
    """The columns of the database that hold a text, beside the memory itself."""
    holding = []
    with kb.store.transaction() as connection:
        columns = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema IN ('hopgate', 'public') AND table_name !~ '^memories_[0-9]'"
        ).fetchall()
        for table, column in columns:
            if table == "memories" and column in {"content", "search_vector", "source", "tags"}:
                continue
            row = connection.execute(
                f'SELECT count(*) FROM "{table}" WHERE strpos(lower("{column}"::text), %s) > 0', (needle,)
            ).fetchone()
            if row and row[0]:
                holding.append(f"{table}.{column}")
    return holding


def count(kb: KnowledgeBase, sql: str) -> int:
    with kb.store.transaction() as connection:
        row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0


@pytest.mark.parametrize("kind", ["bge-small", "endpoint"])
def test_a_sensitive_text_reaches_no_embedder_cache_or_log(
    kb: KnowledgeBase,
    endpoint: WordEndpoint,
    server: EmbeddedServer,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    kind: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    kb.add(Memory("s", SECRET, title=f"Title {CANARY}", is_sensitive=True, tags=(CANARY,)), Memory("o", OPEN))
    assert kb.embed(endpoint.spec if kind == "endpoint" else kind) == 1
    kb.build("phrases")
    if kind == "endpoint":
        with serving("others") as second:
            kb.reembed(second.spec)
            assert CANARY not in "".join(second.bodies)
    hits = kb.recall("door code Vault Nine", rerank=kind == "bge-small", rerank_timeout=60.0, explain=True)
    assert "s" in [hit.external_id for hit in hits]
    assert count(kb, "SELECT count(*) FROM memories WHERE is_sensitive AND embedding IS NOT NULL") == 0
    assert everywhere(kb) == []
    assert CANARY not in "".join(endpoint.bodies)
    assert EmbeddingCache.default().path.is_relative_to(cache)
    assert in_files(cache) == []
    assert CANARY not in caplog.text
    assert CANARY not in "".join(capfd.readouterr())
    assert CANARY not in (server.directory / "pg" / SERVER_LOG).read_text(errors="replace")


def test_a_statement_that_fails_leaves_no_text_in_the_servers_log(kb: KnowledgeBase, server: EmbeddedServer) -> None:
    with psycopg.connect(kb.store.dsn) as connection:
        connection.execute("ALTER TABLE memories ADD CONSTRAINT short CHECK (length(content) < 10)")
    with pytest.raises(psycopg.Error):
        kb.add(Memory("s", SECRET, is_sensitive=True))
    with kb.store.transaction() as connection, pytest.raises(psycopg.Error):
        connection.execute("SELECT 1 / 0, %s::text", (SECRET,))
        connection.commit()
    assert CANARY not in (server.directory / "pg" / SERVER_LOG).read_text(errors="replace")


class Asked:
    """The rules in the place of a model, whose answers are cached."""

    identity = ExtractorIdentity("asked", "a model", prompt="What does it say?")

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        return Phrases().extract(sources)


def made(kb: KnowledgeBase, spec: str) -> None:
    """A store with vector, cache entry, mentions, facts and cached extraction of the text to come."""
    kb.add(Memory("s", SECRET, tags=(CANARY,)), Memory("o", OPEN))
    kb.embed(spec)
    kb.build(Asked())
    assert count(kb, "SELECT count(*) FROM mentions m JOIN memories ON memories.id = memory_id WHERE external_id = 's'")
    assert count(kb, "SELECT count(*) FROM extraction_cache") == 2
    assert EmbeddingCache.default().info().vectors >= 2
    assert everywhere(kb)


def gone(kb: KnowledgeBase, text: str = SECRET) -> None:
    digest = hashlib.sha256(f"document\0{text}".encode()).digest()
    path = EmbeddingCache.default().path
    assert digest not in b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    assert everywhere(kb) == []
    for sql in (
        "SELECT count(*) FROM memories WHERE is_sensitive AND embedding IS NOT NULL",
        "SELECT count(*) FROM mentions m JOIN memories ON memories.id = memory_id WHERE is_sensitive",
        "SELECT count(*) FROM facts f JOIN memories ON memories.id = memory_id WHERE is_sensitive",
        "SELECT count(*) FROM memory_concepts c JOIN memories ON memories.id = memory_id WHERE is_sensitive",
        "SELECT count(*) FROM concept_edges e, memories m WHERE is_sensitive AND m.id = ANY(evidence_memory_ids)",
        "SELECT count(*) FROM extractions x JOIN memories ON memories.id = memory_id WHERE is_sensitive",
    ):
        assert count(kb, sql) == 0, sql
    assert count(kb, "SELECT count(*) FROM extraction_cache") == 1
    assert count(kb, "SELECT count(*) FROM mentions") > 0
    assert [hit.external_id for hit in kb.recall(CANARY, legs=("lexical",))] == ["s"]


@pytest.mark.parametrize("way", ["mark", "ingest again", "ingest again with another text"])
def test_turning_sensitive_removes_all_that_was_made(
    kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path, way: str
) -> None:
    made(kb, endpoint.spec)
    asked = len(endpoint.bodies)
    if way == "mark":
        assert kb.mark_sensitive(["s"]) == 1
    else:
        text = SECRET if way == "ingest again" else SECRET + " Tell nobody."
        kb.add(Memory("s", text, tags=(CANARY,), is_sensitive=True))
    gone(kb)
    kb.embed()
    kb.build("phrases")
    gone(kb)
    assert CANARY not in "".join(endpoint.bodies[asked:])


def test_a_text_that_changed_before_leaves_the_cache_with_the_change(
    kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path
) -> None:
    made(kb, endpoint.spec)
    kb.add(Memory("s", "Nothing to see."))
    kb.embed()
    kb.mark_sensitive(["s"])
    digest = hashlib.sha256(f"document\0{SECRET}".encode()).digest()
    path = EmbeddingCache.default().path
    assert digest not in b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))


def test_it_is_one_transaction(kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path) -> None:
    made(kb, endpoint.spec)
    with pytest.raises(hopgate.HopgateError, match="no memory 'unknown'"):
        kb.mark_sensitive(["s", "unknown"])
    assert count(kb, "SELECT count(*) FROM memories WHERE is_sensitive") == 0
    with kb.store.transaction() as connection:
        connection.execute("ALTER TABLE extraction_cache ADD COLUMN guarded boolean DEFAULT true")
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'"
        )
        connection.execute(
            "CREATE TRIGGER refuse BEFORE DELETE ON extraction_cache FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    with pytest.raises(psycopg.Error):
        kb.mark_sensitive(["s"])
    assert count(kb, "SELECT count(*) FROM memories WHERE is_sensitive") == 0
    assert count(kb, "SELECT count(*) FROM memories WHERE embedding IS NOT NULL") == 2
    with kb.store.transaction() as connection:
        connection.execute("DROP TRIGGER refuse ON extraction_cache")
    kb.mark_sensitive(["s"])
    gone(kb)


def test_a_memory_that_turns_sensitive_while_it_is_embedded_keeps_no_cache_entry(
    kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path
) -> None:
    """The text was on its way when it turned: neither the store nor the cache may keep what came back."""
    kb.add(Memory("s", SECRET), Memory("o", OPEN))
    real = endpoint.vector

    def turning(text: str) -> list[float]:
        if CANARY in text:
            with hopgate.open(kb.store.dsn) as other:
                other.mark_sensitive(["s"])
        return real(text)

    endpoint.vector = turning
    kb.embed(endpoint.spec)
    assert count(kb, "SELECT count(*) FROM memories WHERE is_sensitive AND embedding IS NOT NULL") == 0
    digest = hashlib.sha256(f"document\0{SECRET}".encode()).digest()
    path = EmbeddingCache.default().path
    assert digest not in b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))


def test_what_turns_sensitive_while_it_is_linked_leaves_no_fact_in_the_cache(
    kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path
) -> None:
    kb.add(Memory("o", OPEN))
    kb.embed(endpoint.spec)
    kb.build("phrases")
    kb.add(Memory("s", f"{CANARY.title()} Vault belongs to Ada Byron. Ada Byron works at {CANARY.title()} Vault."))
    embedded = set[str]()

    class Slow(Phrases):
        """Somebody marks the memory after its text was read."""

        def extract(self, sources: Sequence[Source]) -> list[Extraction]:
            made = super().extract(sources)
            embedded.update(mention.name for one in made for mention in one.mentions)
            embedded.update(f"{fact.subject} {fact.relation} {fact.object}" for one in made for fact in one.facts)
            kb.mark_sensitive(["s"])
            return made

    kb.build(Slow(), only=["s"])
    assert any(" works at " in text for text in embedded)
    path = EmbeddingCache.default().path
    kept = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    digests = {text: hashlib.sha256(f"document\0{text}".encode()).digest() for text in embedded if "anary" in text}
    assert digests and [text for text, digest in digests.items() if digest in kept] == []
    # Marked before names and facts were embedded: nothing of it was sent.
    assert not any(CANARY.title() in body for body in endpoint.bodies)
