"""A store and a SQLite file in step: random changes on both sides, and kills in between."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from reliability.canary import CANARY

from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.sources.read import read_source
from hopgate.store.sqlite import SqliteLexical, create, insertion, to_values

SECRET = "canary-4711"
# A run that ends itself at a statement, as if it were killed there.
KILLED = """
import os, signal, sys, psycopg, hopgate
left = int(sys.argv[3])
execute = psycopg.Cursor.execute
def counted(*given, **options):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(*given, **options)
with hopgate.open(sys.argv[1]) as kb:
    psycopg.Cursor.execute = counted
    kb.sync(sys.argv[2])
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cache.db"
    create(path, [])
    return path


def rows(file):
    with closing(sqlite3.connect(file)) as connection:
        names = "external_id, content, tags, importance, is_sensitive"
        return {row[0]: row[1:] for row in connection.execute(f"SELECT {names} FROM memories")}


def run(file, statement, values=()):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


def insert(file, memory):
    run(file, insertion(to_values(memory)), to_values(memory))


def held(memory):
    values = to_values(memory)
    return tuple(values[name] for name in ("content", "tags", "importance", "is_sensitive"))


def equal(kb: KnowledgeBase, file) -> None:
    """What either side may show is on both, and what is sensitive on one is not open on the other."""
    here = {memory.external_id: memory for memory in kb.export()}
    there = rows(file)
    open_here = {key: held(memory) for key, memory in here.items() if not memory.is_sensitive}
    assert open_here == {key: row for key, row in there.items() if not row[-1]}


def change(kb: KnowledgeBase, file, draw: random.Random, number: int) -> None:
    """One random change on one side."""
    key, text = f"m{draw.randrange(60)}", f"note {number} on {draw.choice(['tea', 'ships', 'rain; fog'])}"
    tags = draw.choice([(), ("a",), ("a", "b,c")])
    what = draw.choice(["write", "write", "write", "delete", "mark", "new secret"])
    if draw.random() < 0.5:
        known = kb.get(key)
        if what == "write" and not (known and known.is_sensitive):
            kb.add(Memory(key, text, tags=tags, title=draw.choice(["", "Title"])))
        elif what == "delete" and known:
            kb.delete([key])
        elif what == "mark" and known:
            kb.mark_sensitive([key])
        elif what == "new secret":
            kb.add(Memory(f"here{number}", f"{SECRET} here", is_sensitive=True))
        return
    known = rows(file).get(key)
    if what == "write" and not (known and known[-1]):
        run(file, "DELETE FROM memories WHERE external_id = ?", (key,))
        insert(file, Memory(key, text, tags=tags))
    elif what == "delete":
        run(file, "DELETE FROM memories WHERE external_id = ?", (key,))
    elif what == "mark":
        run(file, "UPDATE memories SET is_sensitive = 1 WHERE external_id = ?", (key,))
    elif what == "new secret":
        insert(file, Memory(f"there{number}", f"{SECRET} there", is_sensitive=True))


def test_a_thousand_changes_on_both_sides_with_ten_kills_between_leave_them_equal(kb, dsn, file):
    """Ten processes are started to be killed: some seconds."""
    draw = random.Random(7)
    for number in range(1000):
        change(kb, file, draw, number)
        if number % 100 == 50:
            given = [sys.executable, "-c", KILLED, dsn, str(file), str(draw.randrange(1, 30))]
            assert subprocess.run(given, check=False).returncode in (0, -signal.SIGKILL)
        if number % 40 == 39:
            kb.sync(file)
            equal(kb, file)
    assert not any(SECRET in memory.content for memory in kb.export() if memory.external_id.startswith("there"))
    assert not any(SECRET in row[0] for key, row in rows(file).items() if key.startswith("here"))
    assert str(kb.sync(file)) == "0 into the store; 0 into the file; 0 deleted; 0 marked sensitive"


def test_what_is_gone_goes_and_what_is_sensitive_is_marked(kb, file):
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    kb.add(
        Memory("a", "Tea."),
        Memory("b", "Ships."),
        Memory("c", "Rain."),
        Memory("d", "Fog."),
        Memory("s", "PIN", tags=("private",)),
    )
    assert kb.sync(file).to_file == 4 and set(rows(file)) == {"a", "b", "c", "d"}
    with SqliteLexical(file) as words:
        assert [key for key, _ in words.leg("ships")] == ["b"]
    kb.delete(["a"])
    kb.mark_sensitive(["b"])
    run(file, "UPDATE memories SET tags = 'private' WHERE external_id = 'c'")
    run(file, "UPDATE memories SET content = 'Mist.' WHERE external_id = 'd'")
    synced = kb.sync(file)
    assert (synced.to_store, synced.deleted, synced.marked) == (1, 1, 2)
    assert kb.get("c").is_sensitive and rows(file)["b"][-1] and kb.get("d").text == "Mist." and "a" not in rows(file)
    kb.add(Memory("d", "Haze."))
    run(file, "UPDATE memories SET content = 'Smog.' WHERE external_id = 'd'")
    assert kb.sync(file).both_changed == ("d",) and rows(file)["d"][0] == "Haze."


def test_an_owners_file_needs_neither_external_ids_nor_scopes(kb, tmp_path):
    path = tmp_path / "own.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, expanded_keywords TEXT, tags TEXT,"
            " category TEXT, importance REAL, is_sensitive INTEGER);"
            "CREATE VIRTUAL TABLE memories_fts USING fts5(content, expanded_keywords, tags, category,"
            " content='memories', content_rowid='id');"
            "INSERT INTO memories VALUES (7, 'The kettle is red.', '', 'home,kitchen', '', 0.5, 0);"
            "INSERT INTO memories_fts(memories_fts) VALUES ('rebuild');"
        )
    with SqliteLexical(path) as words:
        assert [key for key, _ in words.leg("kettle")] == ["7"]
    assert kb.sync(path).to_store == 1 and kb.get("7").tags == ("home", "kitchen")
    kb.add(Memory("8", "The kettle sings."))
    assert kb.sync(path).to_file == 1
    with SqliteLexical(path) as words:
        assert {key for key, _ in words.leg("kettle")} == {"7", "8"}
    kb.add(Memory("m1", "Tea."))
    with pytest.raises(HopgateError, match="no column external_id for the store's memory 'm1': add one"):
        kb.sync(path)
    with pytest.raises(HopgateError, match="is not a file: make one with hopgate export"):
        kb.sync(tmp_path / "none.db")


TABLE = (
    "CREATE TABLE memories (id INTEGER PRIMARY KEY, external_id TEXT, content TEXT, is_sensitive INTEGER);"
    "CREATE VIRTUAL TABLE memories_fts USING fts5(content, content='memories', content_rowid='id');"
)
ROW = "INSERT INTO memories (external_id, content, is_sensitive) VALUES"
HOSTILE = {
    f"{TABLE}{ROW} ('a', CAST(x'7a797863616e6172797a7978ff' AS TEXT), 1)": "row 1: a text is not UTF-8 at byte 12",
    f"{TABLE}{ROW} ('a', 'Tea.', 0), ('a', 'zyxcanaryzyx', 1)": "memory 'a' is given twice",
    f"{TABLE}{ROW} ('a', 'zyxcanaryzyx', NULL)": "row 1: is_sensitive is empty",
    "CREATE VIEW memories AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n": "no table",
    f"{TABLE.replace('external_id', 'other')}": "no column external_id for the store's memory '9999999999999999999'",
}


@pytest.mark.parametrize("script", HOSTILE)
def test_a_hostile_file_is_refused_and_its_texts_are_in_no_error(kb, tmp_path, script):
    path = tmp_path / "hostile.db"
    kb.add(Memory("9" * 19, "Tea."))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    with pytest.raises(HopgateError) as raised:
        kb.sync(path)
    assert HOSTILE[script] in str(raised.value) and CANARY not in str(raised.value)
    if "CAST" in script:
        with pytest.raises(HopgateError, match="a text is not UTF-8"):
            list(read_source(path).memories)
