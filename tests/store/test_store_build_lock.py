"""Builds at once: what one of them would make, and nobody left in the dark."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from graph_content import Scripted, content
from patience import PATIENCE

import hopgate
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store.graph.version import BuildWaitsWarning, build_lock

DAY = datetime(2024, 1, 1, tzinfo=UTC)
MEMORIES = [Memory(f"m{n}", f"Service{n % 7} runs on host{n % 5}.", created_at=DAY) for n in range(120)]
SAID = {
    f"m{number}": found(
        [Mention(f"Service{number % 7}")], [Fact(f"Service{number % 7}", "runs on", f"host{number % 5}")]
    )
    for number in range(120)
}


def _facts(kb: KnowledgeBase) -> list[tuple[object, ...]]:
    with kb.store.transaction() as connection:
        return connection.execute(
            "SELECT memory_id, s.normal_name, relation, o.normal_name FROM facts f "
            "JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id ORDER BY 1, 2, 3, 4"
        ).fetchall()


@pytest.mark.filterwarnings("ignore::hopgate.store.graph.version.BuildWaitsWarning")
def test_three_additions_at_once_make_what_one_makes(dsn, other):
    """Whole builds at once are those of two backfills at once (tests/scale)."""
    with hopgate.open(other) as one, hopgate.open(dsn) as first:
        for kb in (one, first):
            kb.add(MEMORIES[0])
            kb.build(Scripted(SAID))
            kb.add(*MEMORIES)
        one.build(Scripted(SAID))
        alone, told = _facts(one), content(one)
    with hopgate.open(dsn) as first, hopgate.open(dsn) as second, hopgate.open(dsn) as third:
        together = threading.Barrier(3)

        class Meeting(Scripted):
            """Every build has read its first batch before one of them writes."""

            def extract(self, sources):
                if any(source.memory_id == "m1" for source in sources):
                    together.wait(PATIENCE)
                return super().extract(sources)

        with ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(kb.build, Meeting(SAID)) for kb in (first, second, third)]:
                done.result(PATIENCE)
        assert _facts(first) == alone
        assert content(first) == told


def test_who_waits_is_told(kb):
    waits = threading.Event()
    with warnings.catch_warnings(record=True) as told, ThreadPoolExecutor(1) as pool:
        warnings.simplefilter("always")

        def second() -> bool:
            waits.set()
            with build_lock(kb.store) as whole:
                return whole

        with build_lock(kb.store) as whole:
            assert whole
            waiting = pool.submit(second)
            waits.wait()
            while not told:
                assert not waiting.done()
        assert waiting.result(PATIENCE)
    assert told[0].category is BuildWaitsWarning
