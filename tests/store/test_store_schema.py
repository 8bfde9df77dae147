"""The schema in an owner's database: it comes whole or not at all, and goes again; the owner's tables stay."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from pg_dumps import dumped

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store import schema
from hopgate.store.owners_table import OwnersTable
from hopgate.store.server import EmbeddedServer
from hopgate.store.store import FrozenStore

# Tables of the owner's that are called like some of hopgate's, and a function.
OWNERS = """
CREATE TABLE memories (id serial PRIMARY KEY, content text, thread varchar(40), tags text[]);
CREATE INDEX memories_category ON memories (thread);
CREATE TABLE relations (id serial PRIMARY KEY, who text);
CREATE TABLE facts (nothing int);
CREATE FUNCTION hopgate_language() RETURNS text LANGUAGE sql RETURN 'mine';
INSERT INTO memories (content, thread) VALUES ('Caddy runs on Atlas.', 'one'), ('Caddy moved to Borealis.', 'one');
"""


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


@pytest.fixture
def stranger(owners: str) -> Iterator[str]:
    """Another user of that database, who has been granted nothing."""
    role = f"stranger_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(psycopg.conninfo.make_conninfo(owners, user="hopgate"), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN")
        yield psycopg.conninfo.make_conninfo(owners, user=role)
        admin.execute(f"DROP ROLE {role}")


def test_recall_on_an_empty_database_creates_nothing(empty_dsn):
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector")
    before = dumped(empty_dsn, "-s")
    with pytest.raises(HopgateError, match="run hopgate db upgrade"):
        hopgate.open(empty_dsn)
    assert dumped(empty_dsn, "-s") == before


@pytest.mark.parametrize("memories", ["public.memories", "hopgate.memories"])
def test_an_owners_tables_stay_and_ours_go_again(owners, memories):
    with psycopg.connect(owners) as connection:
        connection.execute(OWNERS)
    before = dumped(owners, "-s")
    with pytest.raises(HopgateError, match=r"--memories public\.memories"):
        hopgate.open(owners, upgrade=True)
    assert dumped(owners, "-s") == before
    with hopgate.open(owners, upgrade=True, memories=memories) as kb:
        count = 3 if memories.startswith("public") else 1
        kb.add(Memory("new", "Borealis hosts Immich."))
        kb.build()
        assert len(kb) == count
        assert kb.recall("Immich", legs=("lexical", "graph"))[0].external_id == "new"
        assert kb.graph.stats().memories == count  # over a connection of its own
        with FrozenStore(kb.store) as frozen, frozen.transaction() as connection:
            assert connection.execute("SELECT count(*) FROM memories").fetchone() == (count,)
        assert kb.language() == "english"
        assert kb.language("german") == "german"
    added = [line for line in dumped(owners, "-s") if line not in before and line.startswith("CREATE TABLE")]
    assert added and all(line.startswith(f"CREATE TABLE {schema.SCHEMA}.") for line in added)
    with psycopg.connect(owners) as connection:
        schema.drop(connection)
    assert dumped(owners, "-s") == before


def test_what_is_in_the_way_is_listed_before_the_first_change(owners):
    with psycopg.connect(owners) as connection:
        connection.execute(
            "CREATE TABLE memories (id bigint, external_id text, importance text, tags bytea); "
            "INSERT INTO memories VALUES (1, 'a', '', ''), (2, 'a', '', ''); "
            "CREATE SCHEMA hopgate; CREATE TABLE hopgate.relations (x int)"
        )
    before = dumped(owners, "-s")
    with pytest.raises(HopgateError) as caught:
        columns = {"scope": "user", "nonsense": "id"}
        hopgate.open(owners, upgrade=True, memories=OwnersTable("public.memories", columns))
    for reason in (
        "holds tables that hopgate did not make (relations)",
        "has no primary key of one column",
        "has no column user for scope",
        "a memory has no field nonsense",
        "has no column content",
        "the column tags is bytea",
        "the column importance is text",
        "1 external ids stand in more than one row",
    ):
        assert reason in str(caught.value)
    assert "8 things" in str(caught.value)
    assert dumped(owners, "-s") == before


def test_what_depends_on_hopgates_tables_is_named_before_they_go(owners):
    schema.upgrade(owners)
    with psycopg.connect(owners, autocommit=True) as connection:
        connection.execute("CREATE VIEW mine AS SELECT content FROM hopgate.memories")
        with pytest.raises(HopgateError, match="view mine depends"), connection.transaction():
            schema.drop(connection)
        connection.execute("DROP VIEW mine")
        schema.drop(connection)
        assert schema.status(connection).state == "absent"


def test_many_that_open_an_empty_database_at_once_take_turns(empty_dsn):
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector CASCADE")
    with ThreadPoolExecutor(6) as pool:
        for kb in pool.map(lambda dsn: hopgate.open(dsn, upgrade=True), [empty_dsn] * 6):
            kb.close()


def test_another_versions_store_is_refused(dsn):
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE hopgate.schema_version SET version = 9999")
    for upgrade in (False, True):
        with pytest.raises(HopgateError, match="export it with the version that made it, and ingest here"):
            hopgate.open(dsn, upgrade=upgrade)


def test_who_may_write_the_table_needs_no_rights_of_hopgates(owners, stranger):
    with psycopg.connect(owners) as connection:
        connection.execute(OWNERS)
    schema.upgrade(owners, memories="public.memories")
    with psycopg.connect(owners) as connection:
        connection.execute("GRANT INSERT ON memories TO PUBLIC; GRANT USAGE ON SEQUENCE memories_id_seq TO PUBLIC")
    with psycopg.connect(stranger) as connection:
        connection.execute("INSERT INTO memories (content) VALUES ('Grafana runs on rowan.')")
    with hopgate.open(owners) as kb:
        assert len(kb.recall("Grafana", legs=("lexical",))) == 1
