"""What waits for a vector or the graph: the lists say what reading the whole table would, whatever happened before."""

from __future__ import annotations

import random

from word_endpoint import WordEndpoint, serving

from hopgate import Memory
from hopgate.kb import KnowledgeBase
from hopgate.passages import LONG_BYTES
from hopgate.store import vectors
from hopgate.store.memories import waiting_names

LONG = "The kettle stands in the greenhouse. " * (LONG_BYTES // 30)


def by_reading(kb: KnowledgeBase) -> tuple[set[str], set[str]]:
    """Who waits for a vector and who for the graph, from the tables alone."""
    with kb.store.transaction() as connection:
        missing = "true"
        if vectors.space(connection):
            missing = (
                f"(m.embedding IS NULL OR octet_length(content) > {LONG_BYTES} "
                "AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.memory_id = m.id AND p.embedding IS NOT NULL))"
            )
        sql = "SELECT external_id FROM memories m WHERE NOT is_sensitive AND "
        unembedded = connection.execute(sql + missing).fetchall()
        unlinked = connection.execute(
            sql + "NOT EXISTS (SELECT 1 FROM extractions x WHERE x.memory_id = m.id)"
        ).fetchall()
    return {row[0] for row in unembedded}, {row[0] for row in unlinked}


def by_lists(kb: KnowledgeBase) -> tuple[set[str], set[str]]:
    with kb.store.transaction() as connection:
        waiting = (set(waiting_names(connection, "waiting_vectors")), set(waiting_names(connection, "waiting_links")))
        assert vectors.count_pending(connection) == len(waiting[0])
    return waiting


def test_the_lists_agree_with_the_tables_over_a_random_history(kb: KnowledgeBase, endpoint: WordEndpoint) -> None:
    pick = random.Random(7)
    keys = [f"m{n}" for n in range(8)]

    def text() -> str:
        return pick.choice((f"Ada Lovelace lives in town {pick.randrange(99)}.", LONG + str(pick.randrange(99))))

    def there() -> str:
        with kb.store.transaction() as connection:
            return pick.choice([row[0] for row in connection.execute("SELECT external_id FROM memories").fetchall()])

    def owner_says_it_is_open() -> None:
        with kb.store.transaction() as connection:
            connection.execute("UPDATE memories SET is_sensitive = false WHERE external_id = %s", (there(),))

    steps = (
        lambda: kb.add(*(Memory(key, text(), is_sensitive=pick.random() < 0.2) for key in pick.sample(keys, 3))),
        lambda: kb.add(Memory(pick.choice(keys), text())),
        lambda: kb.mark_sensitive([there()]),
        owner_says_it_is_open,
        lambda: kb.embed(endpoint.spec if not kb.embedder_name() else None),
        lambda: kb.extract("phrases", only=[there()]),
        lambda: kb.build("phrases"),
        lambda: kb.upkeep.catch_up([there()]),
        lambda: kb.delete([there()]),
        lambda: kb.reembed(second.spec) if kb.embedder_name() else None,
    )
    kb.add(Memory("m0", text()))
    with serving("others") as second:
        for _ in range(45):
            pick.choice(steps)()
            if not len(kb):
                kb.add(Memory("m0", text()))
            assert by_lists(kb) == by_reading(kb)
