"""The SQLite lexical leg against FTS5 itself, and against what users type and open."""

import itertools
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store.sqlite import SqliteLexical, create

WORDS = ["nas", "cellar", "backup", "Ceph", "grafana", "café", "moved", "rack", "OR", "near", "42"]
NOTES = [
    Memory("a", "The NAS moved to the cellar.", tags=("homelab",), importance=0.2, scope="home"),
    Memory("b", "Backups of the NAS run at night.", expanded_keywords=("snapshot",), importance=0.9, scope="home"),
    Memory("c", "Grafana moved to kestrel.", category="work", importance=0.5, scope="work"),
    Memory("d", "Discount of 100% on file_name_x, path c:\\temp.", importance=0.1),
    Memory("e", "Discount of 100 on filesnamesx.", importance=0.7),
    Memory("s", "The cellar code is quavertine.", is_sensitive=True, importance=0.4),
    Memory("l", "Café in Łódź, 51820/udp, 我喜欢喝绿茶", importance=0.0),
]


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes #1?.db"
    assert create(path, NOTES) == len(NOTES)
    with SqliteLexical(path) as lexical:
        yield lexical


def ids(leg):
    return [key for key, _ in leg]


FEW = st.lists(st.sampled_from(WORDS), max_size=2).map(tuple)
memories = st.lists(
    st.builds(
        Memory,
        st.integers(0, 99).map(lambda number: f"m{number:02}"),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
        tags=FEW,
        expanded_keywords=FEW,
        category=st.sampled_from([None, "work", "rack"]),
        importance=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        scope=st.sampled_from([None, "home", "work"]),
    ),
    min_size=1,
    max_size=25,
    unique_by=lambda memory: memory.external_id,
)


def direct(rows: list[Memory], query: str) -> list[tuple[str, float]]:
    """FTS5 asked without hopgate: another table layout, its own text columns, every row, sorted in Python."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, b, c, d, tokenize='unicode61 remove_diacritics 2')")
    for number, row in enumerate(rows):
        columns = (row.content, " ".join(row.expanded_keywords), " ".join(row.tags), row.category or "")
        connection.execute("INSERT INTO t(rowid, a, b, c, d) VALUES (?, ?, ?, ?, ?)", (number, *columns))
    found = connection.execute("SELECT rowid, bm25(t) FROM t WHERE t MATCH ?", (query,)).fetchall()
    connection.close()
    scored = [(rows[number].external_id, -rank * 0.7 + rows[number].importance * 0.3) for number, rank in found]
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=memories,
    asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    depth=st.integers(1, 30),
    scope=st.sampled_from([None, "home", "work"]),
    dropped=st.integers(0, 5),
)
def test_the_leg_and_its_fusion_are_exactly_fts5s_order(rows, asked, depth, scope, dropped):
    from hopgate.recall.fusers import RRF
    from hopgate.recall.fusion import Pool, fused

    exclude = {row.external_id for row in rows[:dropped]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.db")
        create(path, rows)
        with SqliteLexical(path) as lexical:
            leg = lexical.leg(" ".join(asked), depth=depth, scope=scope, exclude=exclude)
    wanted = {row.external_id for row in rows if scope in (None, row.scope)} - exclude
    expected: list[tuple[str, float]] = []
    for operator in (" AND ", " OR "):
        everything = direct(rows, operator.join(f'"{word}"' for word in asked))
        expected = [hit for hit in everything if hit[0] in wanted][:depth]
        if expected:
            break
    assert leg == expected
    scores = dict(leg)
    assert [scores[id] for id in fused(Pool.of({"lexical": leg}), RRF()).ids] == list(scores.values())


TYPED = [*"'\"%_🦆", ":*", "*reads", "'; drop table memories; --", "NOT", "NEAR(", "שלום עולם", "content:", "\ud800"]
LONG = ["a" * 100_000, "%" * 100_000, "nas \0 cellar", "(" * 500, " ".join(f"w{i}" for i in range(20_000))]


@pytest.mark.parametrize("query", ["", "   ", *TYPED, *LONG])
def test_whatever_is_typed_is_answered(notes, query):
    leg = notes.leg(query)
    assert set(ids(leg)) <= {row.external_id for row in NOTES}
    assert all(left >= right for left, right in itertools.pairwise(score for _, score in leg))


def test_what_is_no_word_is_looked_for_literally_and_accents_case_and_scripts_are_met(notes):
    assert [ids(notes.leg(query)) for query in ("%", "_", "\\")] == [["d"]] * 3
    assert ids(notes.leg(".", exclude={"e"}, depth=3)) == ["b", "c", "s"]
    assert ids(notes.leg(".", scope="home")) == ["b", "a"]
    assert [ids(notes.leg(query)) for query in ("CAFE", "cafe\u0301", "51820", "绿茶")] == [["l"]] * 4


def test_a_file_that_is_no_such_database_is_refused(tmp_path):
    (tmp_path / "text").write_text("not a database " * 100)
    (tmp_path / "empty").touch()
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE memories (id INTEGER, content TEXT)")
    connection.close()
    for name in ("text", "empty", "other"):
        with pytest.raises(HopgateError, match="is not a database of memories"):
            SqliteLexical(tmp_path / name)
    for name in ("missing", "."):
        with pytest.raises(HopgateError, match="is not a file"):
            SqliteLexical(tmp_path / name)


def test_create_is_all_or_nothing(tmp_path):
    with pytest.raises(HopgateError, match="'a' comes twice"):
        create(tmp_path / "x.db", [Memory("a", "one"), Memory("a", "two")])
    assert list(tmp_path.iterdir()) == []
    create(tmp_path / "x.db", [])
    with pytest.raises(HopgateError, match="exists already"):
        create(tmp_path / "x.db", [])
    with pytest.raises(HopgateError, match="cannot be written: No such file"):
        create(tmp_path / "none" / "x.db", [])
    with SqliteLexical(tmp_path / "x.db") as lexical:
        assert lexical.leg("anything") == []
        with pytest.raises(HopgateError, match="depth"):
            lexical.leg("anything", depth=0)
