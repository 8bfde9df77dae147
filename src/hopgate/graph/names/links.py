"""Links that an extractor leaves out: memories that carry a concept's name, and names inside names.

An extractor reads one memory at a time: a fact about "Bob Marsh" in one memory never meets the facts about "Robert
Marsh" in the memory titled "Bob Marsh", and one about "Mill Street, Norwich" never reaches "Norwich". Names close both
gaps. What they add to recall is measured in docs/research/walking.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.names.index import LONGEST, NameIndex, name_index, words
from hopgate.memory import cleared
from hopgate.store import memories
from hopgate.store.graph import edge_rows, name_rows
from hopgate.store.graph.name_rows import NameRow, few

if TYPE_CHECKING:
    from psycopg import Connection


# A mention that an extractor found weighs 1. Measured on dev: 6 to 10 are alike for titles, 0.25 to 0.5 for the others.
TITLED = 6.0
NAMED = 0.25
CONTAINED = 0.5

_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")


class Links(NamedTuple):
    """Pairs with weights, as `mention_graph` takes them; no pair twice."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float32]


def named(index: NameIndex, contents: Iterable[tuple[int, str]]) -> Links:
    r"""Link memories to the concepts whose names they carry.

    Parameters
    ----------
    contents : iterable of (int, str)
        A memory's number and its content; its title, where there is one, is the first line. Only cleared content:
        a sensitive memory takes no part in the graph.

    Returns
    -------
    Links
        Memory, concept, weight: ``TITLED`` where the first line is the name (a bracketed addition apart), ``NAMED``
        where the name stands anywhere in the content.

    Examples
    --------
    >>> from hopgate.graph.names.index import name_index
    >>> index = name_index([("Norwich", 0), ("Mill Street", 1)])
    >>> links = named(index, [(0, "Mill Street (road)\nMill Street lies in Norwich.")])
    >>> links.first.tolist(), links.second.tolist(), links.weight.tolist()
    ([0, 0], [0, 1], [0.25, 6.0])
    """
    weights: dict[tuple[int, int], float] = {}
    for memory, content in contents:
        for spotted in index.spot(content):
            weights.setdefault((memory, spotted.concept), NAMED)
        title = content.split("\n", 1)[0]
        for name in (title, _BRACKETED.sub("", title)):
            concept = index.exact(name)
            if concept is not None:
                weights[memory, concept] = TITLED
    return _links(weights)


def contained(index: NameIndex, names: Iterable[tuple[str, int]]) -> Links:
    """Link each concept to the concepts whose names stand inside its own.

    Examples
    --------
    >>> from hopgate.graph.names.index import name_index
    >>> names = [("Mill Street, Norwich", 0), ("Norwich", 1)]
    >>> links = contained(name_index(names), names)
    >>> links.first.tolist(), links.second.tolist(), links.weight.tolist()
    ([0], [1], [0.5])
    """
    weights: dict[tuple[int, int], float] = {}
    for name, concept in names:
        for spotted in index.spot(name, within=True):
            if spotted.concept != concept:
                weights[concept, spotted.concept] = CONTAINED
    return _links(weights)


def _links(weights: dict[tuple[int, int], float]) -> Links:
    pairs = sorted(weights)
    return Links(
        np.fromiter((first for first, _ in pairs), np.int32, len(pairs)),
        np.fromiter((second for _, second in pairs), np.int32, len(pairs)),
        np.fromiter((weights[pair] for pair in pairs), np.float32, len(pairs)),
    )


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
