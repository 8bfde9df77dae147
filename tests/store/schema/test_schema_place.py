"""In an owner's database: a schema of hopgate's own, columns of the table that is named, and all of it goes again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store.frozen import FrozenStore
from hopgate.store.schema import migrate
from hopgate.store.schema.place import SCHEMA
from hopgate.store.server.process import EmbeddedServer

CATALOGUE = {
    "tables": "SELECT relnamespace::regnamespace::text, relname, relkind FROM pg_class WHERE relnamespace::regnamespace"
    "::text !~ '^pg_|^information_schema'",
    "columns": "SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull, "
    "col_description(attrelid, attnum) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0 "
    "AND NOT attisdropped AND c.relnamespace::regnamespace::text !~ '^pg_|^information_schema'",
    "functions": "SELECT oid::regprocedure::text FROM pg_proc p WHERE pronamespace::regnamespace::text !~ '^pg_|^inf' "
    "AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')",
    "triggers": "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal",
    "schemas": "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'",
    "extensions": "SELECT extname FROM pg_extension",
}
OWNERS = """
CREATE TABLE memories (id serial PRIMARY KEY, content text, thread varchar(40), tags text[]);
CREATE TABLE relations (id serial PRIMARY KEY, who text);
CREATE TABLE facts (nothing int);
CREATE FUNCTION hopgate_language() RETURNS text LANGUAGE sql RETURN 'mine';
INSERT INTO memories (content, thread) VALUES ('Caddy runs on Atlas.', 'one'), ('Caddy moved to Borealis.', 'one');
"""


def catalogue(dsn: str) -> dict[str, set[tuple[Any, ...]]]:
    with psycopg.connect(dsn) as connection:
        return {name: set(connection.execute(sql).fetchall()) for name, sql in CATALOGUE.items()}


@pytest.fixture
def owners(server: EmbeddedServer, empty_dsn: str) -> Iterator[str]:
    """A database as somebody else's user sees it, whose search path knows nothing of hopgate."""
    role = f"owner_{uuid.uuid4().hex[:8]}"
    name = empty_dsn.partition("dbname=")[2]
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"ALTER DATABASE {name} OWNER TO {role}")
        connection.execute(f"ALTER SCHEMA public OWNER TO {role}")
        yield empty_dsn.replace("user=hopgate", f"user={role}")
        connection.execute(f"REASSIGN OWNED BY {role} TO hopgate")
        connection.execute(f"DROP ROLE {role}")


def test_recall_on_an_empty_database_creates_nothing(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector")
    before = catalogue(empty_dsn)
    with pytest.raises(HopgateError, match="run hopgate db upgrade"):
        hopgate.open(empty_dsn)
    assert catalogue(empty_dsn) == before


@pytest.mark.parametrize("memories", ["public.memories", "hopgate.memories"])
def test_an_owners_tables_stay_his_and_ours_go_again(owners: str, memories: str) -> None:
    with psycopg.connect(owners) as connection:
        connection.execute(OWNERS)
    before = catalogue(owners)
    with pytest.raises(HopgateError, match=r"--memories public\.memories"):
        hopgate.open(owners, upgrade=True)
    assert catalogue(owners) == before
    with hopgate.open(owners, upgrade=True, memories=memories) as kb:
        mine = memories.startswith("public")
        assert len(kb) == (2 if mine else 0)
        kb.add(Memory("new", "Borealis hosts Immich."))
        kb.build()
        assert kb.recall("Immich", legs=("lexical", "graph"))[0].external_id == "new"
        assert kb.graph.stats().memories == (3 if mine else 1)  # over a connection of its own
        with FrozenStore(kb.store) as frozen, frozen.transaction() as connection:
            assert connection.execute("SELECT count(*) FROM memories").fetchone() == (3 if mine else 1,)
        assert kb.language() == "english"
        assert kb.language("german") == "german"
    added = catalogue(owners)["tables"] - before["tables"]
    assert {schema for schema, name, kind in added if not name.startswith("memories_")} == {SCHEMA}
    with psycopg.connect(owners) as connection:
        connection.execute("DELETE FROM memories WHERE content LIKE '%Immich%'")
    if not mine:
        with psycopg.connect(owners) as connection:
            connection.execute("DELETE FROM hopgate.memories")
    migrate.downgrade(owners, "base")
    after = catalogue(owners)
    if mine:
        assert after == before
    else:
        left = after["tables"] - before["tables"]
        assert {name for _, name, kind in left if kind == "r"} == {"memories"}
        assert after["functions"] == before["functions"] and after["triggers"] == before["triggers"]


def test_what_is_in_the_way_is_listed_before_the_first_change(owners: str) -> None:
    with psycopg.connect(owners) as connection:
        connection.execute(
            "CREATE TABLE memories (id bigint, external_id text, importance int, tags jsonb, created_at text); "
            "INSERT INTO memories VALUES (1, 'a', 7, '[]', ''), (2, 'a', 1, '[]', ''); "
            "CREATE SCHEMA hopgate; CREATE TABLE hopgate.relations (x int); CREATE TABLE memories_scope (x int)"
        )
    before = catalogue(owners)
    with pytest.raises(HopgateError) as caught:
        hopgate.open(owners, upgrade=True, memories="public.memories")
    for reason in (
        "holds tables that hopgate did not make (relations)",
        "the id of public.memories is not unique",
        "the column tags is jsonb",
        "the column created_at is text",
        "1 importances are outside 0 to 1",
        "1 external ids stand in more than one row",
        "public.memories_scope has the name of an index",
    ):
        assert reason in str(caught.value)
    assert "7 things" in str(caught.value)
    assert catalogue(owners) == before


@pytest.mark.parametrize("memories", ["public.notes", "memories", "elsewhere.memories"])
def test_a_table_that_cannot_be_meant_is_refused(owners: str, memories: str) -> None:
    before = catalogue(owners)
    with pytest.raises(HopgateError, match=r"called memories|there is no table elsewhere\.memories"):
        hopgate.open(owners, upgrade=True, memories=memories)
    assert catalogue(owners) == before


def test_an_importance_that_somebody_writes_later_is_bounded(owners: str) -> None:
    with psycopg.connect(owners) as connection:
        connection.execute(OWNERS + "ALTER TABLE memories ADD COLUMN importance real")
    with hopgate.open(owners, upgrade=True, memories="public.memories") as kb:
        with kb.store.transaction() as connection:
            connection.execute("UPDATE memories SET importance = CASE WHEN id = 1 THEN 7 ELSE -2 END")
        assert sorted(hit.memory.importance for hit in kb.recall("Caddy", legs=("lexical",))) == [0, 1]


def _as_before(dsn: str) -> None:
    """Put everything where a hopgate without a schema of its own had put it."""
    with psycopg.connect(dsn) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'hopgate'::regnamespace AND relkind = 'r'"
        ).fetchall()
        functions = connection.execute(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'hopgate'::regnamespace"
        ).fetchall()
        for (name,) in tables:
            connection.execute(f"ALTER TABLE {name} SET SCHEMA public")
        for (name,) in functions:
            connection.execute(f"ALTER FUNCTION {name} SET SCHEMA public")
        for name in ("fold", "count", "recount"):
            connection.execute(f"ALTER FUNCTION public.hopgate_{name}_words() SET search_path = public")
        connection.execute("DROP SCHEMA hopgate")


@pytest.mark.parametrize("owner", [False, True])
def test_a_store_of_before_is_moved(owners: str, owner: bool) -> None:
    if owner:
        with psycopg.connect(owners) as connection:
            connection.execute("CREATE TABLE memories (id serial PRIMARY KEY, content text)")
    migrate.upgrade(owners, "0008", memories="public.memories" if owner else None)
    _as_before(owners)
    with psycopg.connect(owners) as connection:
        assert migrate.status(connection).current == "0008"
        connection.execute("INSERT INTO memories (external_id, content) VALUES ('old', 'Caddy runs on Atlas.')")
    with pytest.raises(HopgateError, match="run hopgate db upgrade"):
        hopgate.open(owners)
    with hopgate.open(owners, upgrade=True) as kb:
        kb.add(Memory("new", "Caddy moved to Borealis."))
        kb.build()
        found = kb.recall("Caddy", legs=("lexical", "graph"))
        assert {hit.external_id for hit in found} == {"old", "new"}
        with kb.store.transaction() as connection:
            connection.execute("SELECT hopgate_recount_words()")
    places = {name: schema for schema, name, kind in catalogue(owners)["tables"] if kind == "r"}
    assert places.pop("memories") == ("public" if owner else SCHEMA)
    assert set(places.values()) == {SCHEMA}
    assert all(name.startswith("hopgate.") for (name,) in catalogue(owners)["functions"])


def test_a_callers_pool_keeps_its_own_search_path(owners: str) -> None:
    migrate.upgrade(owners)
    with ConnectionPool(owners, min_size=1, max_size=1) as pool:
        with hopgate.open(pool=pool) as kb:
            kb.add(Memory("m", "Caddy runs on Atlas."))
            assert len(kb) == 1
        with pool.connection() as connection:
            assert connection.execute("SHOW search_path").fetchone() == ('"$user", public',)


def test_who_may_write_memories_needs_no_rights_of_hopgates(owners: str) -> None:
    with psycopg.connect(owners) as connection:
        connection.execute(OWNERS)
    migrate.upgrade(owners, memories="public.memories")
    with psycopg.connect(owners) as connection:
        connection.execute("GRANT INSERT ON memories TO PUBLIC; GRANT USAGE ON SEQUENCE memories_id_seq TO PUBLIC")
    role = f"app_{uuid.uuid4().hex[:8]}"
    admin = psycopg.connect(psycopg.conninfo.make_conninfo(owners, user="hopgate"), autocommit=True)
    with admin:
        admin.execute(f"CREATE ROLE {role} LOGIN")
        with psycopg.connect(psycopg.conninfo.make_conninfo(owners, user=role)) as connection:
            connection.execute("INSERT INTO memories (content) VALUES ('Grafana runs on rowan.')")
        admin.execute(f"DROP ROLE {role}")
    with hopgate.open(owners) as kb:
        assert len(kb.recall("Grafana", legs=("lexical",))) == 1


def test_who_has_no_rights_in_the_schema_is_told_so(owners: str) -> None:
    migrate.upgrade(owners)
    role = f"nobody_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(psycopg.conninfo.make_conninfo(owners, user="hopgate"), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN")
        with pytest.raises(HopgateError, match=r"may not do this|run hopgate db upgrade"):
            hopgate.open(psycopg.conninfo.make_conninfo(owners, user=role))
        admin.execute(f"DROP ROLE {role}")
