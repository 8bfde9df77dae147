"""Out and in again: an export gives an equal store, a backup an equal one to the byte."""

import csv
import json
import stat
import zipfile
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_run import Runner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.exports.graph import node_link, write_network
from hopgate.exports.memories import write_csv, write_vault
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.sources.read import read_source
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import Edge
from hopgate.store.schema import own_tables

_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
_key = st.none() | st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
_moments = st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1))
_names = st.lists(st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=8), max_size=3)
_memory = st.builds(
    lambda **fields: fields,
    text=_text,
    title=st.text(st.characters(categories=["L", "N"]), max_size=8),
    tags=_names.map(tuple),
    category=_key,
    expanded_keywords=_names.map(tuple),
    importance=st.floats(0, 1),
    is_sensitive=st.booleans(),
    scope=_key,
    created_at=_moments,
    thread=_key,
    reply_to=_key,
    language=st.sampled_from([None, "german", "simple"]),
)


def facts(kb: KnowledgeBase) -> list[tuple[object, ...]]:
    return sorted(
        (e.source, e.relation, e.target, e.valid_from, e.valid_to, e.evidence) for e in kb.graph.edges() if e.evidence
    )


@pytest.fixture
def notes(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        Memory("m1", "Ada Lovelace lives in London.", tags=("people",), created_at=datetime(2024, 5, 1)),
        Memory("m2", "Bea Byron lives in Rome.", title="Bea: a/note"),
        Memory("m3", "The safe's code hangs in Paris Hilton's attic.", is_sensitive=True),
        Memory("m4", "Ada Lovelace lives in Turin.", superseded_by="m1"),
    )
    kb.build()
    return kb


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(_memory, min_size=1, max_size=5), superseded=st.booleans())
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_ingested_is_an_equal_store(kb, second, run, tmp_path, form, rows, superseded):
    kb.delete([memory.external_id for memory in kb.export()])
    made = [Memory(f"m{number}", **fields) for number, fields in enumerate(rows)]
    if superseded and len(made) > 1:
        made[0] = Memory("m0", superseded_by="m1", **rows[0])
    kb.add(*made)
    path = tmp_path / f"all.{form}"
    exported(run, form, path)
    second.delete([memory.external_id for memory in second.export()])
    second.ingest(path)
    assert list(second.export()) == list(kb.export())


def exported(run: Runner, form: str, path: Path) -> Path:
    """Write a form of the store, and give the file or the folder."""
    run("export", "--format", form, "--out", str(path))
    return path


def test_triples_give_the_same_edges(notes, second, run, bare, tmp_path):
    memories = exported(run, "jsonl", tmp_path / "c.jsonl")
    triples = exported(run, "triples", tmp_path / "t.jsonl")
    assert "Hilton" not in triples.read_text()
    bare("ingest", str(memories), "--later", "--dsn", second.store.dsn)
    replay = ("--extractor", "replay", "--model", str(triples), "--single-valued", "lives in")
    bare("build", *replay, "--dsn", second.store.dsn)
    assert facts(second) == facts(notes) and len(facts(notes)) == 3
    assert {c.name: c.kind for c in second.graph.concepts()} == {c.name: c.kind for c in notes.graph.concepts()}


def test_a_backup_restored_is_equal_by_checksum(notes, second, tmp_path):
    notes.embed()
    notes.build()
    made = notes.upkeep.backup(tmp_path / "one.hopgate")
    assert stat.S_IMODE((tmp_path / "one.hopgate").stat().st_mode) == 0o600
    with second.store.listening("hopgate_memories") as notified:
        restored = second.upkeep.restore(tmp_path / "one.hopgate")
        assert not notified(0.1)
        again = second.upkeep.backup(tmp_path / "two.hopgate")
        assert restored == made and again == made and made.memories == 4
        assert list(second.export()) == list(notes.export()) and facts(second) == facts(notes)
        question = "where does Ada live"
        assert [hit.external_id for hit in second.recall(question)] == [
            hit.external_id for hit in notes.recall(question)
        ]
        # New rows get new ids.
        second.add(Memory("m5", "Cid Curie lives in Oslo."))
        assert notified(10)
        second.embed()
        second.build()
        assert len(second) == 5 and len(facts(second)) == 4
        with pytest.raises(HopgateError, match="holds 5 memories: restore into an empty one"):
            second.upkeep.restore(tmp_path / "one.hopgate")
    with pytest.raises(HopgateError, match="exists already"):
        notes.upkeep.backup(tmp_path / "one.hopgate")


def test_every_table_of_hopgate_is_in_a_backup(kb):
    with kb.store.transaction() as connection:
        # What is not logged is for running processes alone.
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'hopgate'::regnamespace AND relkind IN ('r', 'p') "
            "AND relpersistence = 'p' AND NOT relispartition"
        ).fetchall()
    assert {row[0] for row in rows} - {"schema_version"} == set(own_tables())


def test_a_damaged_backup_is_refused_and_nothing_is_restored(notes, second, tmp_path):
    notes.upkeep.backup(tmp_path / "good")
    with zipfile.ZipFile(tmp_path / "good") as old, zipfile.ZipFile(tmp_path / "changed", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"London", b"Londin"))
    (tmp_path / "cut").write_bytes((tmp_path / "good").read_bytes()[:-400])
    (tmp_path / "odd").write_bytes(b"no archive")
    reasons = {"changed": "is damaged", "cut": "not a backup", "odd": "not a backup", "gone": "No such"}
    for name, reason in reasons.items():
        with pytest.raises(HopgateError, match=reason):
            second.upkeep.restore(tmp_path / name)
    assert len(second) == 0


def test_a_vault_takes_titles_that_are_long_in_bytes(tmp_path):
    titles = ("記" * 90, "記" * 90, "🦉" * 90, "é" * 100, "x" * 300)
    made = [Memory(f"m{number}", "It hums.", title=title) for number, title in enumerate(titles)]
    assert write_vault(tmp_path / "vault", made, [], [], {}) == (0, len(made))
    names = sorted(path.name for path in (tmp_path / "vault" / "Memories").iterdir())
    assert len(names) == len(made) and all(len(name.encode()) <= 255 for name in names)
    assert f"{'記' * 80}.md" in names and f"{'記' * 80} 2.md" in names and f"{'é' * 100}.md" in names


def test_a_vault_has_a_page_a_concept_and_nothing_sensitive(notes, second, run, tmp_path):
    out = exported(run, "obsidian", tmp_path / "vault")
    ada = (out / "Concepts" / "Ada Lovelace.md").read_text()
    assert "- lives in [[London]] ([[m1]])" in ada and "- [[m1]]" in ada
    assert "[[Ada Lovelace]] lives in it" in (out / "Concepts" / "London.md").read_text()
    assert "Mentions: " in (out / "Memories" / "m1.md").read_text() and (out / "Memories" / "Bea a note 2.md").exists()
    assert not any("attic" in path.read_text() or "Hilton" in path.read_text() for path in out.rglob("*.md"))
    second.ingest(out)
    assert second.get("Concepts/Ada Lovelace.md") is not None
    run("export", "--format", "obsidian", "--out", str(out), status=2).refused()


def test_a_sqlite_database_comes_back(notes, second, run, tmp_path):
    second.ingest(exported(run, "sqlite", tmp_path / "m.sqlite"))
    rows, others = (
        [(m.external_id, m.content, m.tags, m.is_sensitive, m.created_at) for m in one.export()]
        for one in (second, notes)
    )
    assert rows == others


def test_what_is_written_is_obeyed_by_no_program_and_is_the_owners_alone(tmp_path):
    made = [Memory(f"m{at}", text) for at, text in enumerate(("=1+1", "- one", "'=x", "'tis", "+49"))]
    with (tmp_path / "all.csv").open("w", newline="") as out:
        write_csv(made, out)
    rows = list(csv.reader((tmp_path / "all.csv").open(newline="")))[1:]
    assert [row[2] for row in rows] == ["'=1+1", "'- one", "''=x", "'tis", "'+49"]
    assert [memory.text for memory in read_source(tmp_path / "all.csv").memories] == [memory.text for memory in made]
    odd = Concept(1, "<img src=x> [a](b)\x01\ufffe", ("a\u2028b",), "k: {x}", 0)
    said = Edge("it", "says |[x](y)", "<b>", 1.0, None, None, None, None, ("m1",), source_id=1)
    for name in ("graph.json", "graph.xml"):
        write_network(node_link([odd], []), tmp_path / name)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert len(ElementTree.parse(tmp_path / "graph.xml").findall(".//{*}node")) == 1
    write_vault(tmp_path / "vault", [Memory("m1", "It hums.", title="<b>[[x]]")], [odd], [said], {})
    assert stat.S_IMODE((tmp_path / "vault").stat().st_mode) == 0o700
    page, concept = (next((tmp_path / "vault" / name).iterdir()).read_text() for name in ("Memories", "Concepts"))
    assert "# &lt;b>\\[\\[x\\]\\]\n" in page
    assert not [obeyed for obeyed in ("<img", "[a](b)", "<b>", "\u2028") if obeyed in concept]


def test_statements_come_back(kb, run, tmp_path):
    kb.add(Memory("m1", "Yes, the blue one."), Memory("m2", "The code is 4711."))
    row = {"doc_id": "m1", "statement": "Ada bought the blue kettle.", "subject": "Ada", "valid_from": "2024-03-01"}
    secret = {"doc_id": "m2", "statement": "The code of the safe is 4711."}
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(secret)}\n")
    kb.build(statements=tmp_path / "in.jsonl")
    assert len(kb.graph.statements()) == 2
    kb.mark_sensitive(["m2"])
    assert json.loads(exported(run, "statements", tmp_path / "out.jsonl").read_text()) == row
