"""An owner's table whose rows are memories: read as it is, followed as its owner changes it, and left as it was."""

from typing import Any

import psycopg
import pytest
from cli_run import Runner
from pg_dumps import dumped

import hopgate
from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import owners_table, schema
from hopgate.store.owners_table import OwnersTable

# Flags as numbers, tags as texts, columns by other names, a trigger for each row, and a vector of words of the
# owner's own with an index that is called like one of hopgate's.
NOTES = """
CREATE TABLE notes (
  note_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL, user_id integer, session varchar(40),
  labels text, private integer DEFAULT 0, deleted_at timestamp, touched integer NOT NULL DEFAULT 0,
  created_at timestamp NOT NULL DEFAULT '2024-05-01',
  words tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED
);
CREATE INDEX memories_category ON notes USING gin (words);
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.touched := OLD.touched + 1; RETURN NEW; END $$;
CREATE TRIGGER touched BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION touch();
INSERT INTO notes (body, user_id, session, labels, private, deleted_at)
SELECT CASE WHEN n % 10 = 0 THEN 'The vault code of Zyxgard ' || n || ' is 4711.'
            WHEN n % 10 = 1 THEN '[SUPERSEDED] Ada ' || n || ' lives in London.'
            ELSE 'Ada Lovelace lives in Paris' || n || '.' END,
  n % 3, 's' || n / 10, CASE WHEN n % 2 = 0 THEN 'cat,vet' END,
  CASE WHEN n % 20 = 0 THEN NULL WHEN n % 10 = 0 THEN 1 ELSE 0 END,
  CASE WHEN n = 300 THEN '2024-06-01'::timestamp END
FROM generate_series(1, 300) n;
"""
OWNERS = OwnersTable(
    "public.notes",
    {"content": "body", "scope": "user_id", "thread": "session", "tags": "labels", "is_sensitive": "private"},
    hide="deleted_at IS NOT NULL",
    superseded="body LIKE '[SUPERSEDED]%'",
)
COLUMNS = tuple(
    word for pair in ("text=body", "scope=user_id", "thread=session", "tags=labels") for word in ("--map", pair)
)


def ask(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as connection:
        connection.execute("SET search_path = public")
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def secrets_with_traces(dsn: str) -> list[tuple[Any, ...]]:
    """Vectors of secrets, and what was made of their words."""
    return ask(
        dsn,
        "SELECT 'vector', id::text FROM hopgate.memories WHERE is_sensitive AND embedding IS NOT NULL "
        "UNION ALL SELECT 'concept', canonical_name FROM hopgate.concepts "
        "WHERE (canonical_name, aliases)::text ~ 'Zyxgard' "
        "UNION ALL SELECT 'name', name FROM hopgate.concept_names WHERE name || normal_name ~* 'zyxgard' "
        "UNION ALL SELECT 'fact', f.id::text FROM hopgate.facts f JOIN hopgate.memories m ON m.id = f.memory_id "
        "WHERE m.is_sensitive UNION ALL SELECT 'edge', e.id::text FROM hopgate.concept_edges e "
        "JOIN hopgate.memories m ON m.id = ANY(e.evidence_memory_ids) WHERE m.is_sensitive",
    )


@pytest.fixture
def notes(empty_dsn: str) -> str:
    with psycopg.connect(empty_dsn) as connection:
        connection.execute(NOTES.encode())
    return empty_dsn


def test_a_table_goes_the_whole_way_and_is_left_as_it_was(notes, endpoint):
    before = dumped(notes, "-t", "public.notes")
    with hopgate.open(notes, upgrade=True, memories=OWNERS) as kb:
        assert len(kb) == 299
        known = {memory.external_id: memory for memory in kb.export()}
        assert sum(memory.is_sensitive for memory in known.values()) == 29  # of 30, one is hidden
        assert known["2"].tags == ("cat", "vet") and known["2"].scope == "2" and known["2"].thread == "s0"
        assert known["11"].superseded_at is not None and known["12"].superseded_at is None
        kb.embed(endpoint.spec)
        kb.build(extractor="rules")
        assert not any("4711" in body for body in endpoint.bodies)
        assert secrets_with_traces(notes) == []
        for scope in ("0", "1", "2"):
            hits = kb.recall("Ada Lovelace", scope=scope, k=50)
            assert hits and {hit.memory.scope for hit in hits} == {scope}
            assert not any(hit.memory.content.startswith("[SUPERSEDED]") for hit in hits)
    with psycopg.connect(notes) as connection:
        schema.drop(connection)
    assert dumped(notes, "-t", "public.notes") == before


def test_what_the_owner_changes_is_followed_in_the_same_transaction(notes, endpoint):
    with hopgate.open(notes, upgrade=True, memories=OWNERS) as kb:
        kb.embed(endpoint.spec)
        ask(notes, "UPDATE notes SET body = 'Zyxgard keeps the vault in Paris.' WHERE note_id = 2")
        kb.embed()
        kb.build(extractor="rules")
        assert kb.graph.concept("Zyxgard") is not None
        ask(notes, "UPDATE notes SET private = 1 WHERE note_id = 2")
        assert secrets_with_traces(notes) == []
        assert "2" not in {hit.external_id for hit in kb.recall("vault", scope="2", legs=("dense", "graph"), k=300)}
        ask(notes, "UPDATE notes SET labels = 'dog', body = 'Bea feeds the dog.' WHERE note_id = 3")
        assert kb.pending_vectors() == 1 and kb.extraction_states()["pending"] >= 1
        done = next(iter(kb.upkeep.watch(wait=0.1, extractor="rules")))
        assert done.embedded == 1 and done.linked >= 1 and kb.extraction_states().get("pending", 0) == 0
        ask(notes, "UPDATE notes SET deleted_at = now() WHERE note_id = 4; DELETE FROM notes WHERE note_id = 5")
        assert kb.get("4") is None and kb.get("5") is None
        ask(
            notes,
            "UPDATE notes SET deleted_at = NULL WHERE note_id = 4; UPDATE notes SET private = 0 WHERE note_id = 2",
        )
        again, opened = kb.get("4"), kb.get("2")
        assert again is not None and opened is not None and not opened.is_sensitive
        kb.mark_sensitive(["6"])
        assert ask(notes, "SELECT private FROM notes WHERE note_id = 6") == [(1,)]
        ask(notes, "UPDATE notes SET session = 'other' WHERE note_id = 6")
        marked = kb.get("6")
        assert marked is not None and marked.is_sensitive
        kb.build(extractor="rules")
        ask(notes, "TRUNCATE notes")
        assert len(kb) == 0 and kb.graph.concepts() == []


def test_what_hopgate_writes_goes_back_and_nothing_else(notes):
    with hopgate.open(notes, upgrade=True, memories=OWNERS) as kb:
        kb.add(Memory("mine", "Cy moved to Rome.", tags=("a", "b"), scope="2", thread="t", is_sensitive=True))
        new = ask(notes, "SELECT body, user_id, session, labels, private FROM notes WHERE body LIKE 'Cy %'")
        assert new == [("Cy moved to Rome.", 2, "t", "a,b", 1)]
        changed = kb.get("2")
        assert changed is not None
        kb.add(Memory("2", "Ada left.", tags=changed.tags, scope=changed.scope, thread=changed.thread))
        row = ask(notes, "SELECT body, user_id, labels, private, touched FROM notes WHERE note_id = 2")
        assert row == [("Ada left.", 2, "cat,vet", 0, 1)]
        assert ask(notes, "SELECT count(*), sum(touched) FROM notes WHERE note_id <> 2") == [(300, 0)]
        for scope, text in (("home", "A note of zyxwords."), ("1", "")):
            with pytest.raises(HopgateError, match="does not take this memory") as refused:
                ask(
                    notes,
                    "ALTER TABLE notes DROP CONSTRAINT IF EXISTS full_of; "
                    "ALTER TABLE notes ADD CONSTRAINT full_of CHECK (body !~ 'zyx')",
                )
                kb.add(Memory("no", text or "Another of zyxwords.", scope=scope))
            assert "zyxwords" not in str(refused.value)
        assert kb.get("no") is None
        kb.delete(["mine", "3"])
        assert ask(notes, "SELECT count(*) FROM notes WHERE note_id = 3 OR body LIKE 'Cy %'") == [(0,)]


def test_flags_are_asked_for_and_triggers_and_columns_are_told(notes, capsys):
    bare = Runner(capsys)
    ask(
        notes,
        "ALTER TABLE notes ADD COLUMN hash text; UPDATE notes SET hash = md5(body); "
        "ALTER TABLE notes ALTER hash SET NOT NULL",
    )
    before = dumped(notes, "-t", "public.notes")
    where = ("--dsn", notes, "--memories", "public.notes", *COLUMNS)
    refused = bare("db", "upgrade", *where, status=2).refused()
    assert "the column private may tell which rows are sensitive (say --map is_sensitive=private" in refused
    assert "no condition over public.notes" in bare("db", "upgrade", *where, "--hide", "gone IS", status=2).refused()
    assert "name it with --memories" in bare("db", "upgrade", "--dsn", notes, *COLUMNS, status=2).refused()
    assert "both which column" in bare("db", "upgrade", *where, "--embedding-column", "x", status=2).refused()
    assert dumped(notes, "-t", "public.notes") == before
    made = bare("db", "upgrade", *where, "--map", "is_sensitive=private", "--hide", "deleted_at IS NOT NULL")
    assert "no value for its column hash" in made.err and "triggers of yours fire" in made.err and "touched" in made.err
    assert "the rows of public.notes are memories" in made.out
    assert "no value for the column hash" in bare("add", "A note.", "--dsn", notes, status=2).refused()
    assert ask(notes, "SELECT count(*) FROM hopgate.memories WHERE is_sensitive") == [(29,)]


@pytest.mark.parametrize(
    ("kind", "secret", "plain"),
    [
        ("boolean", "true", "false"),
        ("numeric", "2", "0"),
        ("text", "'yes'", "'no'"),
        ("text", "'Private'", "' FALSE '"),
    ],
)
def test_a_flag_of_any_kind_is_read_as_what_it_is(empty_dsn, kind, secret, plain):
    ask(
        empty_dsn,
        f"CREATE TABLE notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), content text, is_sensitive {kind}); "
        f"INSERT INTO notes (content, is_sensitive) VALUES ('s', {secret}), ('o', {plain}), ('n', NULL)",
    )
    schema.upgrade(empty_dsn, memories="public.notes")
    rows = ask(empty_dsn, "SELECT content, is_sensitive FROM hopgate.memories ORDER BY content")
    assert rows == [("n", True), ("o", False), ("s", True)]


def test_vectors_of_the_owners_are_taken_from_a_declared_embedder(notes, endpoint):
    with hopgate.open(notes, upgrade=True, memories=OWNERS) as kb:
        kb.embed(endpoint.spec)
        space = kb.store.run(
            lambda connection: connection.execute("SELECT identity -> 'dimension' FROM embedding_space").fetchone()
        )
    assert space is not None
    ask(
        notes,
        f"ALTER TABLE notes ADD COLUMN vec public.halfvec({space[0]}); "
        "UPDATE notes n SET vec = m.embedding FROM hopgate.memories m WHERE m.row_key = n.note_id::text; "
        "UPDATE notes SET vec = (SELECT vec FROM notes WHERE note_id = 2) WHERE private IS DISTINCT FROM 0",
    )
    with psycopg.connect(notes) as connection:
        schema.drop(connection)
    asked = len(endpoint.bodies)
    from hopgate.store.fill import resolved

    with KnowledgeBase(hopgate.open(notes, upgrade=True, memories=OWNERS).store) as kb:
        identity = resolved(endpoint.spec).identity
        taken = kb.store.run(lambda connection: owners_table.copy_vectors(connection, "vec", identity))
        # Their tokens are made by the store's own model.
        assert taken == 270 and kb.embed(endpoint.spec) == 270 and kb.pending_vectors() == 0
        assert secrets_with_traces(notes) == []
    assert len(endpoint.bodies) - asked <= 1  # the embedder's identity


def test_what_guarded_memories_is_named_when_it_goes(empty_dsn, capsys):
    ask(empty_dsn, "CREATE TABLE notes (id int PRIMARY KEY, content text); INSERT INTO notes VALUES (1, 'a'), (2, 'b')")
    with hopgate.open(empty_dsn, upgrade=True, memories="public.notes") as kb:
        kb.mark_sensitive(["1"])
        kb.add_sensitivity(SensitivityRules(("private",), ("PIN",)))
    said = Runner(capsys)("db", "drop", "--yes", "--no-backup", "--dsn", empty_dsn).out
    assert "the rules of sensitivity: give the next store --sensitive-tag private --sensitive-match PIN" in said
    assert "the marks of 1 sensitive memories, for which your table has no column" in said
