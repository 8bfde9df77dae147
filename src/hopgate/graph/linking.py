"""Which concepts memories talk about: what extractors mentioned, and names that stand in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.link import contained, named
from hopgate.graph.spot import LONGEST, NameIndex, name_index, words
from hopgate.memory import cleared
from hopgate.store import edges, memories, names
from hopgate.store.names import NameRow

if TYPE_CHECKING:
    from psycopg import Connection

BATCH = 1000


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
        edges.link_memories(connection, ids)
        known = memories.fetch_by_id(connection, ids)
        keys = {id(memory): key for key, memory in known.items()}
        contents = [(keys[id(memory)], text) for memory, text in cleared(known.values())]
        found = named(index or _index_of(connection, [text for _, text in contents]), contents)
        edges.add_links(connection, found.first.tolist(), found.second.tolist(), found.weight.tolist())


def link_names(connection: Connection[Any], rows: Sequence[NameRow], index: NameIndex | None = None) -> None:
    """Join concepts to those whose names stand inside their own: "Mill Street, Norwich" to "Norwich"."""
    told = [(row.name, row.concept_id) for row in rows]
    found = contained(index or _index_of(connection, [name for name, _ in told]), told)
    edges.add_name_links(connection, found.first.tolist(), found.second.tolist(), found.weight.tolist())


def spotted(connection: Connection[Any], text: str) -> list[int]:
    """The concepts whose names stand in a text, longest match first."""
    return [found.concept for found in _index_of(connection, [text]).spot(text)]


def whole_index(connection: Connection[Any]) -> NameIndex:
    """Index every name of the store."""
    return name_index((row.name, row.concept_id) for row in names.all_names(connection))


def _index_of(connection: Connection[Any], texts: Sequence[str]) -> NameIndex:
    """Index the names that stand in some texts: every run of up to eight words is looked up by its normal form."""
    runs = set()
    for text in texts:
        tokens = words(text)
        for at in range(len(tokens)):
            runs |= {" ".join(tokens[at : at + length]) for length in range(1, LONGEST + 1)}
    return name_index((row.name, row.concept_id) for row in names.by_normal(connection, sorted(runs)))
