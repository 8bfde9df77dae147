"""The canary: a sensitive text is in no vector, cache, log or request, and turning sensitive is all or nothing.

What a slow model was sent meanwhile, and what is left after each way to forget, is in tests/reliability.
"""

from __future__ import annotations

import logging
from pathlib import Path

import psycopg
import pytest
from canary import CANARY, cached, in_files, in_tables
from word_endpoint import WordEndpoint, serving

from hopgate import HopgateError, Memory
from hopgate.embed import EmbeddingCache
from hopgate.kb import KnowledgeBase
from hopgate.store.server import SERVER_LOG, EmbeddedServer

SECRET = f"The door code {CANARY} opens Vault Nine for Ada Byron."
OPEN = "Ada Byron owns the wiki service on host Atlas."


def count(kb: KnowledgeBase, what: str) -> int:
    with kb.store.transaction() as connection:
        row = connection.execute(f"SELECT count(*) FROM {what}").fetchone()
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
    assert count(kb, "memories WHERE is_sensitive AND embedding IS NOT NULL") == 0
    assert in_tables(kb.store.dsn) == []
    assert EmbeddingCache.default().path.is_relative_to(cache) and in_files(cache) == []
    log = (server.directory / "pg" / SERVER_LOG).read_text(errors="replace")
    assert CANARY not in "".join([*endpoint.bodies, caplog.text, *capfd.readouterr(), log])


def test_a_statement_that_fails_leaves_no_text_in_the_servers_log(kb: KnowledgeBase, server: EmbeddedServer) -> None:
    with kb.store.transaction() as connection:
        connection.execute("ALTER TABLE memories ADD CONSTRAINT short CHECK (length(content) < 10)")
    with pytest.raises(HopgateError):
        kb.add(Memory("s", SECRET, is_sensitive=True))
    with pytest.raises(HopgateError), kb.store.transaction() as connection:
        connection.execute("SELECT 1 / 0, %s::text", (SECRET,))
    assert CANARY not in (server.directory / "pg" / SERVER_LOG).read_text(errors="replace")


def test_turning_sensitive_is_one_transaction(kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path) -> None:
    kb.add(Memory("s", SECRET, tags=(CANARY,)), Memory("o", OPEN))
    kb.embed(endpoint.spec)
    kb.build()
    assert cached(cache, [SECRET]) and in_tables(kb.store.dsn)
    with pytest.raises(HopgateError, match="no memory 'unknown'"):
        kb.mark_sensitive(["s", "unknown"])
    with kb.store.transaction() as connection:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'"
        )
        connection.execute("CREATE TRIGGER refuse BEFORE DELETE ON mentions FOR EACH ROW EXECUTE FUNCTION refuse()")
    with pytest.raises(psycopg.Error):
        kb.mark_sensitive(["s"])
    assert count(kb, "memories WHERE is_sensitive") == 0
    assert count(kb, "memories WHERE embedding IS NOT NULL") == 2
    with kb.store.transaction() as connection:
        connection.execute("DROP TRIGGER refuse ON mentions")
    kb.mark_sensitive(["s"])
    assert in_tables(kb.store.dsn) == [] and in_files(cache) == [] and cached(cache, [SECRET]) == []
    assert [hit.external_id for hit in kb.recall(CANARY, legs=("lexical",))] == ["s"]
