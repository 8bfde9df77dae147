"""What a memory states in any words goes with it, also where another memory's fact was told with its help."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from canary import CANARY, ITS_OWN, in_tables

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

SECRET = f"The {CANARY} goes to Backblaze."
OPEN = "Bye Backblaze, hello Wasabi now."


def made(kb: KnowledgeBase) -> None:
    for number in range(3):
        kb.add(Memory(f"n{number}", f"The plant number {number} is in the hall.", scope=f"n{number}"))
    kb.add(Memory("s", SECRET, created_at=datetime(2024, 2, 1, tzinfo=UTC)))
    kb.build()
    kb.add(Memory("o", OPEN, created_at=datetime(2024, 6, 1, tzinfo=UTC)))
    kb.embed()
    kb.build()
    with kb.store.transaction() as connection:
        connection.execute("ANALYZE")


@pytest.mark.parametrize("way", ["mark", "delete", "change", "rebuild"])
def test_nothing_of_a_joint_fact_is_left(kb: KnowledgeBase, way: str) -> None:
    made(kb)
    told = {(edge.source, edge.target) for edge in kb.graph.edges()}
    assert (CANARY, "Wasabi") in told
    assert {"stated_values.thing", "concept_names.name", "mentions.spelling"} <= set(in_tables(kb.store.dsn))
    if way == "delete":
        kb.delete(["s"])
    elif way == "change":
        kb.add(Memory("s", "Nothing to see.", created_at=datetime(2024, 2, 1, tzinfo=UTC)))
    else:
        kb.mark_sensitive(["s"])
    if way == "rebuild":
        kb.build(rebuild=True)
    assert in_tables(kb.store.dsn, but=ITS_OWN if way in ("mark", "rebuild") else ()) == []
    assert "Wasabi" not in {edge.target for edge in kb.graph.edges()}
