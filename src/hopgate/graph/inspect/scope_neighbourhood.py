"""A part of some scopes' own graph to draw: what `neighbourhood` gives, as if there were no other scope."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.graph.inspect.neighbourhood import (
    COMPANY,
    EDGES_EACH,
    TOGETHER_UP_TO,
    DrawnConcept,
    DrawnEdge,
    Neighbourhood,
    with_company,
)
from hopgate.graph.inspect.scope_listing import listed_concepts
from hopgate.graph.walk.scope_graph import ScopeGraph, scope_graph
from hopgate.store.graph import scope_rows

if TYPE_CHECKING:
    from psycopg import Connection

Weights = Mapping[tuple[int, int, str], float]


def scope_neighbourhood(
    connection: Connection[Any],
    scopes: Sequence[str],
    concept_id: int | None = None,
    *,
    among: Sequence[int] | None = None,
    depth: int = 1,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 100,
) -> Neighbourhood:
    """Draw a concept with what the scopes' edges reach from it, some concepts, or the largest ones."""
    ids = scope_rows.memories_of_scopes(connection, scopes, known_at)
    own = scope_graph(connection, ids, as_of=as_of, known_at=known_at)
    concepts = listed_concepts(own)
    # A concept goes here by its place among those that the scopes' memories mention: by its id, a number of the whole
    # store, other scopes would decide what of equal weight there is room for.
    place = {one.id: at for at, one in enumerate(concepts)}
    weights: dict[tuple[int, int, str], float] = defaultdict(float)
    for edge in own.edges:
        if edge.row.src_id in place and edge.row.dst_id in place:
            weights[place[edge.row.src_id], place[edge.row.dst_id], edge.relation] += edge.row.weight
    now = as_of is None and known_at is None
    if concept_id is not None:
        centre = own.concept_of(concept_id)
        if centre is None:
            raise HopgateError(f"there is no concept {concept_id}")
        chosen, left_out = rings(weights, place[centre], depth=depth, limit=limit)
        if now:
            beside = [key for memory in own.memories_of[centre] for key in own.concepts_of[memory]]
            together = Counter(place[key] for key in beside if key != centre)
            # Rare company first, as in `view_rows.beside`, by these scopes' own counts.
            others = sorted(
                together.keys() - chosen,
                key=lambda at: (-together[at] / max(1, concepts[at].memory_count) ** 0.5, at),
            )
            chosen += others[: min(COMPANY, limit - len(chosen))]
    else:
        by_size = sorted(range(len(concepts)), key=lambda at: (-concepts[at].memory_count, at))
        there = by_size if among is None else [place[key] for key in among if key in place]
        chosen, left_out = there[:limit], max(0, len(there) - limit)
    drawn = [(*pair, weight) for pair, weight in weights.items() if {*pair[:2]} <= {*chosen}]
    drawn.sort(key=lambda row: (-row[3], row[:3]))
    small = len(chosen) <= TOGETHER_UP_TO
    edges = [DrawnEdge(concepts[one].id, concepts[two].id, relation, weight) for one, two, relation, weight in drawn]
    edges = edges if small else edges[: EDGES_EACH * len(chosen)]
    left = len(drawn) - len(edges)
    if small and now:
        edges = with_company(edges, _together(own, [concepts[at].id for at in chosen])[: 3 * len(chosen)])
    last = _last_memories(connection, own, ids)
    nodes = (concepts[at] for at in chosen)
    return Neighbourhood(
        tuple(DrawnConcept(one.id, one.name, one.kind, one.memory_count, last.get(one.id)) for one in nodes),
        tuple(edges),
        left_out,
        left,
    )


def _together(own: ScopeGraph, concept_ids: Sequence[int]) -> list[tuple[int, int, float]]:
    """Pairs of these concepts that the same memories talk about, with how many; the most first."""
    among, place = {*concept_ids}, {concept: at for at, concept in enumerate(own.concept_ids)}
    found = Counter(
        pair
        for concepts in own.concepts_of.values()
        for pair in combinations(sorted(among & {*concepts}, key=place.__getitem__), 2)
    )
    pairs = [(*pair, float(count)) for pair, count in found.items()]
    return sorted(pairs, key=lambda row: (-row[2], place[row[0]], place[row[1]]))


def _last_memories(connection: Connection[Any], own: ScopeGraph, memory_ids: Sequence[int]) -> dict[int, datetime]:
    """When the last memory that talks about a concept was made."""
    made = scope_rows.made(connection, memory_ids)
    return {
        concept: max(made[one] for one in memories if one in made)
        for concept, memories in own.memories_of.items()
        if any(one in made for one in memories)
    }


def rings(weights: Weights, start: int, *, depth: int, limit: int) -> tuple[list[int], int]:
    """Go `depth` edges far from a concept, in each ring the heaviest first; and count what there was no room for.

    Examples
    --------
    >>> rings({(1, 2, "knows"): 1.0, (3, 1, "knows"): 2.0, (3, 4, "knows"): 1.0}, 1, depth=2, limit=3)
    ([1, 3, 2], 1)
    """
    beside: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (source, target, _), weight in weights.items():
        beside[source][target] += weight
        beside[target][source] += weight
    chosen, ring, left_out = [start], [start], 0
    for _ in range(depth):
        reached: dict[int, float] = defaultdict(float)
        for one in ring:
            for other, weight in beside[one].items():
                reached[other] += weight
        for key in chosen:
            reached.pop(key, None)
        ordered = sorted(reached, key=lambda key: (-reached[key], key))
        ring = ordered[: limit - len(chosen)]
        left_out += len(ordered) - len(ring)
        chosen += ring
    return chosen, left_out
