"""Of a sensitive text nothing is made, and after a mark, a deletion or a changed text nothing of it is left.

No row, no sample of the planner's, no vector, cache, request, log or file; nor what it gave to others.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partialmethod
from pathlib import Path
from typing import Any

import psycopg
import pytest
from reliability.canary import CANARY, ITS_OWN, cached, in_files, in_tables
from word_endpoint import WordEndpoint, serving

import hopgate
from hopgate import HopgateError, Memory
from hopgate.embed import EmbeddingCache
from hopgate.embed.hosted import HostedEmbedder
from hopgate.extract.extraction import Extraction, ExtractorIdentity, Fact, Mention, Source, State
from hopgate.extract.model.openai import OpenAI
from hopgate.guard import SensitivityRules
from hopgate.http import RetryPolicy
from hopgate.integrations import readable_hits
from hopgate.kb import KnowledgeBase
from hopgate.store import vectors
from hopgate.store.server import SERVER_LOG

NAME = CANARY.title()
TEXT = f"{NAME} guards the door code of Vault Nine."
SECRET = Memory("s", TEXT, tags=(CANARY,))
OPEN = [Memory(f"m{number}", f"Ada Byron guards note {number} of Atlas.") for number in range(3)]
STATED = f"{NAME} knows every code."
# What is embedded beside the text: names, a relation, a fact and a statement.
MADE = [TEXT, NAME, f"guards {CANARY} since", f"{NAME} guards {CANARY} since Vault Nine", STATED]
QUICK = RetryPolicy(retries=2, backoff=0.001)


def rows(kb: KnowledgeBase, statement: str) -> list[Any]:
    with kb.store.transaction() as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def nothing_left(kb: KnowledgeBase, cache: Path, *texts: str, but: tuple[str, ...] = ITS_OWN) -> None:
    assert in_tables(kb.store.dsn, but=but) == []
    assert in_files(cache) == []
    assert cached(cache, [*MADE, *texts]) == []


# How a memory comes to be one of which nothing may be left.
WAYS: dict[str, Callable[[KnowledgeBase], object]] = {
    "mark": lambda kb: kb.mark_sensitive(["s"]),
    "delete": lambda kb: kb.delete(["s"]),
    "change": lambda kb: kb.add(Memory("s", "Nothing to see.")),
    "mark and change": lambda kb: kb.add(Memory("s", "Nothing to see.", is_sensitive=True)),
    # By another program, which knows no rules.
    "rule": lambda kb: rows(kb, "UPDATE memories SET tags = '{private}' WHERE external_id = 's'"),
}


@pytest.mark.parametrize("kind", ["bge-small", "endpoint"])
def test_a_sensitive_text_reaches_no_embedder_cache_or_log(kb, endpoint, server, cache, caplog, capfd, kind):
    caplog.set_level(logging.DEBUG)
    kb.add(replace(SECRET, title=f"Title {CANARY}", is_sensitive=True), OPEN[0])
    assert kb.embed(endpoint.spec if kind == "endpoint" else kind) == 1
    kb.build("phrases")
    if kind == "endpoint":
        with serving("others") as second:
            kb.reembed(second.spec)
            assert CANARY not in "".join(second.bodies)
    hits = kb.recall("door code Vault Nine", rerank=kind == "bge-small", rerank_timeout=60.0, explain=True)
    assert "s" in [hit.external_id for hit in hits]
    assert EmbeddingCache.default().path.is_relative_to(cache)
    nothing_left(kb, cache)
    log = (server.directory / "pg" / SERVER_LOG).read_text(errors="replace")
    assert CANARY not in "".join([*endpoint.bodies, caplog.text, *capfd.readouterr(), log])


def test_a_statement_that_fails_leaves_no_text_in_the_servers_log(kb, server):
    rows(kb, "ALTER TABLE memories ADD CONSTRAINT short CHECK (length(content) < 10)")
    with pytest.raises(HopgateError):
        kb.add(replace(SECRET, is_sensitive=True))
    with pytest.raises(HopgateError), kb.store.transaction() as connection:
        connection.execute("SELECT 1 / 0, %s::text", (TEXT,))
    assert CANARY not in (server.directory / "pg" / SERVER_LOG).read_text(errors="replace")


def test_turning_sensitive_is_one_transaction(kb, endpoint, cache):
    kb.add(SECRET, OPEN[0])
    kb.embed(endpoint.spec)
    kb.build()
    with pytest.raises(HopgateError, match="no memory 'unknown'"):
        kb.mark_sensitive(["s", "unknown"])
    rows(kb, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'")
    rows(kb, "CREATE TRIGGER refuse BEFORE DELETE ON mentions FOR EACH ROW EXECUTE FUNCTION refuse()")
    with pytest.raises(psycopg.Error):
        kb.mark_sensitive(["s"])
    assert rows(kb, "SELECT count(*), count(embedding), count(*) FILTER (WHERE is_sensitive) FROM memories") == [
        (2, 2, 0)
    ]
    rows(kb, "DROP TRIGGER refuse ON mentions")
    kb.mark_sensitive(["s"])
    nothing_left(kb, cache)
    assert [hit.external_id for hit in kb.recall(CANARY, legs=("lexical",))] == ["s"]


class Scripted:
    """Reads names and a relation that no rule would, so that each column has something to lose."""

    identity = ExtractorIdentity("scripted", "1")

    def extract(self, sources: list[Source]) -> list[Extraction]:
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        one, relation, other = ("Ada Byron", "guards", "Atlas")
        if CANARY in source.text.lower():
            one, relation, other = (NAME, f"guards {CANARY} since", "Vault Nine")
        return Extraction((Mention(one), Mention(other)), (Fact(one, relation, other),), State.COMPLETE)


@pytest.fixture
def full(kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path, tmp_path: Path) -> KnowledgeBase:
    """A store with all that can be made of a text, merged, canonicalised, walked and sampled."""
    kb.add(SECRET, *OPEN[:2])
    kb.embed(endpoint.spec)
    statements = tmp_path / "statements.jsonl"
    statements.write_text(json.dumps({"doc_id": "s", "statement": STATED}))
    kb.build(Scripted(), statements=statements)
    rows(kb, f"UPDATE relations SET canonical = 'guards {CANARY} since' WHERE raw = 'guards'")
    rows(kb, f"UPDATE concept_edges SET relation = 'guards {CANARY} since' WHERE relation = 'guards'")
    kb.graph.merge("Vault Nine", NAME)
    kb.recall("who guards what", graph=1.0)
    rows(kb, "ANALYZE")
    found = set(in_tables(kb.store.dsn))
    assert found >= {"journal.merged_name", "relations.raw", "relations.canonical", "facts.relation"}
    assert not any(place.startswith("pg_stats") for place in found)
    assert set(cached(cache, MADE)) >= {TEXT, NAME, STATED}
    return kb


@pytest.mark.parametrize("way", ["mark", "delete", "change", "mark and change", "change then mark"])
def test_nothing_is_left(full, cache, way):
    if way == "change then mark":
        full.add(Memory("s", TEXT + " Still."))
        full.embed()
        full.build(Scripted())
    WAYS[way.rsplit(" then ", maxsplit=1)[-1]](full)
    nothing_left(full, cache, TEXT + " Still.", but=ITS_OWN if "mark" in way else ())
    # What the other memories support is there as before.
    (edge,) = full.graph.edges("Atlas")
    assert (edge.source, edge.relation, edge.target, len(edge.evidence)) == ("Ada Byron", "guards", "Atlas", 2)
    full.recall("who guards what", graph=1.0)
    assert in_files(cache) == []


def test_a_file_read_again_does_not_take_the_mark_away(kb, endpoint, tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text(f'{{"_id": "s", "text": "{TEXT}"}}\n{{"_id": "o", "text": "{OPEN[0].text}"}}\n')
    kb.ingest(path)
    kb.mark_sensitive(["s"])
    assert kb.ingest(path).kept_sensitive == 1
    kb.add(Memory("s", TEXT + " Again."))
    kb.embed(endpoint.spec)
    kb.build(Scripted())
    found = kb.get("s")
    assert found is not None and found.is_sensitive
    assert CANARY not in "".join(endpoint.bodies).lower()
    assert in_tables(kb.store.dsn) == []
    assert kb.unmark_sensitive(["s", "o"]) == 1
    assert kb.embed() == 1


def once(kb: KnowledgeBase, way: str, status: int = 200) -> Callable[[str], int]:
    """Another process acts on the first request that comes in, which is answered with a status."""
    acted: list[bool] = []

    def meanwhile(_: str) -> int:
        if acted:
            return 200
        acted.append(True)
        with hopgate.open(kb.store.dsn) as other:
            WAYS[way](other)
        return status

    return meanwhile


def asked(endpoint: WordEndpoint) -> int:
    """How many requests held the word of what turned."""
    return sum(CANARY in body.lower() for body in endpoint.bodies)


MODELS: dict[str, Callable[[KnowledgeBase, WordEndpoint], object]] = {
    "an extractor": lambda kb, endpoint: kb.build(OpenAI("m", endpoint.url, retry=QUICK)),
    "one of four at once": lambda kb, endpoint: kb.build(OpenAI("m", endpoint.url, retry=QUICK, together=4)),
    "an embedder": lambda kb, endpoint: kb.embed(endpoint.spec),
}


@pytest.mark.parametrize(
    ("model", "way", "status", "requests"),
    [
        # What waits behind others is not sent, and what was on its way when it turned is not sent again.
        *(("an extractor", way, 200, 0) for way in ("mark", "delete", "change", "rule")),
        *(("an embedder", way, status, 0) for way in ("mark", "change", "rule") for status in (200, 503)),
        *(("an extractor", "mark", status, 1) for status in (200, 503)),
        ("one of four at once", "mark", 503, 1),
    ],
)
def test_a_slow_model_gets_nothing_of_what_turned_meanwhile(
    kb, endpoint, cache, monkeypatch, model, way, status, requests
):
    monkeypatch.setattr(HostedEmbedder, "__init__", partialmethod(HostedEmbedder.__init__, batch_size=1, retry=QUICK))
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    secret = replace(SECRET, tags=())
    kb.add(*([secret, *OPEN] if requests else [*OPEN, secret]))
    endpoint.meanwhile = once(kb, way, status)
    MODELS[model](kb, endpoint)
    assert len(endpoint.bodies) >= 2 and asked(endpoint) == requests
    nothing_left(kb, cache)
    # The others are read all the same.
    made = "embedding IS NOT NULL" if model == "an embedder" else "id IN (SELECT memory_id FROM extractions)"
    read = {key for (key,) in rows(kb, f"SELECT external_id FROM memories WHERE {made}")}
    assert {memory.external_id for memory in OPEN} <= read


def test_names_of_a_first_build_are_not_embedded_after_their_memory_turned(kb, endpoint, cache):
    """All names are brought together at once, which a hosted embedder takes minutes over."""
    kb.add(*OPEN, SECRET)
    kb.embed(endpoint.spec)
    before = asked(endpoint)
    endpoint.meanwhile = once(kb, "mark", status=503)
    kb.build()
    assert asked(endpoint) == before + 1
    nothing_left(kb, cache)


def test_a_retriever_hands_on_nothing_that_a_rule_says_is_sensitive(kb):
    kb.add(Memory("r", "The vault opens."), Memory("s", "The vault has a code."), Memory("t", "The vault is green."))
    kb.mark_sensitive(["r"])
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    WAYS["rule"](kb)
    hits = kb.recall("vault", legs=("lexical",))
    assert {hit.external_id for hit in hits} == {"r", "s", "t"}
    assert [hit.external_id for hit, _ in readable_hits(kb, hits)] == ["t"]


# What a memory gave to others: names that later turns took over, sentences about them.
DAY = datetime(2024, 1, 1, tzinfo=UTC)
SISTER = Memory("m1", "Ada is my sister.", scope="a", thread="t", created_at=DAY)
LATER = Memory("m2", "She moved to Rome.", scope="a", thread="t", created_at=DAY + timedelta(1))


def names(kb: KnowledgeBase, scope: str | None = None) -> set[str]:
    return {concept.name for concept in kb.graph.concepts(scope=scope)}


@pytest.mark.parametrize("text", ["She moved to Rome.", "She moved to Canada."])
def test_a_name_goes_though_another_word_holds_its_letters(kb, text):
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
@pytest.mark.parametrize("which", [SISTER, LATER])
def test_a_memory_that_moves_takes_nothing_along(kb, moved, which):
    kb.add(SISTER, LATER)
    kb.build()
    assert {"Ada", "Rome"} <= names(kb, "a")
    kb.add(replace(which, **moved))
    kb.build()
    # Where the second is placed before the first, the first comes after it.
    still_told = which is SISTER and "created_at" in moved
    spelt = rows(kb, "SELECT external_id FROM mentions JOIN memories m ON m.id = memory_id WHERE spelling = 'Ada'")
    assert (("m2",) in spelt) == still_told
    if moved == {"scope": "b"} and which is LATER:
        assert names(kb, "b") == {"Rome"}
    kb.mark_sensitive(["m1"])
    assert "Ada" not in names(kb)


def test_a_scope_is_not_told_the_name_of_another(kb):
    mine = Memory("m1", "I live in Rome.", scope="a", thread="t", created_at=DAY)
    for scope in ("a", "b"):
        kb.add(replace(mine, scope=scope))
        kb.build()
    assert not [name for name in names(kb, "b") if "(a)" in name.lower()]


def test_statements_about_later_turns_go(kb, tmp_path, cache):
    told, other = "Ada moved to Rome.", "The NAS is in the cellar."
    kb.add(SISTER, LATER, Memory("m3", other, scope="a", thread="u", created_at=DAY))
    file = tmp_path / "statements.jsonl"
    lines = [{"doc_id": "m2", "statement": told}, {"doc_id": "m3", "statement": other}]
    file.write_text("\n".join(map(json.dumps, lines)))
    kb.embed()
    kb.build(statements=file)
    with kb.store.transaction() as connection:
        space = vectors.space(connection)
    assert space is not None
    kept = EmbeddingCache.default()
    assert len(kept.get(space.identity, [told, "Ada lives in Rome"], "document")) == 2
    kb.mark_sensitive(["m1"])
    assert [one["statement"] for one in kb.graph.statements()] == [other]
    assert not kept.get(space.identity, [told, "Ada lives in Rome"], "document")


def test_scrubbing_leaves_nothing_in_the_clusters_files(tmp_path, cache, bare):
    folder = tmp_path / "store"
    with hopgate.open(folder) as kb:
        kb.add(*OPEN, Memory("s", f"{CANARY} told Ada Byron about {CANARY}.", tags=(CANARY,)))
        kb.build()
        rows(kb, "ANALYZE")
        kb.delete(["s"])
    scrub = ("db", "scrub", "--data", str(folder))
    assert "add --yes" in bare(*scrub, status=2).refused()
    told = bare(*scrub, "--yes", "--json").json
    assert told["tables"] > 10 and any("backups" in line for line in told["left"])
    # Old files of the log are written over as the server goes on.
    assert [path for path in in_files(folder) if "pg_wal" not in path] == []
    assert in_files(cache) == []
    with hopgate.open(folder) as kb:
        assert len(kb) == 3 and kb.recall("Ada Byron", legs=("lexical",))
