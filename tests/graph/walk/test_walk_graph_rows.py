"""A running process follows changes: its patched matrix is that of a fresh load, whatever happened in between."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from graph_world import day
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matrix_in_ids import in_ids

import hopgate
from hopgate import Memory
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.graph.walk import matrix_cache
from hopgate.graph.walk.matrix import load_matrix
from hopgate.graph.walk.matrix_cache import MatrixCache
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.kb import KnowledgeBase
from hopgate.store.graph import arrays, change_rows, version

NAMES = ("Ada Marsh", "Bob Marsh", "Robert Marsh", "Norwich", "Mill Street, Norwich", "whimbrel", "Immich", "hazel")
NUMBERS = st.integers(0, 9)
VIEWS = (
    MatrixConfig(),
    MatrixConfig(as_of=day(3)),
    MatrixConfig(known_at=day(4)),
    MatrixConfig(superseded=True, relations={"knows": 2, "follows": 0.5}),
)


class Told:
    """An extractor that takes a memory's words for what they say: names in brackets, and facts in order."""

    identity = ExtractorIdentity("told", "1")

    def extract(self, sources: list[Source]) -> list[Extraction]:
        """Names are numbers into `NAMES`."""
        return [self._one(source.text) for source in sources]

    def _one(self, text: str) -> Extraction:
        names = [NAMES[int(word)] for word in text.split() if word.isdigit()]
        facts = [Fact(one, "knows", other) for one, other in pairwise(names) if one != other]
        return found([Mention(name) for name in names], facts)


def memory(number: int, names: list[int], place: int) -> Memory:
    title = NAMES[names[0]] if names and place % 3 == 0 else "note"
    return Memory(
        f"m{number}",
        f"{title}\n{' '.join(map(str, names))}",
        scope=("a", "b", None)[place % 3],
        thread=("t", None)[place % 2],
        category="c" if place % 5 else None,
        reply_to=f"m{(number + 1) % 10}" if place % 4 == 0 else None,
        created_at=datetime(2025, 1, 1 + place % 5, tzinfo=UTC) + timedelta(minutes=number),
    )


STEPS = st.one_of(
    st.tuples(st.just("add"), NUMBERS, st.lists(st.integers(0, len(NAMES) - 1), max_size=4), st.integers(0, 9)),
    st.tuples(st.just("delete"), NUMBERS),
    st.tuples(st.just("sensitive"), NUMBERS),
    st.tuples(st.just("supersede"), NUMBERS, NUMBERS),
    st.tuples(st.just("merge"), st.integers(0, len(NAMES) - 1), st.integers(0, len(NAMES) - 1)),
    st.tuples(st.just("retire"), NUMBERS),
)


def take(kb: KnowledgeBase, step: tuple[Any, ...]) -> None:
    """Change the store as a user would; what is not there is passed over."""
    match step:
        case ("add", number, names, place):
            kb.add(memory(number, names, place))
            kb.build(Told())
        case ("delete", number) if kb.get(f"m{number}"):
            kb.delete([f"m{number}"])
        case ("sensitive", number) if kb.get(f"m{number}"):
            kb.mark_sensitive([f"m{number}"])
        case ("supersede", number, other):
            with kb.store.transaction() as connection:
                connection.execute(
                    "UPDATE memories SET superseded_at = CASE WHEN superseded_at IS NULL THEN now() END "
                    "WHERE external_id IN (%s, %s)",
                    (f"m{number}", f"m{other}"),
                )
                version.bump(connection)
        case ("merge", one, other):
            known = {concept.name for concept in kb.graph.concepts()}
            if one != other and {NAMES[one], NAMES[other]} <= known:
                kb.graph.merge(NAMES[one], NAMES[other])
        case ("retire", number):
            with kb.store.transaction() as connection:
                connection.execute("UPDATE concept_edges SET retired_at = now() WHERE id %% 10 = %s", (number,))
                version.bump(connection)


@pytest.fixture
def read_whole(monkeypatch: pytest.MonkeyPatch) -> list[MatrixConfig]:
    """Each time that a cache reads everything."""
    asked: list[MatrixConfig] = []
    real = matrix_cache.read_rows

    def read_rows(connection: Any, config: MatrixConfig) -> Any:
        asked.append(config)
        return real(connection, config)

    monkeypatch.setattr(matrix_cache, "read_rows", read_rows)
    return asked


@pytest.fixture
def started(kb: KnowledgeBase) -> Iterator[KnowledgeBase]:
    kb.add(*(memory(number, [number % len(NAMES), (number + 3) % len(NAMES)], number) for number in range(5)))
    kb.build(Told())
    yield kb


def test_a_patched_matrix_is_that_of_a_fresh_load_after_any_history(
    started: KnowledgeBase, read_whole: list[MatrixConfig]
) -> None:
    cache = MatrixCache(started.store)
    for view in VIEWS:
        cache.get(view)
    assert read_whole == list(VIEWS)

    # One store lives through all histories, so that each begins where the last one ended.
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(STEPS, min_size=1, max_size=4))
    def history(steps: list[tuple[Any, ...]]) -> None:
        for step in steps:
            take(started, step)
        with arrays.snapshot(started.store) as connection:
            for view in VIEWS:
                assert in_ids(cache.get(view)) == in_ids(load_matrix(connection, view))

    history()
    assert read_whole == list(VIEWS), "nothing was read whole again"


def test_a_large_change_and_a_long_absence_are_read_whole(
    started: KnowledgeBase, read_whole: list[MatrixConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = MatrixCache(started.store)
    cache.get()
    monkeypatch.setattr(matrix_cache, "MOST_CHANGED", 1)
    take(started, ("add", 7, [1, 2], 0))
    cache.get()
    assert len(read_whole) == 2
    monkeypatch.setattr(matrix_cache, "MOST_CHANGED", 1000)
    monkeypatch.setattr(change_rows, "KEPT", 0)
    take(started, ("add", 8, [1, 3], 0))
    with started.store.transaction() as connection:
        change_rows.sweep(connection)
        version.bump(connection)
    with arrays.snapshot(started.store) as connection:
        assert in_ids(cache.get()) == in_ids(load_matrix(connection))
    assert len(read_whole) == 3
    take(started, ("add", 9, [1, 3], 0))
    cache.get()
    assert len(read_whole) == 3


def test_what_many_rows_change_at_once_is_one_record(started: KnowledgeBase) -> None:
    with started.store.transaction() as connection:
        connection.execute("DELETE FROM graph_changes")
        connection.execute("INSERT INTO concepts (canonical_name) SELECT 'c' || n FROM generate_series(1, 1001) n")
        rows = connection.execute("SELECT kind, count(*) FROM graph_changes GROUP BY 1").fetchall()
        assert rows == [("all", 1)]
        assert change_rows.since(connection, change_rows.Position("1:1:", "another start"), limit=10) is None


def test_vectors_change_no_matrix(started: KnowledgeBase) -> None:
    with started.store.transaction() as connection:
        seen = change_rows.position(connection)
    started.embed()
    started.build(Told())
    with started.store.transaction() as connection:
        assert seen is not None
        assert change_rows.since(connection, seen, limit=10) == ([], [], [])


def test_a_writer_that_commits_late_is_not_missed(started: KnowledgeBase, dsn: str) -> None:
    cache = MatrixCache(started.store)
    with hopgate.open(dsn) as second, second.store.transaction() as late:
        late.execute("INSERT INTO memories (external_id, content) VALUES ('late', 'late')")
        take(started, ("add", 7, [1, 2], 0))
        seen = cache.get()
    with started.store.transaction() as connection:
        version.bump(connection)
    with arrays.snapshot(started.store) as connection:
        assert in_ids(cache.get()) == in_ids(load_matrix(connection))
    assert len(cache.get().memory_ids) == len(seen.memory_ids) + 1
