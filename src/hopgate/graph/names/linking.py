"""Which concepts memories talk about: what extractors mentioned, and the concept that a title names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.names.index import LONGEST, NameIndex, name_index, words
from hopgate.graph.names.links import contained, named
from hopgate.memory import cleared
from hopgate.store import memories
from hopgate.store.graph import edge_rows, name_rows
from hopgate.store.graph.name_rows import NameRow, few

if TYPE_CHECKING:
    from psycopg import Connection

BATCH = 1000
CARRIED = 200


def link(connection: Connection[Any], memory_ids: Sequence[int], index: NameIndex | None = None) -> None:
    """Derive the concepts of memories.

    Parameters
    ----------
    index : NameIndex, optional
        Every concept's names, for a backfill. Without it only names that could stand in these memories are looked up,
        so that adding a memory costs what the memory is long and not what the graph is large.
    """
    for start in range(0, len(memory_ids), BATCH):
        ids = memory_ids[start : start + BATCH]
        edge_rows.link_memories(connection, ids)
        known = memories.fetch_by_id(connection, ids)
        keys = {id(memory): key for key, memory in known.items()}
        titles = [(keys[id(memory)], text.split("\n", 1)[0]) for memory, text in cleared(known.values())]
        found = named(index or _index_of(connection, [title for _, title in titles]), titles)
        # Only whole titles: names found elsewhere in texts add 0.02 to recall@5 (docs/research/walking.md), but they
        # would rebuild most of a graph whose triples are wrong, and no control could tell.
        whole = found.weight > 1
        edge_rows.add_links(
            connection, found.first[whole].tolist(), found.second[whole].tolist(), found.weight[whole].tolist()
        )


def link_names(connection: Connection[Any], concept_ids: Sequence[int], index: NameIndex | None = None) -> None:
    """Join concepts to those whose names stand inside their own: "Mill Street, Norwich" to "Norwich"."""
    told = [(row.name, row.concept_id) for row in name_rows.of_concepts(connection, concept_ids)]
    found = contained(index or _index_of(connection, [name for name, _ in told]), told)
    edge_rows.replace_name_links(
        connection, concept_ids, found.first.tolist(), found.second.tolist(), found.weight.tolist()
    )


def relink(connection: Connection[Any], changed: Sequence[NameRow], *, leaving_out: Sequence[int] = ()) -> None:
    """Follow names that came, went or changed hands to the memories titled so and the names in which they stand.

    A name in more than `CARRIED` of them is a word that tells little about each, and to visit them all would make one
    memory's insertion cost what the store is large: the next rebuild links those.
    """
    rows = [row for row in changed if name_index([(row.name, 0)]).names]
    if not rows:
        return
    owners = {row.concept_id for row in rows} | set(
        name_rows.holding(connection, [r.normal for r in rows], limit=CARRIED)
    )
    link_names(connection, sorted(owners))
    spelt = [row.normal for row in rows] + [row.name for row in rows if row.name.casefold() != row.normal]
    carriers = set(few(memories.titled(connection, spelt, limit=CARRIED + 1), CARRIED))
    link(connection, sorted(carriers - set(leaving_out)))


def spotted(connection: Connection[Any], text: str) -> list[int]:
    """The concepts whose names stand in a text, longest match first."""
    return [found.concept for found in _index_of(connection, [text]).spot(text)]


def whole_index(connection: Connection[Any]) -> NameIndex:
    """Index every name of the store."""
    return name_index((row.name, row.concept_id) for row in name_rows.all_names(connection))


def _index_of(connection: Connection[Any], texts: Sequence[str]) -> NameIndex:
    """Index the names that stand in some texts: every run of up to eight words is looked up by its normal form."""
    runs = set()
    for text in texts:
        tokens = words(text)
        for at in range(len(tokens)):
            runs |= {" ".join(tokens[at : at + length]) for length in range(1, LONGEST + 1)}
    return name_index((row.name, row.concept_id) for row in name_rows.by_normal(connection, sorted(runs)))
