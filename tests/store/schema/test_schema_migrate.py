"""Migrations: up, down, additive to an owner's table, and never past what the code knows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

import hopgate
from hopgate.corpus import parse_memory, to_record
from hopgate.errors import HopgateError
from hopgate.store.schema import migrate
from hopgate.store.schema.place import VERSION_TABLE

OWNERS_TABLE = """
CREATE TABLE memories (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, external_id text, content text NOT NULL, category text,
  tags text[], expanded_keywords {keywords}, importance real DEFAULT 0.5, is_sensitive boolean NOT NULL DEFAULT false,
  scope text, created_at timestamptz NOT NULL DEFAULT now(),
  search_vector tsvector GENERATED ALWAYS AS (setweight(to_tsvector('english', content), 'A')) STORED
);
INSERT INTO memories (external_id, content, tags, importance)
SELECT 'old' || n, 'the ' || n || 'th backup of atlas', '{{t}}', 0.3 FROM generate_series(1, 2000) n;
"""


def test_head_is_alembics() -> None:
    config = Config()
    config.set_main_option("script_location", "hopgate.store.schema:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD


def test_up_and_down_and_up(empty_dsn: str) -> None:
    migrate.upgrade(empty_dsn)
    with hopgate.open(empty_dsn) as kb:
        kb.add(hopgate.Memory("m", "stays"))
    migrate.downgrade(empty_dsn, "0001")
    with psycopg.connect(empty_dsn) as connection:
        assert migrate.status(connection).state == "behind"
        assert connection.execute("SELECT to_regclass('concepts')").fetchone() == (None,)
    migrate.downgrade(empty_dsn, "base")
    with psycopg.connect(empty_dsn) as connection:
        assert migrate.status(connection).state == "absent"
    migrate.upgrade(empty_dsn)
    with hopgate.open(empty_dsn) as kb:
        assert kb.get("m") is not None
    with pytest.raises(HopgateError, match="no schema 'nowhere'"):
        migrate.downgrade(empty_dsn, "nowhere")


@pytest.mark.parametrize("keywords", ["text[]", "text"])
def test_an_owners_table_keeps_its_rows_and_its_search(empty_dsn: str, keywords: str) -> None:
    search = "SELECT id, ts_rank(search_vector, q) FROM memories, to_tsquery('backup & atlas') q ORDER BY 2 DESC, 1"
    with psycopg.connect(empty_dsn) as connection:
        connection.execute(OWNERS_TABLE.format(keywords=keywords))
        columns = "id, external_id, content, tags, expanded_keywords, importance, is_sensitive, scope, created_at"
        before = connection.execute(f"SELECT {columns} FROM memories ORDER BY id").fetchall()
        found = connection.execute(search).fetchall()
    with pytest.raises(HopgateError, match="run hopgate db upgrade"):
        hopgate.open(empty_dsn)
    with hopgate.open(empty_dsn, upgrade=True, memories="public.memories") as kb:
        assert len(kb) == 2000
        assert kb.recall("atlas backup", legs=("lexical",), k=1)[0].memory.importance == 0.3
        kb.add(hopgate.Memory("new", "a note on borealis", expanded_keywords=("aurora", "north")))
        assert kb.recall("borealis", legs=("lexical",))[0].external_id == "new"
        kb.delete(["new"])
    with psycopg.connect(empty_dsn) as connection:
        assert connection.execute(f"SELECT {columns} FROM memories ORDER BY id").fetchall() == before
        assert connection.execute(search).fetchall() == found
        invalid = connection.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid").fetchone()
        assert invalid == (0,)


def test_an_owners_rows_without_ids_and_with_nulls_go_the_whole_way(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as connection:
        connection.execute(
            "CREATE TABLE memories (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text, "
            "category text, tags text, expanded_keywords text, importance real, "
            "is_sensitive boolean, created_at timestamp, extra jsonb)"
        )
        connection.execute(
            "INSERT INTO memories (content, is_sensitive) VALUES ('Caddy runs on Atlas.', false), (NULL, false), "
            "('Borealis is the host of Caddy.', false), ('The pin is quibble.', NULL)"
        )
    with hopgate.open(empty_dsn, upgrade=True, memories="public.memories") as kb:
        assert [hit.external_id for hit in kb.recall("caddy", legs=("lexical",), exclude=["1"])] == ["3"]
        assert kb.extract().memories == 3  # what does not say whether it is sensitive is
        assert kb.extraction_states() == {"complete": 2, "empty": 1}
        assert kb.extract().skipped == 3
        records = [to_record(memory) for memory in kb.export()]
        assert [record["_id"] for record in records] == ["1", "2", "3", "4"]
        assert kb.add(*map(parse_memory, records)).added == 0
        written = kb.add(*map(parse_memory, records))
        assert (written.added, written.changed, len(kb)) == (0, (), 4)
        kb.mark_sensitive(["3"])
        memory = kb.get("3")
        assert memory and memory.is_sensitive
        assert kb.delete(["1"]) == 1 and len(kb) == 3


def test_a_table_of_another_kind_of_id_is_refused(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("CREATE TABLE memories (id uuid PRIMARY KEY, content text)")
    with pytest.raises(HopgateError, match="memories table is uuid"):
        hopgate.open(empty_dsn, upgrade=True, memories="public.memories")


def test_many_that_open_an_empty_database_at_once_take_turns(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector CASCADE")
    with ThreadPoolExecutor(6) as pool:
        for kb in pool.map(lambda dsn: hopgate.open(dsn, upgrade=True), [empty_dsn] * 6):
            kb.close()


def test_a_newer_schema_is_refused(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(HopgateError, match="newer than this hopgate's"):
        hopgate.open(dsn)
