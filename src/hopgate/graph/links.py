"""Links that titles make and no extractor sees: memories titled with a concept's name.

An extractor reads one memory at a time: a fact about "Bob Marsh" in one memory never meets the facts about "Robert
Marsh" in the memory titled "Bob Marsh". What it adds to recall is measured in docs/measurements.md.
"""

from collections import defaultdict
from collections.abc import Sequence

from hopgate.graph.names import can_be_found, name_words
from hopgate.memory import cleared
from hopgate.store import memories, setting_rows
from hopgate.store.graph import concept_rows, name_rows
from hopgate.store.graph.name_rows import NameKey, NameRow
from hopgate.store.rows import Connection

# A mention that an extractor found weighs 1. Measured on dev: 6 to 10 are alike.
TITLE_WEIGHT = 6.0

# Memories linked in one statement, and how many memories a new name is carried to at most.
BATCH = 1000
MAX_CARRIED = 200


def without_addition(title: str) -> str:
    """A title without the bracketed addition at its end."""
    head, bracket, addition = title.rstrip().rpartition("(")
    return head.rstrip() if bracket and addition.find(")") == len(addition) - 1 else title


def link_memories(connection: Connection, memory_ids: Sequence[int]) -> None:
    """Derive which concepts memories talk about: those that extractors mentioned, and the one that a title names.

    Only names that could be these memories' titles are looked up, so that adding a memory costs what the memory is
    long and not what the graph is large. Only whole titles: names found anywhere in a text add 0.02 to recall@5, but
    they would rebuild most of a graph whose triples are wrong, and no control would show it.
    """
    for start in range(0, len(memory_ids), BATCH):
        ids = memory_ids[start : start + BATCH]
        concept_rows.link_mentions(connection, ids)
        known = memories.fetch_by_id(connection, ids)
        scopes = name_rows.scopes_of(connection, known)
        titled: dict[NameKey, list[int]] = defaultdict(list)
        for key, text in cleared(known.items()):
            title = text.split("\n", 1)[0]
            for name in {title, without_addition(title)} if len(title) <= memories.MAX_TITLE else ():
                titled[scopes[key], " ".join(name_words(name))].append(key)
        rows = [row for row in name_rows.read(connection, keys=titled) if row.uses and can_be_found(row.normal.split())]
        links = sorted({(memory_id, row.concept_id) for row in rows for memory_id in titled[row.key]})
        concept_rows.link_titles(connection, links, TITLE_WEIGHT)


def relink(connection: Connection, changed: Sequence[NameRow], *, leaving_out: Sequence[int] = ()) -> None:
    """Link anew the memories that are titled with names that were added, removed or moved.

    A name that more than `MAX_CARRIED` of them have is a common word that says little about each, and to visit them all
    would make one memory's insertion cost what the store is large: the next rebuild links those.
    """
    rows = [row for row in changed if can_be_found(row.normal.split())]
    spelt = [row.key for row in rows] + [(row.scope, row.name) for row in rows if row.name.casefold() != row.normal]
    shared = setting_rows.shares_scopes(connection)
    wanted = [(None if shared else scope, name) for scope, name in spelt]
    titled = memories.holding(connection, wanted, limit=MAX_CARRIED, titles=True) if wanted else []
    link_memories(connection, sorted({memory_id for memory_id, _ in titled} - {*leaving_out}))
